//! What follows a head: one length, or chunks, or nothing; never two of them.

use mcp_core::http1::Framing;

use super::{refuses, taken};

const NUMBER: &str = "Content-Length must be one number";

fn head(fields: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\n{fields}\r\n")
}

#[track_caller]
fn frames(fields: &str, framing: Framing) {
    assert_eq!(taken(&head(fields)).framing, framing, "{fields:?}");
}

#[test]
fn a_length_is_one_number() {
    frames("", Framing::Empty);
    frames("Content-Length: 0\r\n", Framing::Empty);
    frames("Content-Length: 1\r\n", Framing::Length(1));
    frames("CONTENT-LENGTH:\t10 \r\n", Framing::Length(10));
    frames("content-length: 007\r\n", Framing::Length(7));
    frames(
        "content-length: 18446744073709551615\r\n",
        Framing::Length(u64::MAX),
    );
    for value in [
        "",
        " ",
        "-1",
        "+1",
        "1 0",
        "1,1",
        "1, 1",
        "1,",
        ",1",
        "0x10",
        "1.0",
        "1e3",
        "ten",
        "1_000",
        "\u{661}",
        "5;",
        "\"5\"",
        "18446744073709551616",
        "99999999999999999999",
        "340282366920938463463374607431768211456",
    ] {
        refuses(head(&format!("Content-Length: {value}\r\n")), 400, NUMBER);
    }
}

#[test]
fn a_length_stands_once() {
    for second in ["5", "6", "0", ""] {
        let fields = format!("Content-Length: 5\r\nA: b\r\ncontent-length: {second}\r\n");
        refuses(head(&fields), 400, "Content-Length must stand once");
    }
}

#[test]
fn chunked_is_the_only_coding() {
    frames("Transfer-Encoding: chunked\r\n", Framing::Chunked);
    frames("transfer-encoding:\t ChUnKeD \t\r\n", Framing::Chunked);
    for value in [
        "",
        "identity",
        "gzip",
        "gzip, chunked",
        "chunked, gzip",
        "chunked, chunked",
        "chunked,",
        ",chunked",
        "chunked;q=1",
        "xchunked",
        "chunke",
        "chunked chunked",
        "\"chunked\"",
        "chunked\u{a0}",
        "'chunked'",
    ] {
        let fields = format!("Transfer-Encoding: {value}\r\n");
        refuses(head(&fields), 501, "The transfer coding is not supported");
    }
    // A vertical tab is white space to some readers, and no part of a value.
    let hidden = head("Transfer-Encoding: \x0bchunked\r\n");
    refuses(hidden, 400, "A field's value holds a control character");
    let twice = head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n");
    refuses(twice, 400, "Transfer-Encoding must stand once");
    let other = head("Transfer-Encoding: gzip\r\ntransfer-encoding: chunked\r\n");
    refuses(other, 400, "Transfer-Encoding must stand once");
}

/// A request that says both, pipelined behind another one and cut inside its head, was taken before:
/// every cut is read here.
#[test]
fn a_length_beside_chunks_is_refused_wherever_the_bytes_are_cut() {
    const BOTH: &str = "Content-Length must not stand beside Transfer-Encoding";
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "transfer-encoding: CHUNKED\r\nX: y\r\ncontent-length: 0\r\n",
        "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n",
        "Transfer-Encoding:\r\nContent-Length:\r\n",
    ] {
        refuses(head(fields) + "0\r\n\r\n", 400, BOTH);
    }
}

#[test]
fn chunks_came_with_http_1_1() {
    let text = "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n";
    refuses(text, 400, "Transfer-Encoding does not belong to HTTP/1.0");
    let text = "POST / HTTP/1.0\r\nContent-Length: 5\r\n\r\n";
    assert_eq!(taken(text).framing, Framing::Length(5));
}

#[test]
fn names_that_look_alike_mean_nothing() {
    frames("Content_Length: 5\r\n", Framing::Empty);
    frames("X-Content-Length: 5\r\n", Framing::Empty);
    frames("Content-Lengt: 5\r\n", Framing::Empty);
    frames("Content-Length.: 5\r\n", Framing::Empty);
    frames("Transfer_Encoding: chunked\r\n", Framing::Empty);
    frames("TE: chunked\r\n", Framing::Empty);
}

#[test]
fn every_method_may_have_a_body() {
    for method in ["GET", "DELETE", "HEAD", "OPTIONS", "X"] {
        let text = format!("{method} / HTTP/1.1\r\nContent-Length: 3\r\n\r\n");
        assert_eq!(taken(&text).framing, Framing::Length(3));
    }
}
