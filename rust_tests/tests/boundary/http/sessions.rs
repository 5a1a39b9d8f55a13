//! Methods, sessions and where a stream goes on.

use mcp_core::http::{EventId, LastEventId};

use super::head::{TestHead, header, in_session, policy, post, stateless, status};

// req: H4
const SUPPORTED: &str = r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#;

#[test]
fn methods() {
    let allowed = |head: &TestHead| {
        let answer = head.check_head(&policy(|_| {})).expect_err("a refusal");
        assert_eq!(answer.status, 405);
        header(&answer, "allow").unwrap_or_default().to_owned()
    };
    for method in [
        "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "post", "", "POST ",
    ] {
        let head = TestHead { method, ..post() };
        assert_eq!(allowed(&head), "POST, GET, DELETE", "{method}");
    }
    for method in ["GET", "DELETE"] {
        assert_eq!(
            in_session(method).accepted().session_id.as_deref(),
            Some("s1")
        );
        assert_eq!(status(&in_session(method).without("mcp-session-id")), 400);
        // The stateless era has neither.
        for (name, value) in [
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-protocol-version", "2030-01-01"),
            ("mcp-method", "tools/list"),
            ("mcp-method", ""),
        ] {
            assert_eq!(allowed(&in_session(method).with(name, value)), "POST");
        }
        for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
            let head = in_session(method).with("mcp-protocol-version", version);
            assert!(!head.accepted().stateless, "{version}");
        }
        // Beside a version of the session era Mcp-Method says nothing.
        for (version, expected) in [
            ("2024-11-05", 0),
            ("2025-11-25", 0),
            ("2026-07-28", 405),
            ("2025-11-26", 405),
            ("v999.0.0", 405),
            ("", 405),
        ] {
            let head = in_session(method)
                .with("mcp-method", "tools/list")
                .with("mcp-protocol-version", version);
            assert_eq!(status(&head), expected, "{version}");
        }
    }
}

// req: M20
#[test]
fn a_get_or_delete_names_a_version_as_a_post_does() {
    let refused = |head: &TestHead| {
        let answer = head.check_head(&policy(|_| {})).expect_err("a refusal");
        (
            answer.status,
            String::from_utf8(answer.body).expect("a text"),
        )
    };
    for method in ["GET", "DELETE"] {
        for version in [
            "1999-01-01",
            "2026-07-27",
            "v999.0.0",
            "2026-7-28",
            "2026-07-280",
            "",
        ] {
            let body = format!(
                r#"{{"jsonrpc":"2.0","error":{{"code":-32022,"message":"Unsupported protocol version","data":{{"supported":{SUPPORTED},"requested":"{version}"}}}}}}"#
            );
            let head = in_session(method).with("mcp-protocol-version", version);
            assert_eq!(refused(&head), (400, body));
        }
        let body = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid request: MCP-Protocol-Version must stand once and name a version"}}"#;
        let twice = in_session(method)
            .with("mcp-protocol-version", "2025-11-25")
            .with("mcp-protocol-version", "2025-06-18");
        let unreadable = in_session(method).with("mcp-protocol-version", b"2025\xff");
        let too_long = in_session(method).with("mcp-protocol-version", "2".repeat(65));
        for head in [twice, unreadable, too_long] {
            assert_eq!(refused(&head), (400, body.to_owned()));
        }
    }
}

// req: H4
#[test]
fn an_endpoint_without_sessions_serves_post_alone() {
    let modern = policy(|options| options.sessions = false);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = in_session(method)
            .check_head(&modern)
            .expect_err("a refusal");
        assert_eq!(answer.status, 405);
        assert_eq!(header(&answer, "allow"), Some("POST"));
    }
    let accepted = post()
        .with("mcp-session-id", "s1")
        .check_head(&modern)
        .expect("a head");
    assert!(accepted.stateless);
    assert_eq!(accepted.session_id, None);
}

// req: H10
#[test]
fn session_ids() {
    let id = |value: &[u8]| post().with("mcp-session-id", value).accepted().session_id;
    let longest = "x".repeat(512);
    for good in ["a", "!", "~", "6f1b-4C", longest.as_str()] {
        assert_eq!(id(good.as_bytes()).as_deref(), Some(good));
    }
    assert_eq!(id(b"  padded\t").as_deref(), Some("padded"));
    // What no session can be called is looked up as the empty id, and not found.
    let too_long = "x".repeat(513);
    for bad in [
        &b""[..],
        b" ",
        b"a b",
        b"a\x00b",
        b"\x7f",
        b"\xc3\xa9",
        too_long.as_bytes(),
    ] {
        assert_eq!(id(bad).as_deref(), Some(""), "{bad:?}");
    }
    assert_eq!(
        status(
            &post()
                .with("mcp-session-id", "a")
                .with("mcp-session-id", "a")
        ),
        400
    );
    // The stateless era ignores it.
    assert_eq!(
        stateless("tools/list")
            .with("mcp-session-id", "a")
            .accepted()
            .session_id,
        None
    );
}

// req: H12
#[test]
fn last_event_ids() {
    let id = |value: &str| {
        in_session("GET")
            .with("last-event-id", value)
            .accepted()
            .last_event_id
    };
    let event = |stream, index| Some(LastEventId::Event(EventId { stream, index }));
    assert_eq!(id("0-0"), event(0, 0));
    assert_eq!(id(" 12-345 "), event(12, 345));
    assert_eq!(
        id("18446744073709551615-18446744073709551615"),
        event(u64::MAX, u64::MAX)
    );
    for bad in [
        "",
        "-",
        "1",
        "1-",
        "-1",
        "01-1",
        "1-01",
        "+1-1",
        "1--1",
        "1-1-1",
        "1 - 1",
        "a-b",
        "1-1\0",
        "18446744073709551616-0",
        "1.0-1",
    ] {
        assert_eq!(id(bad), Some(LastEventId::Malformed), "{bad:?}");
    }
    assert_eq!(in_session("GET").accepted().last_event_id, None);
    assert_eq!(
        in_session("GET")
            .with("last-event-id", "1-1")
            .with("last-event-id", "1-1")
            .accepted()
            .last_event_id,
        Some(LastEventId::Malformed)
    );
    assert_eq!(
        post().with("last-event-id", "1-1").accepted().last_event_id,
        None
    );
    assert_eq!(
        in_session("DELETE")
            .with("last-event-id", "1-1")
            .accepted()
            .last_event_id,
        None
    );
}
