//! What a request may ask for.

use super::{refuses, taken};

const INVALID: &str = "The request's target is malformed";

fn head(method: &str, target: &str) -> String {
    format!("{method} {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

#[test]
fn paths_and_web_addresses_are_taken_as_sent() {
    for target in [
        "/",
        "/mcp",
        "/mcp?a=b&c",
        "//a/b",
        "/a/../b",
        "/%zz",
        "/a|b{c}^`[d]\\",
        "/?",
        "/a:443",
        "/*",
        "http://a",
        "http://a/",
        "HTTP://LOCALHOST:4040/mcp?x",
        "https://[::1]:443?q=/",
        "https://a_b.c-d/http://e",
    ] {
        assert_eq!(taken(&head("GET", target)).target, target);
    }
    assert_eq!(taken(&head("OPTIONS", "*")).target, "*");
}

#[test]
fn other_forms_are_refused() {
    for target in [
        "*",
        "a",
        "a:443",
        "mcp",
        "?a",
        "ftp://a/",
        "ws://a/",
        "http:/a",
        "http:a",
        "http://",
        "http:///a",
        "http://?a",
        "http://u@a/",
        "http://u:p@a/",
        "http://a%41/",
        "http://a\\b/",
        "http://a,b/",
        "://a",
        "x/http://a",
        "file:///a",
        "/a#b",
        "#",
        "http://a/#b",
        "http://a#b",
        "/\"",
        "/<",
        "/>",
        "/\u{e4}",
        "/\x7f",
        "/\u{80}",
    ] {
        let (status, text) = super::refused(head("GET", target));
        // The parser of heads refuses what no target can hold, this library the rest.
        assert!(
            text == INVALID || text == "The request line is malformed",
            "{target}"
        );
        assert_eq!(status, 400);
    }
    for target in ["*", "/a#b", "http://u@a/", "a:443"] {
        refuses(head("GET", target), 400, INVALID);
    }
    refuses(head("OPTIONS", "**"), 400, INVALID);
    refuses(head("options", "*"), 400, INVALID);
}

#[test]
fn there_are_no_tunnels() {
    for target in ["a:443", "/", "http://a/", "*"] {
        refuses(head("CONNECT", target), 400, INVALID);
    }
}

#[test]
fn a_whole_address_does_not_replace_host() {
    refuses("GET http://a/ HTTP/1.1\r\n\r\n", 400, "Host is missing");
    taken("GET http://a/ HTTP/1.0\r\n\r\n");
    // Whether there is one, and which, the policy says: its answer has a body.
    taken("GET / HTTP/1.1\r\n\r\n");
    taken("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
}
