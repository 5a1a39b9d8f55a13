//! Chunked bodies, each decoded whole, byte by byte and in every two pieces.

use mcp_core::http1::{ChunkError, ChunkLimits, Chunked};

const SIZE: &str = "A chunk's size must be hexadecimal digits";
const EXTENSION: &str = "A chunk's extension is malformed";
const LINE_END: &str = "A line of a chunked body must end with CRLF";
const LONG_LINE: &str = "A chunk's size line is too long";
const DATA_END: &str = "A chunk is longer than its size";
const TRAILER: &str = "A trailer is malformed";
const FORBIDDEN: &str = "A trailer must not frame or route";

/// The data, and how many bytes the body took; `None` when it goes on.
type Outcome = Result<(Vec<u8>, Option<usize>), ChunkError>;

fn in_pieces(pieces: &[&[u8]], limits: ChunkLimits, room: usize) -> Outcome {
    let mut chunks = Chunked::new(limits);
    let mut data = Vec::new();
    let mut used = 0;
    for piece in pieces {
        let left = room - data.len();
        let decoded = chunks.decode(piece, &mut data, left)?;
        used += decoded.used;
        if decoded.done {
            return Ok((data, Some(used)));
        }
        assert_eq!(decoded.used, piece.len());
    }
    Ok((data, None))
}

#[track_caller]
fn decode_within(body: &[u8], limits: ChunkLimits, room: usize) -> Outcome {
    let whole = in_pieces(&[body], limits, room);
    let bytes: Vec<&[u8]> = body.chunks(1).collect();
    assert_eq!(
        in_pieces(&bytes, limits, room),
        whole,
        "{}",
        body.escape_ascii()
    );
    for cut in 0..=body.len() {
        let (first, second) = body.split_at(cut);
        assert_eq!(
            in_pieces(&[first, second], limits, room),
            whole,
            "cut at {cut}"
        );
    }
    whole
}

#[track_caller]
fn decode(body: &str) -> Outcome {
    decode_within(body.as_bytes(), ChunkLimits::default(), 1_000)
}

#[track_caller]
fn gives(body: &str, data: &str) {
    let next = format!("{body}GET / HTTP/1.1\r\n");
    let expected = (data.as_bytes().to_vec(), Some(body.len()));
    assert_eq!(decode(&next), Ok(expected), "{body:?}");
}

#[track_caller]
fn refuses(body: &str, text: &'static str) {
    assert_eq!(decode(body), Err(ChunkError::Malformed(text)), "{body:?}");
}

#[test]
fn data_are_put_together() {
    gives("0\r\n\r\n", "");
    gives("5\r\nhello\r\n0\r\n\r\n", "hello");
    gives("5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "hello world");
    gives(
        "00a\r\n0123456789\r\nA\r\n0123456789\r\n000\r\n\r\n",
        "01234567890123456789",
    );
    gives("4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n");
    gives("0000000000000001\r\nx\r\n0\r\n\r\n", "x");
}

#[test]
fn a_body_that_has_not_ended_goes_on() {
    for (body, data) in [
        ("", ""),
        ("5", ""),
        ("5\r\n", ""),
        ("5\r\nhel", "hel"),
        ("0\r\n", ""),
        ("0\r\na: b\r\n", ""),
    ] {
        assert_eq!(
            decode(body),
            Ok((data.as_bytes().to_vec(), None)),
            "{body:?}"
        );
    }
}

#[test]
fn nothing_is_used_behind_the_end() {
    let mut chunks = Chunked::new(ChunkLimits::default());
    let mut data = Vec::new();
    let first = chunks.decode(b"0\r\n\r\n", &mut data, 0);
    assert!(first.is_ok_and(|decoded| decoded.done && decoded.used == 5));
    let second = chunks.decode(b"5\r\nhello", &mut data, 9);
    assert!(second.is_ok_and(|decoded| decoded.done && decoded.used == 0));
    assert_eq!(data, b"");
}

#[test]
fn sizes_are_up_to_sixteen_hexadecimal_digits() {
    for size in [
        "",
        "-1",
        "+1",
        "0x1",
        "g",
        " 1",
        "1 ",
        "1\t",
        "1 ;a",
        "1_",
        "1.0",
        "00000000000000001",
        "\u{ff11}",
    ] {
        refuses(&format!("{size}\r\nx\r\n0\r\n\r\n"), SIZE);
    }
    assert_eq!(decode("FFFFFFFFFFFFFFFF\r\n"), Err(ChunkError::TooLarge));
    refuses("10000000000000000\r\n", SIZE);
}

#[test]
fn lines_end_with_crlf() {
    refuses("1\nx\r\n0\r\n\r\n", LINE_END);
    refuses("1\rx\r\n0\r\n\r\n", LINE_END);
    refuses("1;a\nx\r\n0\r\n\r\n", LINE_END);
    refuses("1;a\r\r\nx\r\n0\r\n\r\n", LINE_END);
    refuses("0\r\n\n", LINE_END);
    refuses("0\r\n\rx", LINE_END);
    refuses("0\r\na: b\n\r\n", LINE_END);
    refuses("0\r\na: b\rc\r\n\r\n", LINE_END);
    refuses("1\r\nx\n0\r\n\r\n", DATA_END);
    refuses("1\r\nx\rx", DATA_END);
    refuses("1\r\nxx\r\n0\r\n\r\n", DATA_END);
    refuses("1\r\nx0\r\n\r\n", DATA_END);
}

#[test]
fn extensions_are_dropped() {
    gives("1;a\r\nx\r\n0;b=c\r\n\r\n", "x");
    gives("1;a=\"b c;d\";e\r\nx\r\n0\r\n\r\n", "x");
    for line in [
        "1;",
        "1; a",
        "1;\ta",
        "1;;a",
        "1;=b",
        "1;a\0",
        "1;a\x7f",
        "1;a\x0b",
        "1;\u{e4}",
        "1;a=\u{e4}",
    ] {
        refuses(&format!("{line}\r\nx\r\n0\r\n\r\n"), EXTENSION);
    }
}

#[test]
fn a_size_line_has_so_many_bytes() {
    let limits = |max_line_bytes| ChunkLimits {
        max_line_bytes,
        ..ChunkLimits::default()
    };
    for line in ["1;ab\r\n", "001;a\r\n", "00001\r\n"] {
        let body = format!("{line}x\r\n0\r\n\r\n");
        let room = |max_bytes| decode_within(body.as_bytes(), limits(max_bytes), 9);
        assert!(room(line.len()).is_ok());
        let refused = room(line.len() - 1);
        assert_eq!(refused, Err(ChunkError::Malformed(LONG_LINE)), "{line:?}");
    }
    assert_eq!(ChunkLimits::default().max_line_bytes, 256);
}

/// One byte of data in each chunk and a long extension beside it: a body that is mostly nothing.
#[test]
fn all_extensions_of_a_body_are_bounded_together() {
    let chunk = format!("1;{}\r\nx\r\n", "a".repeat(127));
    let body = |count| [chunk.repeat(count).as_bytes(), b"0\r\n\r\n"].concat();
    let read = |count| in_pieces(&[&body(count)], ChunkLimits::default(), 1_000);
    // 128 bytes a line with the carriage return behind them.
    assert!(read(128).is_ok());
    let refused = read(129);
    assert_eq!(
        refused,
        Err(ChunkError::Malformed("The chunks' extensions are too long"))
    );
}

#[test]
fn trailers_are_checked_and_dropped() {
    gives("1\r\nx\r\n0\r\na: b\r\nC:\r\nd: \u{e4}\t\r\n\r\n", "x");
    for line in [
        "a",
        ": b",
        "a : b",
        " a: b",
        "a b: c",
        "a\0: b",
        "a: \0",
        "a: \x7f",
        "a: \x0b",
        "\u{e4}: b",
    ] {
        refuses(&format!("0\r\n{line}\r\n\r\n"), TRAILER);
    }
    for name in [
        "Content-Length",
        "transfer-encoding",
        "HOST",
        "Connection",
        "Trailer",
        "TE",
        "Upgrade",
        "Expect",
    ] {
        refuses(&format!("0\r\na: b\r\n{name}: 5\r\n\r\n"), FORBIDDEN);
    }
}

#[test]
fn trailers_have_so_many_bytes() {
    let trailers = "a: b\r\nc: d\r\n\r\n";
    let body = format!("0\r\n{trailers}");
    let within = |max_trailer_bytes| {
        let limits = ChunkLimits {
            max_trailer_bytes,
            ..ChunkLimits::default()
        };
        decode_within(body.as_bytes(), limits, 0)
    };
    assert_eq!(within(trailers.len()), Ok((Vec::new(), Some(body.len()))));
    let refused = within(trailers.len() - 1);
    assert_eq!(
        refused,
        Err(ChunkError::Malformed("The trailers are too long"))
    );
    assert_eq!(ChunkLimits::default().max_trailer_bytes, 4 * 1024);
}

#[test]
fn a_chunk_without_room_is_refused_at_its_size() {
    let room = |room, body: &[u8]| decode_within(body, ChunkLimits::default(), room);
    let body = b"5\r\nhello\r\n1\r\n!\r\n0\r\n\r\n";
    assert_eq!(room(6, body), Ok((b"hello!".to_vec(), Some(body.len()))));
    assert_eq!(room(5, body), Err(ChunkError::TooLarge));
    assert_eq!(room(4, b"5\r\n"), Err(ChunkError::TooLarge));
    assert_eq!(room(4, b"5\r"), Ok((Vec::new(), None)));
    assert_eq!(room(0, b"0\r\n\r\n"), Ok((Vec::new(), Some(5))));
}

#[test]
fn an_error_stays() {
    let mut chunks = Chunked::new(ChunkLimits::default());
    let mut data = Vec::new();
    let error = Err(ChunkError::Malformed(SIZE));
    assert_eq!(chunks.decode(b"1\r\nx\r\nz", &mut data, 9), error);
    assert_eq!(chunks.decode(b"0\r\n\r\n", &mut data, 9), error);
    assert_eq!(
        (
            ChunkError::Malformed("").status(),
            ChunkError::TooLarge.status()
        ),
        (400, 413)
    );
}

#[test]
fn written_chunks_are_read_again() {
    let mut body = Vec::new();
    for data in ["a", "0123456789abcdef", "\r\n"] {
        body.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
        body.extend_from_slice(data.as_bytes());
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(b"0\r\n\r\n");
    let text = b"1\r\na\r\n10\r\n0123456789abcdef\r\n2\r\n\r\n\r\n0\r\n\r\n";
    assert_eq!(body, text);
    let data = b"a0123456789abcdef\r\n".to_vec();
    let limits = ChunkLimits::default();
    assert_eq!(
        decode_within(&body, limits, 99),
        Ok((data, Some(text.len())))
    );
}
