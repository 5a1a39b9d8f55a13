//! How long a request really is. hyper picks one of two answers; here a request that gives two is
//! refused, because whoever stands in front of us may have picked the other.

use hyper::header::{HeaderMap, TRANSFER_ENCODING};

/// Whether the request says its length exactly once. `received` is what came from the socket since
/// the connection was idle: it begins with the head, unless the request was sent before the answer
/// to the one before it.
pub(crate) fn is_unambiguous(headers: &HeaderMap, received: &[u8]) -> bool {
    let chunked = headers.contains_key(TRANSFER_ENCODING);
    match lengths(received) {
        Some(lengths) => lengths <= usize::from(!chunked),
        // hyper refuses lengths that differ, but says nothing of one beside chunks.
        None => !chunked,
    }
}

/// How many lines of the head say a length; `None` when the head has no end here.
fn lengths(received: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"content-length:";
    let mut lengths = 0_usize;
    let mut start = 0_usize;
    for end in memchr::memchr_iter(b'\n', received) {
        let line = received.get(start..end)?;
        if matches!(line, b"" | b"\r") && start > 2 {
            return Some(lengths);
        }
        let name = line.get(..NAME.len()).unwrap_or_default();
        lengths = lengths.saturating_add(usize::from(name.eq_ignore_ascii_case(NAME)));
        start = end.saturating_add(1);
    }
    None
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn judge(head: &str) -> bool {
        let mut headers = HeaderMap::new();
        if head.to_ascii_lowercase().contains("transfer-encoding") {
            headers.insert(TRANSFER_ENCODING, HeaderValue::from_static("chunked"));
        }
        is_unambiguous(&headers, head.as_bytes())
    }

    #[test]
    fn one_way_to_say_a_length_is_right_and_two_are_wrong() {
        assert!(judge("POST / HTTP/1.1\r\nHost: a\r\n\r\n"));
        assert!(judge("POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"));
        assert!(judge(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        ));
        assert!(!judge(
            "POST / HTTP/1.1\r\nContent-Length: 2\r\ncontent-length: 2\r\n\r\n{}"
        ));
        assert!(!judge(
            "POST / HTTP/1.1\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
        ));
        assert!(!judge(
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\nCONTENT-LENGTH: 2\r\n\r\n"
        ));
    }

    #[test]
    fn a_body_that_looks_like_headers_is_not_one() {
        let body = "\r\nContent-Length: 9\r\n";
        assert!(judge(&format!(
            "POST / HTTP/1.1\r\nContent-Length: 21\r\n\r\n{body}"
        )));
    }

    #[test]
    fn bare_line_feeds_and_a_leading_empty_line_hide_nothing() {
        assert!(!judge(
            "\r\nPOST / HTTP/1.1\nContent-Length: 2\nTransfer-Encoding: chunked\n\n"
        ));
        assert!(judge("\r\nPOST / HTTP/1.1\nContent-Length: 2\n\n"));
    }

    #[test]
    fn chunks_behind_another_request_cannot_be_judged_and_are_refused() {
        assert!(judge(""));
        assert!(!judge("transfer-encoding"));
    }
}
