//! A connection: pipelined requests in pieces, read by `http1` and by hyper's server.
//!
//! The first two bytes select the cuts; the rest arrives on the connection. Both must accept the
//! same requests: methods, targets and bodies. One may stop before the other only for a reason in
//! these tables.
//!
//! hyper continues where `http1` refuses a request; the first column is the refusal's text:
//!
//! | refusal | reason |
//! |---|---|
//! | A line must end with CRLF | hyper accepts a bare LF. Proxies that see no line end there forward another request |
//! | A request must begin with its method | hyper skips empty lines that are a bare LF |
//! | Too many empty lines | hyper skips any number of them |
//! | The method is too long | hyper takes any token |
//! | The request's target is malformed | hyper takes CONNECT, an authority, `*` with every method, any scheme, credentials, `"` and a fragment, which it drops |
//! | Host is missing | hyper leaves `Host` of an absolute target to its user |
//! | Content-Length must stand once | hyper takes the same number several times |
//! | Content-Length must not stand beside Transfer-Encoding | hyper reads the chunks, then closes the connection |
//! | Transfer-Encoding must stand once | hyper takes several fields whose last one ends with `chunked` |
//! | The transfer coding is not supported | hyper takes a list that ends with `chunked` and leaves the rest to its user |
//! | The expectation cannot be met | hyper ignores expectations that it does not know |
//! | A chunk's size must be hexadecimal digits | hyper takes any number of leading zeros, and white space after the digits |
//! | A chunk's extension is malformed | hyper takes any byte there but LF |
//! | A chunk's size line is too long | hyper bounds all extensions of a body together, not a line |
//! | A line of a chunked body must end with CRLF | hyper takes a bare LF between trailers |
//! | A trailer must not frame or route | hyper passes all trailers to its user |
//! | The trailers are too long | hyper takes 16 KiB of them |
//!
//! `http1` continues where hyper stops:
//!
//! | hyper | reason |
//! |---|---|
//! | refuses | its `Uri` takes fewer characters in a path or an authority |
//! | refuses | it takes at most 100 trailers, of any size |
//! | closes, or does not | it reads no `Connection` field that has a byte beyond ASCII |
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::http1::{ChunkError, HeadError};
use mcp_fuzz::budget::within;
use mcp_fuzz::http1::{Arrived, End, serve, serve_with_hyper};

/// Refusals of `http1` that hyper need not give. Both must give all other refusals.
const STRICTER: [&str; 17] = [
    "A line must end with CRLF",
    "A request must begin with its method",
    "Too many empty lines",
    "The method is too long",
    "The request's target is malformed",
    "Host is missing",
    "Content-Length must stand once",
    "Content-Length must not stand beside Transfer-Encoding",
    "Transfer-Encoding must stand once",
    "The transfer coding is not supported",
    "The expectation cannot be met",
    "A chunk's size must be hexadecimal digits",
    "A chunk's extension is malformed",
    "A chunk's size line is too long",
    "A line of a chunked body must end with CRLF",
    "A trailer must not frame or route",
    "The trailers are too long",
];

fuzz_target!(|bytes: &[u8]| {
    let [high, low, bytes @ ..] = bytes else {
        return;
    };
    let seed = u16::from_be_bytes([*high, *low]);
    within(|| {
        let ours = serve(bytes, seed);
        assert_eq!(serve(bytes, 0), ours, "the cut does not matter");
        assert_eq!(serve(bytes, 1), ours, "the cut does not matter");
        assert!(ours.used <= bytes.len());

        let (theirs, waits) = serve_with_hyper(bytes, seed);
        for (mine, (method, uri, body)) in ours.requests.iter().zip(&theirs) {
            assert_eq!((&mine.method, &mine.body), (method, body));
            assert_eq!(mine.target.parse().ok().as_ref(), Some(uri));
        }
        if theirs.len() > ours.requests.len() {
            hyper_goes_on(bytes, &ours.end);
        } else if let Some(taken) = ours.requests.get(theirs.len()) {
            hyper_stops(bytes, taken, waits);
        } else if ours.end == End::Closed {
            assert!(!waits || is_unread_by_hyper(bytes), "hyper does not close");
        }
    });
});

fn hyper_goes_on(bytes: &[u8], end: &End) {
    let refusal = match end {
        End::Head(error @ HeadError::Malformed(_)) => error.to_string(),
        End::Head(error @ (HeadError::UnsupportedCoding | HeadError::ExpectationFailed)) => {
            error.to_string()
        }
        End::Body(error @ ChunkError::Malformed(_)) => error.to_string(),
        End::Closed if is_unread_by_hyper(bytes) => return,
        other => panic!("hyper goes on after {other:?}"),
    };
    assert!(
        STRICTER.contains(&refusal.as_str()),
        "hyper takes it: {refusal}"
    );
}

fn hyper_stops(bytes: &[u8], taken: &Arrived, waits: bool) {
    assert!(!waits, "hyper waits for more of {taken:?}");
    let narrower = taken.target.parse::<hyper::Uri>().is_err();
    assert!(
        narrower || is_unread_by_hyper(bytes) || may_have_many_trailers(bytes),
        "hyper does not take {taken:?}"
    );
}

/// Whether a body may have more trailers than hyper takes.
fn may_have_many_trailers(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').count() > 100
}

/// Whether a `Connection` field has a byte beyond ASCII.
fn is_unread_by_hyper(bytes: &[u8]) -> bool {
    const NAME: &[u8] = b"connection:";
    bytes.split(|byte| *byte == b'\n').any(|line| {
        let name = line.get(..NAME.len()).unwrap_or_default();
        name.eq_ignore_ascii_case(NAME) && !line.is_ascii()
    })
}
