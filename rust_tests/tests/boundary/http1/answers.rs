//! The heads of answers.

use mcp_core::http1::{BodyLength, CONTINUE, InvalidHeader, ResponseHead, write_head};

const HEAD: ResponseHead<'static> = ResponseHead {
    status: 200,
    headers: &[],
    body: BodyLength::Length(2),
    close: false,
    date: None,
};

#[track_caller]
fn written(head: &ResponseHead<'_>) -> String {
    let mut out = b"before".to_vec();
    write_head(&mut out, head).expect("a sound head");
    let text = String::from_utf8(out).expect("text");
    text.strip_prefix("before")
        .expect("what was there")
        .to_owned()
}

/// Nothing is written of a head that is refused.
#[track_caller]
fn refuses(head: &ResponseHead<'_>, error: InvalidHeader) {
    let mut out = b"before".to_vec();
    assert_eq!(write_head(&mut out, head), Err(error));
    assert_eq!(out, b"before");
}

#[test]
fn a_head_is_written_in_one_order() {
    let head = ResponseHead {
        headers: &[("content-type", "application/json"), ("X-A", "")],
        close: true,
        date: Some(b"Sun, 06 Nov 1994 08:49:37 GMT"),
        ..HEAD
    };
    let text = "HTTP/1.1 200 OK\r\ndate: Sun, 06 Nov 1994 08:49:37 GMT\r\ncontent-type: application/json\r\nX-A: \r\n\
                content-length: 2\r\nconnection: close\r\n\r\n";
    assert_eq!(written(&head), text);
    assert_eq!(CONTINUE, b"HTTP/1.1 100 Continue\r\n\r\n");
}

#[test]
fn a_length_is_said_in_one_way() {
    let cases = [
        (200, BodyLength::Length(0), "content-length: 0\r\n"),
        (
            200,
            BodyLength::Length(usize::MAX),
            "content-length: 18446744073709551615\r\n",
        ),
        (200, BodyLength::Chunked, "transfer-encoding: chunked\r\n"),
        (200, BodyLength::UntilClose, "connection: close\r\n"),
        (200, BodyLength::None, ""),
        (204, BodyLength::None, ""),
        (204, BodyLength::Length(0), ""),
        (304, BodyLength::Length(0), ""),
    ];
    for (status, body, fields) in cases {
        let text = written(&ResponseHead {
            status,
            body,
            ..HEAD
        });
        let (_, rest) = text.split_once("\r\n").expect("a status line");
        assert_eq!(rest, format!("{fields}\r\n"), "{status} {body:?}");
    }
}

#[test]
fn a_body_where_none_can_be_is_refused() {
    for status in [204, 304] {
        for body in [
            BodyLength::Length(1),
            BodyLength::Chunked,
            BodyLength::UntilClose,
        ] {
            refuses(
                &ResponseHead {
                    status,
                    body,
                    ..HEAD
                },
                InvalidHeader::Body,
            );
        }
    }
}

#[test]
fn statuses_are_those_of_final_answers() {
    for status in [0, 100, 101, 199, 600, 999, u16::MAX] {
        refuses(&ResponseHead { status, ..HEAD }, InvalidHeader::Status);
    }
    for (status, line) in [
        (200, "HTTP/1.1 200 OK"),
        (202, "HTTP/1.1 202 Accepted"),
        (299, "HTTP/1.1 299 "),
        (404, "HTTP/1.1 404 Not Found"),
        (431, "HTTP/1.1 431 Request Header Fields Too Large"),
        (503, "HTTP/1.1 503 Service Unavailable"),
        (599, "HTTP/1.1 599 "),
    ] {
        let text = written(&ResponseHead { status, ..HEAD });
        assert_eq!(text.lines().next(), Some(line));
    }
}

#[test]
fn what_could_end_a_line_is_refused() {
    for value in ["a\r\nb: c", "a\n", "a\r", "a\0", "\u{e4}", "\x7f", "\x1b"] {
        let headers = [("a", "b"), ("c", value)];
        refuses(
            &ResponseHead {
                headers: &headers,
                ..HEAD
            },
            InvalidHeader::Value,
        );
        let date = Some(value.as_bytes());
        refuses(&ResponseHead { date, ..HEAD }, InvalidHeader::Value);
    }
    let date = Some(&b"\xff"[..]);
    refuses(&ResponseHead { date, ..HEAD }, InvalidHeader::Value);
    for name in ["", "a b", "a:", ":", "a\r\nb", "\u{e4}", "a\0", "(a)"] {
        let headers = [("a", "b"), (name, "c")];
        refuses(
            &ResponseHead {
                headers: &headers,
                ..HEAD
            },
            InvalidHeader::Name,
        );
    }
}

#[test]
fn the_length_belongs_to_the_body_alone() {
    for name in [
        "content-length",
        "Content-Length",
        "transfer-encoding",
        "TRANSFER-ENCODING",
    ] {
        let headers = [(name, "2")];
        refuses(
            &ResponseHead {
                headers: &headers,
                ..HEAD
            },
            InvalidHeader::Framing,
        );
    }
    let headers = [("connection", "keep-alive")];
    let text = "HTTP/1.1 200 OK\r\nconnection: keep-alive\r\ncontent-length: 2\r\n\r\n";
    assert_eq!(
        written(&ResponseHead {
            headers: &headers,
            ..HEAD
        }),
        text
    );
}
