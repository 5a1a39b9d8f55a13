//! The lines of a head.

use mcp_core::http1::{Framing, Progress, Version};

use super::{read, refuses, taken};

const BARE_LINE_FEED: &str = "A line must end with CRLF";
const NO_METHOD: &str = "A request must begin with its method";
const NAME: &str = "A field's name must be a token before a colon";
const VALUE: &str = "A field's value holds a control character";
const LINE: &str = "The request line is malformed";

#[test]
fn a_head_is_split_into_its_parts() {
    let text = "POST /mcp?a=1 HTTP/1.1\r\nHost: localhost:4040\r\nX-Empty:\r\nx-space: \t a b \t\r\n\
                Content-Length: 2\r\n\r\n{}GET";
    let head = taken(text);
    assert_eq!((head.method, head.target), ("POST", "/mcp?a=1"));
    assert_eq!(head.version, Version::Http11);
    let fields: [(&str, &[u8]); 4] = [
        ("Host", b"localhost:4040"),
        ("X-Empty", b""),
        ("x-space", b"a b"),
        ("Content-Length", b"2"),
    ];
    assert_eq!(head.fields, fields);
    assert_eq!(head.bytes, text.len() - "{}GET".len());
    assert_eq!(head.framing, Framing::Length(2));
    assert!(head.keep_alive && !head.expects_continue);
}

#[test]
fn nothing_is_read_before_the_end_is_there() {
    for text in [
        "",
        "\r",
        "\r\n",
        "\r\n\r",
        "GET",
        "GET / HTTP/9.9\r\nnonsense",
        "GET / HTTP/1.1\r\n\r",
    ] {
        let scanned = text.len();
        assert_eq!(
            read(text.as_bytes()),
            Ok(Progress::Partial { scanned }),
            "{text:?}"
        );
    }
}

#[test]
fn the_search_goes_on_where_it_stopped() {
    use mcp_core::http1::{Limits, read_head};
    // The line feed in front of `scanned` was seen before: it is not looked at again.
    let bytes = b"G\nT / HTTP/1.1\r\n";
    let answer = read_head(bytes, 3, &Limits::default());
    assert_eq!(
        answer,
        Ok(Progress::Partial {
            scanned: bytes.len()
        })
    );
    // A number behind the bytes is no reason to fail.
    let answer = read_head(bytes, usize::MAX, &Limits::default());
    assert_eq!(
        answer,
        Ok(Progress::Partial {
            scanned: bytes.len()
        })
    );
}

#[test]
fn a_few_empty_lines_in_front_are_left_out() {
    for count in 0..=4 {
        let text = "\r\n".repeat(count) + "GET / HTTP/1.1\r\n\r\n";
        let head = taken(&text);
        assert_eq!((head.method, head.bytes), ("GET", text.len()));
    }
    let many = "\r\n".repeat(5);
    refuses(&many, 400, "Too many empty lines");
    refuses(many + "GET / HTTP/1.1\r\n\r\n", 400, "Too many empty lines");
    refuses("\nGET / HTTP/1.1\r\n\r\n", 400, NO_METHOD);
    refuses("\r\n\nGET / HTTP/1.1\r\n\r\n", 400, NO_METHOD);
    refuses("\r\r\nGET / HTTP/1.1\r\n\r\n", 400, NO_METHOD);
}

#[test]
fn another_protocol_is_refused_at_its_first_byte() {
    for first in [
        &b"\x16\x03\x01\x02\x00"[..],
        b"\x00",
        b" GET / HTTP/1.1",
        b"\x80",
        b"\"",
        b"{",
        b"[1]",
    ] {
        refuses(first, 400, NO_METHOD);
    }
}

#[test]
fn each_line_ends_with_crlf() {
    for text in [
        "GET / HTTP/1.1\n",
        "GET / HTTP/1.1\n\n",
        "GET / HTTP/1.1\r\nHost: a\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n\n",
        "GET /\n",
        "GET / HTTP/1.1\r\nA: b\nContent-Length: 5\r\n\r\n",
    ] {
        refuses(text, 400, BARE_LINE_FEED);
    }
    refuses("GET / HTTP/1.1\rHost: a\r\n\r\n", 400, LINE);
    refuses("GET / HTTP/1.1\r\nHost: a\rb\r\n\r\n", 400, VALUE);
    refuses("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", 400, VALUE);
    refuses("GET / HTTP/1.1\r\nHo\rst: a\r\n\r\n", 400, NAME);
    refuses("GET / HTTP/1.1\r\n\rA: b\r\n\r\n", 400, LINE);
}

#[test]
fn names_are_tokens_right_before_the_colon() {
    for line in [
        "Host : a",
        "Host\t: a",
        ": a",
        "Host",
        " Host: a",
        "\tHost: a",
        "Ho st: a",
        "H\u{e4}st: a",
        "H(st: a",
        "\"a\": b",
        "a\0b: c",
        "a/b: c",
        "a[]: c",
        "a\x7f: c",
    ] {
        refuses(format!("GET / HTTP/1.1\r\n{line}\r\n\r\n"), 400, NAME);
    }
    // A folded line: older readers join it to the one before.
    refuses(
        "GET / HTTP/1.1\r\nA: b\r\n Content-Length: 5\r\n\r\n",
        400,
        NAME,
    );
    refuses("GET / HTTP/1.1\r\nA: b\r\n\tc\r\n\r\n", 400, NAME);
    taken("GET / HTTP/1.1\r\n!#$%&'*+-.^_`|~09azAZ: b\r\n\r\n");
}

#[test]
fn values_hold_no_control_character() {
    for byte in (0..=0x1f)
        .chain([0x7f])
        .filter(|byte| !b"\t\n".contains(byte))
    {
        let head = [b"GET / HTTP/1.1\r\nA: b", &[byte][..], b"c\r\n\r\n"].concat();
        refuses(head, 400, VALUE);
    }
    for byte in (0x20..0x7f).chain(0x80..=0xff).chain([b'\t']) {
        let bytes = [b"GET / HTTP/1.1\r\nA: b", &[byte][..], b"c\r\n\r\n"].concat();
        let Ok(Progress::Complete(head)) = read(&bytes) else {
            panic!("{byte} is refused");
        };
        assert_eq!(head.fields, [("A", &[b'b', byte, b'c'][..])]);
    }
}

#[test]
fn a_request_line_has_three_parts() {
    for line in [
        "GET",
        "GET ",
        "GET /",
        "GET / ",
        "GET  / HTTP/1.1",
        "GET /  HTTP/1.1",
        "GET / HTTP/1.1 ",
        "GET\t/\tHTTP/1.1",
        "GET / x HTTP/1.1",
        "GET / a HTTP/2.0",
        "G(T / HTTP/1.1",
        "G\0T / HTTP/1.1",
        "GET /\0 HTTP/1.1",
        "GET /\x7f HTTP/1.1",
        "GET / HTTP/1.",
        "GET / http/1.1",
        "GET / HTTP/1.10",
        "GET / HTTP/11",
        "GET / HTTP 1.1",
        "GET / HTTPS/1.1",
        "GET / HTTP/a.b",
    ] {
        refuses(format!("{line}\r\nHost: a\r\n\r\n"), 400, LINE);
    }
}

#[test]
fn versions_other_than_1_0_and_1_1_are_told_apart() {
    assert_eq!(taken("GET / HTTP/1.0\r\n\r\n").version, Version::Http10);
    assert_eq!(taken("GET / HTTP/1.1\r\n\r\n").version, Version::Http11);
    for version in ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0", "HTTP/9.9"] {
        let text = format!("GET / {version}\r\nHost: a\r\n\r\n");
        refuses(text, 505, "The HTTP version is not supported");
    }
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    refuses(preface, 505, "The HTTP version is not supported");
    // HTTP/0.9 has no version at all.
    refuses("GET /\r\n\r\n", 400, LINE);
}

#[test]
fn a_method_is_a_token_of_up_to_32_bytes() {
    for method in ["GET", "get", "M-SEARCH", "!#$%&'*+-.^_`|~", &"A".repeat(32)] {
        assert_eq!(
            taken(&format!("{method} / HTTP/1.1\r\n\r\n")).method,
            method
        );
    }
    let long = "A".repeat(33) + " / HTTP/1.1\r\n\r\n";
    refuses(long, 400, "The method is too long");
}

#[test]
fn a_connection_is_used_again_unless_somebody_says_otherwise() {
    let cases = [
        ("HTTP/1.1", "", true),
        ("HTTP/1.1", "Connection: close\r\n", false),
        ("HTTP/1.1", "connection: CLOSE\r\n", false),
        ("HTTP/1.1", "Connection: keep-alive\r\n", true),
        ("HTTP/1.1", "Connection: TE, close\r\n", false),
        ("HTTP/1.1", "Connection: TE ,\tclose ,\r\n", false),
        ("HTTP/1.1", "Connection: TE\r\nConnection: close\r\n", false),
        (
            "HTTP/1.1",
            "Connection: close\r\nConnection: keep-alive\r\n",
            false,
        ),
        ("HTTP/1.1", "Connection: keep-alive, close\r\n", false),
        ("HTTP/1.1", "Connection: closed\r\n", true),
        ("HTTP/1.1", "Connection: not close\r\n", true),
        ("HTTP/1.1", "Proxy-Connection: close\r\n", true),
        ("HTTP/1.0", "", false),
        ("HTTP/1.0", "Connection: keep-alive\r\n", true),
        ("HTTP/1.0", "Connection: TE, Keep-Alive\r\n", true),
        (
            "HTTP/1.0",
            "Connection: keep-alive\r\nConnection: close\r\n",
            false,
        ),
        ("HTTP/1.0", "Connection: close, keep-alive\r\n", false),
    ];
    for (version, fields, keep_alive) in cases {
        let text = format!("GET / {version}\r\n{fields}\r\n");
        assert_eq!(taken(&text).keep_alive, keep_alive, "{text:?}");
    }
}

/// hyper leaves out a whole field that has a byte beyond ASCII, and with it the `close` beside it.
#[test]
fn an_option_counts_beside_one_that_nobody_can_read() {
    let keeps_alive = |text: &[u8]| match read(text) {
        Ok(Progress::Complete(head)) => head.keep_alive,
        other => panic!("{other:?}"),
    };
    assert!(!keeps_alive(
        b"GET / HTTP/1.1\r\nConnection: close, \xc5\r\n\r\n"
    ));
    assert!(keeps_alive(
        b"GET / HTTP/1.0\r\nConnection: keep-alive, \xc5\r\n\r\n"
    ));
}

#[test]
fn only_100_continue_can_be_expected() {
    let head = |version, length, fields: &str| {
        format!("POST / HTTP/{version}\r\n{fields}Content-Length: {length}\r\n\r\n")
    };
    let continues = |text: &str| taken(text).expects_continue;
    assert!(continues(&head("1.1", 2, "Expect: 100-continue\r\n")));
    assert!(continues(&head(
        "1.1",
        2,
        "expect: 100-Continue\r\nExpect: 100-continue\r\n"
    )));
    assert!(continues(
        "POST / HTTP/1.1\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n"
    ));
    assert!(!continues(&head("1.1", 2, "")));
    assert!(!continues(&head("1.1", 0, "Expect: 100-continue\r\n")));
    assert!(!continues(
        "POST / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n"
    ));
    assert!(!continues(&head("1.0", 2, "Expect: 100-continue\r\n")));
    assert!(!continues(&head("1.0", 2, "Expect: something\r\n")));
    for value in [
        "",
        "200-ok",
        "100-continue, x",
        "100-continue;a",
        "\"100-continue\"",
        "100-continu",
    ] {
        let text = head("1.1", 2, &format!("Expect: {value}\r\n"));
        refuses(text, 417, "The expectation cannot be met");
    }
    let second = head("1.1", 2, "Expect: x\r\nExpect: 100-continue\r\n");
    refuses(second, 417, "The expectation cannot be met");
}
