//! What reading a head of HTTP/1.1 allocates.

use mcp_core::http1::{ChunkLimits, Chunked, Limits, Progress, read_head};

use crate::counting::most;

/// A name and a value.
const FIELD: usize = size_of::<(&str, &[u8])>();

#[test]
fn a_head_allocates_its_list_of_fields_and_nothing_else() {
    for count in [0, 1, 10, 100] {
        let text = format!("GET / HTTP/1.1\r\n{}\r\n", "Name: value\r\n".repeat(count));
        let limits = Limits::default();
        let (answer, bytes) = most(|| read_head(text.as_bytes(), 0, &limits));
        assert!(matches!(answer, Ok(Progress::Complete(head)) if head.fields.len() == count));
        assert_eq!(bytes, count * FIELD);
    }
}

#[test]
fn a_head_that_is_not_complete_or_has_too_many_fields_allocates_nothing() {
    let line = format!("GET / HTTP/1.1\r\n{}", "Name: value\r\n".repeat(101));
    let limits = Limits::default();
    let (answer, bytes) = most(|| read_head(line.as_bytes(), 0, &limits).is_ok());
    assert_eq!((answer, bytes), (true, 0));
    let head = line + "\r\n";
    let (answer, bytes) = most(|| read_head(head.as_bytes(), 0, &limits).is_ok());
    assert_eq!((answer, bytes), (false, 0));
}

#[test]
fn a_chunk_reserves_nothing_for_data_that_have_not_come() {
    let mut chunks = Chunked::new(ChunkLimits::default());
    let mut data = Vec::new();
    let (decoded, bytes) = most(|| chunks.decode(b"7fffffff\r\n", &mut data, usize::MAX));
    assert!(decoded.is_ok());
    assert_eq!(bytes, 0);
}
