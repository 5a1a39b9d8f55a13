//! Any bytes in any pieces.

use mcp_core::http1::{ChunkLimits, Chunked, Limits, Progress, read_head};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generated::config;

/// Bytes that look like HTTP more often than chance would have it.
fn wire() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        Just(b"GET / HTTP/1.1\r\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"Content-Length: 5\r\n".to_vec()),
        Just(b"Transfer-Encoding: chunked\r\n".to_vec()),
        Just(b"Host: a\r\n".to_vec()),
        Just(b"5\r\nhello\r\n".to_vec()),
        Just(b"0\r\n".to_vec()),
        Just(b";a=b".to_vec()),
        vec(any::<u8>(), 0..4),
    ];
    vec(part, 0..12).prop_map(|parts| parts.concat())
}

/// The same bytes in pieces of the lengths given, the last one as long as the rest.
fn pieces<'b>(bytes: &'b [u8], lengths: &[usize]) -> Vec<&'b [u8]> {
    let mut rest = bytes;
    let mut pieces = Vec::new();
    for length in lengths {
        let (piece, behind) = rest.split_at((*length).min(rest.len()));
        pieces.push(piece);
        rest = behind;
    }
    pieces.push(rest);
    pieces
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_head_does_not_depend_on_the_cuts(bytes in wire(), lengths in vec(0_usize..40, 0..10), max in prop_oneof![0_usize..12, 0_usize..200]) {
        let limits = Limits { max_head_bytes: max, max_fields: 3 };
        let whole = read_head(&bytes, 0, &limits);
        let mut seen = 0;
        let mut from = 0;
        for piece in pieces(&bytes, &lengths) {
            seen += piece.len();
            match read_head(&bytes[..seen], from, &limits) {
                Ok(Progress::Partial { scanned }) => from = scanned,
                early => {
                    prop_assert_eq!(&early, &whole);
                    return Ok(());
                }
            }
        }
        prop_assert_eq!(Ok(Progress::Partial { scanned: bytes.len() }), whole);
    }

    #[test]
    fn a_chunked_body_does_not_depend_on_the_cuts(bytes in wire(), lengths in vec(0_usize..20, 0..10), room in 0_usize..30) {
        let decode = |pieces: &[&[u8]]| {
            let mut chunks = Chunked::new(ChunkLimits::default());
            let mut data = Vec::new();
            let mut used = 0;
            for piece in pieces {
                let left = room - data.len();
                match chunks.decode(piece, &mut data, left) {
                    Ok(decoded) => used += decoded.used,
                    Err(error) => return (data, Err(error)),
                }
            }
            (data, Ok(used))
        };
        prop_assert_eq!(decode(&pieces(&bytes, &lengths)), decode(&[&bytes]));
    }

    #[test]
    fn no_bytes_and_no_number_are_a_reason_to_panic(bytes in vec(any::<u8>(), 0..200), scanned in any::<usize>()) {
        let _ = read_head(&bytes, scanned, &Limits::default());
        let mut data = Vec::new();
        let _ = Chunked::new(ChunkLimits::default()).decode(&bytes, &mut data, scanned);
    }
}
