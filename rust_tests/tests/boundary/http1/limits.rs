//! Both sides of each limit of a head, whether it arrived whole or not.

use mcp_core::http1::{HeadError, Limits, Progress};

use super::read_within;

const HEAD: &[u8] = b"\r\nGET / HTTP/1.1\r\nA: 1\r\nB: 2\r\n\r\n";

fn limits(max_head_bytes: usize, max_fields: usize) -> Limits {
    Limits {
        max_head_bytes,
        max_fields,
    }
}

#[test]
fn a_head_has_so_many_bytes_with_its_empty_lines() {
    let whole = read_within(HEAD, &limits(HEAD.len(), 2));
    assert!(matches!(whole, Ok(Progress::Complete(head)) if head.bytes == HEAD.len()));
    let line = b"\r\nGET / HTTP/1.1\r\n".len();
    for max_bytes in 0..HEAD.len() {
        let refused = read_within(HEAD, &limits(max_bytes, 2));
        let error = if max_bytes < line {
            HeadError::TargetTooLong
        } else {
            HeadError::TooLarge
        };
        assert_eq!(refused, Err(error), "{max_bytes}");
    }
}

#[test]
fn a_body_does_not_count() {
    let request = [HEAD, &[b'x'; 1_000]].concat();
    let whole = read_within(&request, &limits(HEAD.len(), 2));
    assert!(matches!(whole, Ok(Progress::Complete(head)) if head.bytes == HEAD.len()));
}

#[test]
fn a_head_without_an_end_is_refused_when_it_cannot_end_any_more() {
    let line = b"GET /aaaa";
    let scanned = line.len();
    assert_eq!(
        read_within(line, &limits(10, 2)),
        Ok(Progress::Partial { scanned })
    );
    for (bytes, most) in [(&line[..], 9), (b"", 0)] {
        let refused = read_within(bytes, &limits(most, 2));
        assert_eq!(refused, Err(HeadError::TargetTooLong));
    }
}

#[test]
fn bytes_beyond_the_limit_do_not_matter() {
    let method = HeadError::Malformed("A request must begin with its method");
    let lines = HeadError::Malformed("Too many empty lines");
    for (bytes, within) in [
        (&b"\n"[..], method),
        (b"\rX", method),
        (b"\r\n\n", method),
        (b"\r\n\r\n\r\n\r\n\r\n", lines),
    ] {
        let shown = bytes.escape_ascii();
        let refused = |most| read_within(bytes, &limits(most, 2));
        assert_eq!(refused(bytes.len()), Err(within), "{shown}");
        let beyond = refused(bytes.len() - 1);
        assert_eq!(beyond, Err(HeadError::TargetTooLong), "{shown}");
    }
}

#[test]
fn a_head_has_so_many_fields() {
    assert!(matches!(
        read_within(HEAD, &limits(99, 2)),
        Ok(Progress::Complete(_))
    ));
    assert_eq!(read_within(HEAD, &limits(99, 1)), Err(HeadError::TooLarge));
    assert_eq!(read_within(HEAD, &limits(99, 0)), Err(HeadError::TooLarge));
    let bare = b"GET / HTTP/1.1\r\n\r\n";
    assert!(matches!(
        read_within(bare, &limits(99, 0)),
        Ok(Progress::Complete(_))
    ));
}

#[test]
fn there_are_limits_by_default() {
    assert_eq!(Limits::default(), limits(32 * 1024, 100));
    let fields = |count| format!("GET / HTTP/1.1\r\n{}\r\n", "A: b\r\n".repeat(count));
    let read = |text: &str| {
        matches!(
            read_within(text.as_bytes(), &Limits::default()),
            Ok(Progress::Complete(_))
        )
    };
    assert!(read(&fields(100)));
    assert!(!read(&fields(101)));
}

#[test]
fn errors_have_the_statuses_of_the_standard() {
    let statuses = [
        (HeadError::Malformed("x"), 400),
        (HeadError::TargetTooLong, 414),
        (HeadError::TooLarge, 431),
        (HeadError::UnsupportedVersion, 505),
        (HeadError::UnsupportedCoding, 501),
        (HeadError::ExpectationFailed, 417),
    ];
    for (error, status) in statuses {
        assert_eq!(error.status(), status);
    }
}
