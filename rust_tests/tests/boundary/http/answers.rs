//! Answers that only the owner of sessions, streams and bounds can give.

use mcp_core::http::{self, Challenge, HttpAnswer, is_header_value, metadata_url};
use serde_json::Value;

use super::head::header;

#[test]
fn each_has_its_status_and_a_json_rpc_error() {
    let challenge = Challenge::default();
    let answers: [(HttpAnswer, u16, i32, Option<&str>); 16] = [
        (http::resume_gone(), 400, -32600, None),
        (http::unauthorized(&challenge), 401, -32600, None),
        (http::forbidden(&challenge), 403, -32600, None),
        (http::session_not_found(), 404, -32600, None),
        (http::resume_unknown(), 400, -32600, None),
        (http::request_timeout(), 408, -32600, None),
        (http::stream_taken(), 409, -32600, None),
        (http::payload_too_large(10), 413, -32600, None),
        (http::too_many_requests(1), 429, -32603, Some("1")),
        (http::head_too_large(), 431, -32600, None),
        (http::internal_error(), 500, -32603, None),
        (http::too_many_sessions(30), 503, -32603, Some("30")),
        (http::session_interrupted(1), 503, -32603, Some("1")),
        (http::overloaded(5), 503, -32603, Some("5")),
        (http::overloaded(0), 503, -32603, Some("0")),
        (http::shutting_down(), 503, -32603, None),
    ];
    for (answer, status, code, retry_after) in answers {
        let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(answer.status, status);
        assert_eq!(body["jsonrpc"], "2.0");
        assert_eq!(body.get("id"), None);
        assert_eq!(body["error"]["code"], code, "{body}");
        assert_eq!(header(&answer, "retry-after"), retry_after);
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
        assert_eq!(header(&answer, "cache-control"), Some("no-store"));
        let challenged = header(&answer, "www-authenticate").is_some();
        assert_eq!(challenged, matches!(status, 401 | 403), "{status}");
        for (_, value) in &answer.headers {
            assert!(is_header_value(value), "{value}");
        }
    }
    let body: Value = serde_json::from_slice(&http::payload_too_large(10).body).expect("JSON");
    assert_eq!(body["error"]["message"], "The body is longer than 10 bytes");
}

#[test]
fn challenges_say_where_to_look_and_what_is_missing() {
    let metadata = "https://mcp.example/.well-known/oauth-protected-resource";
    for (challenge, expected) in [
        (Challenge::default(), "Bearer".to_owned()),
        (
            Challenge {
                resource_metadata: Some(metadata),
                ..Challenge::default()
            },
            format!("Bearer resource_metadata=\"{metadata}\""),
        ),
        (
            Challenge {
                resource_metadata: Some(metadata),
                error: Some("insufficient_scope"),
                description: Some("Write access is needed"),
                scope: &["files:read", "files:write"],
                ..Challenge::default()
            },
            format!(
                "Bearer error=\"insufficient_scope\", \
                 error_description=\"Write access is needed\", scope=\"files:read files:write\", \
                 resource_metadata=\"{metadata}\""
            ),
        ),
        (
            Challenge {
                error: Some("invalid_token"),
                scope: &[
                    "two words",
                    "quo\"te",
                    "",
                    "back\\slash",
                    "é",
                    "offline_access",
                    "fine",
                ],
                ..Challenge::default()
            },
            "Bearer error=\"invalid_token\", scope=\"fine\"".to_owned(),
        ),
        (
            Challenge {
                error: Some("a\"b\\c\r\nset-cookie: x\0é"),
                scope: &["\""],
                ..Challenge::default()
            },
            "Bearer error=\"a\\\"b\\\\cset-cookie: x\"".to_owned(),
        ),
        (
            Challenge {
                error: Some("use_dpop_nonce"),
                ..Challenge::default()
            },
            "Bearer error=\"use_dpop_nonce\"".to_owned(),
        ),
    ] {
        assert_eq!(challenge.to_string(), expected);
        let answer = http::unauthorized(&challenge);
        assert_eq!(header(&answer, "www-authenticate"), Some(expected.as_str()));
    }
}

#[test]
fn the_metadata_url_stands_between_host_and_path() {
    for (resource, expected) in [
        (
            "https://a.example",
            Some("https://a.example/.well-known/oauth-protected-resource"),
        ),
        (
            "https://a.example/",
            Some("https://a.example/.well-known/oauth-protected-resource"),
        ),
        (
            "http://localhost:4040/mcp",
            Some("http://localhost:4040/.well-known/oauth-protected-resource/mcp"),
        ),
        (
            "https://a.example?x=1",
            Some("https://a.example/.well-known/oauth-protected-resource?x=1"),
        ),
        ("https://a.example/mcp#f", None),
        ("https:///mcp", None),
        ("https://", None),
        ("ftp://a.example", None),
        ("a.example/mcp", None),
        ("https://a.example/\"", None),
        ("https://a.example/ x", None),
        ("https://a.example/\r\n", None),
    ] {
        assert_eq!(metadata_url(resource).as_deref(), expected, "{resource:?}");
    }
}

// req: H8
#[test]
fn header_values_hold_no_line_end() {
    for good in ["", "a b\tc", "~!"] {
        assert!(is_header_value(good), "{good:?}");
    }
    for bad in ["a\r", "a\nb", "\0", "\x7f", "é", "a\u{2028}"] {
        assert!(!is_header_value(bad), "{bad:?}");
    }
}
