//! What a head must be beside its Host and Origin.

use mcp_core::http::{EventId, LastEventId, Verb};
use serde_json::{Value, json};

use super::head::{TestHead, header, in_session, policy, post, stateless, status, status_under};

#[test]
fn a_good_post_is_let_through() {
    let screened = post().with("content-length", "17").accepted();
    assert_eq!(screened.verb, Verb::Post);
    assert_eq!(screened.session_id, None);
    assert_eq!(screened.last_event_id, None);
    assert_eq!(screened.content_length, Some(17));
    assert!(screened.accepts_json && screened.accepts_events && !screened.stateless);
}

#[test]
fn names_of_headers_have_no_case() {
    let head = post()
        .without("host")
        .without("content-type")
        .with("HOST", "localhost")
        .with("CONTENT-TYPE", "Application/JSON")
        .with("MCP-SESSION-ID", "abc");
    assert_eq!(head.accepted().session_id.as_deref(), Some("abc"));
}

#[test]
fn only_the_endpoints_path_is_served() {
    for (target, expected) in [
        ("/mcp", 0),
        ("/mcp?session=1", 0),
        ("http://localhost/mcp?x", 0),
        ("/", 404),
        ("/mcp/", 404),
        ("/mcpx", 404),
        ("/MCP", 404),
        ("/%6dcp", 404),
        ("//mcp", 404),
        ("", 404),
        ("*", 404),
        ("http://localhost", 404),
        ("mcp", 404),
    ] {
        assert_eq!(status(&post().at(target)), expected, "{target}");
    }
    let any = policy(|options| options.path = None);
    for target in ["/", "/mcp/", "/api/v1/mcp?x=y"] {
        assert_eq!(status_under(&any, &post().at(target)), 0, "{target}");
    }
}

#[test]
fn h4_methods() {
    let allowed = |head: &TestHead| {
        let answer = head.screen(&policy(|_| {})).expect_err("a refusal");
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
        for version in [
            "2025-11-25",
            "2026-07-27",
            "v999.0.0",
            "2026-7-28",
            "2026-07-280",
        ] {
            let head = in_session(method).with("mcp-protocol-version", version);
            assert!(!head.accepted().stateless, "{version}");
        }
    }
}

#[test]
fn h4_an_endpoint_without_sessions_serves_post_alone() {
    let modern = policy(|options| options.sessions = false);
    for method in ["GET", "DELETE", "PUT"] {
        let answer = in_session(method).screen(&modern).expect_err("a refusal");
        assert_eq!(answer.status, 405);
        assert_eq!(header(&answer, "allow"), Some("POST"));
    }
    let screened = post()
        .with("mcp-session-id", "s1")
        .screen(&modern)
        .expect("a head");
    assert!(screened.stateless);
    assert_eq!(screened.session_id, None);
}

#[test]
fn sec_02_h2_h6_only_json_in_utf_8_is_read() {
    for (content_type, expected) in [
        ("application/json", 0),
        ("APPLICATION/JSON", 0),
        ("application/json; charset=utf-8", 0),
        ("application/json;charset=UTF-8", 0),
        ("application/json ; charset=\"utf-8\"", 0),
        ("application/json;", 0),
        ("application/json; charset=utf-16", 415),
        ("application/json; charset=\"utf-16\"", 415),
        ("application/json; charset=iso-8859-1", 415),
        ("application/json; charset", 415),
        ("application/json; charset=", 415),
        ("application/json; profile=x", 415),
        ("application/json; charset=utf-8; charset=utf-16", 415),
        ("application/json, text/plain", 415),
        ("application/jsonx", 415),
        ("application/json-rpc", 415),
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data", 415),
        ("", 415),
    ] {
        let head = post().set("content-type", content_type);
        assert_eq!(status(&head), expected, "{content_type}");
    }
    assert_eq!(status(&post().without("content-type")), 415);
    assert_eq!(
        status(&post().with("content-type", "application/json")),
        415
    );
    assert_eq!(
        status(&post().set("content-type", b"application/json\xa0")),
        415
    );

    for (encoding, expected) in [
        ("identity", 0),
        ("Identity", 0),
        ("gzip", 415),
        ("br", 415),
        ("", 415),
    ] {
        assert_eq!(
            status(&post().with("content-encoding", encoding)),
            expected,
            "{encoding}"
        );
    }
    let both = post()
        .with("content-encoding", "identity")
        .with("content-encoding", "gzip");
    assert_eq!(status(&both), 415);
}

#[test]
fn h3_what_the_client_accepts() {
    for (accept, json, events) in [
        ("application/json, text/event-stream", true, true),
        ("text/event-stream,application/json", true, true),
        ("application/json", true, false),
        ("*/*", true, true),
        ("application/*", true, false),
        ("APPLICATION/JSON;q=0.1, TEXT/*", true, true),
        ("", true, true),
        ("*/*;q=0.1, text/event-stream;q=0", true, false),
        (
            "text/*, text/event-stream;q=0.000, application/json",
            true,
            false,
        ),
        ("application/json; charset=utf-8; q=1.000", true, false),
        ("application/json;foo=\"a,b;q=0\"", true, false),
        ("application/json;foo=\"a\\\",b\", */*;q=0", true, false),
    ] {
        let screened = post().set("accept", accept).accepted();
        let found = (screened.accepts_json, screened.accepts_events);
        assert_eq!(found, (json, events), "{accept}");
    }
    let screened = post().without("accept").accepted();
    assert!(screened.accepts_json && screened.accepts_events);
    let split = post()
        .set("accept", "application/json")
        .with("accept", "text/event-stream");
    assert!(split.accepted().accepts_events);

    for accept in [
        "text/event-stream",
        "text/html",
        "text/html, application/xml;q=0.9",
        "application/json;q=0",
        "application/json;q=0.0",
        "*/*, application/json;q=0",
        "application/*;q=0, */*",
        "garbage",
        "application/json;q=2",
        "application/json;q=0.0001",
        "application/json;q=",
        "application/jsonp",
    ] {
        assert_eq!(status(&post().set("accept", accept)), 406, "{accept}");
    }
    assert_eq!(
        status(&in_session("GET").set("accept", "text/event-stream")),
        0
    );
    assert_eq!(
        status(&in_session("GET").set("accept", "application/json")),
        406
    );
    assert_eq!(status(&in_session("DELETE").set("accept", "text/html")), 0);
}

#[test]
fn sec_12_h5_h8_declared_lengths() {
    const MAX: u64 = 4 * 1024 * 1024;
    let with = |value: &str| post().with("content-length", value);
    for (value, expected) in [
        ("0", Some(0)),
        ("4194304", Some(MAX)),
        ("0004194304", Some(MAX)),
        ("7, 7", Some(7)),
    ] {
        assert_eq!(with(value).accepted().content_length, expected, "{value}");
    }
    assert_eq!(
        with("7")
            .with("content-length", "7")
            .accepted()
            .content_length,
        Some(7)
    );
    assert_eq!(status(&with("4194305")), 413);
    assert_eq!(status(&with("18446744073709551615")), 413);
    for value in [
        "-1",
        "+1",
        "1.0",
        "0x10",
        "",
        "1 2",
        "1,2",
        "1,",
        "18446744073709551616",
        "a",
    ] {
        assert_eq!(status(&with(value)), 400, "{value}");
    }
    assert_eq!(status(&with("7").with("content-length", "8")), 400);
    assert_eq!(status(&with("7").with("transfer-encoding", "chunked")), 400);
    assert_eq!(status(&post().with("transfer-encoding", "chunked")), 0);

    let tiny = policy(|options| options.max_body_bytes = 10);
    assert_eq!(status_under(&tiny, &with("10")), 0);
    assert_eq!(status_under(&tiny, &with("11")), 413);
}

#[test]
fn the_first_fault_in_the_order_of_checks_is_answered() {
    // Each head has every fault from its own on.
    let worst = TestHead {
        method: "PUT",
        ..post()
    }
    .set("origin", "null")
    .at("/none")
    .set("content-type", "text/plain")
    .set("accept", "text/html")
    .set("content-length", "4194305")
    .with("mcp-session-id", "a")
    .with("mcp-session-id", "b");
    type Mend = fn(TestHead) -> TestHead;
    let steps: [(u16, Mend); 7] = [
        (403, |head| head.without("origin")),
        (404, |head| head.at("/mcp")),
        (405, |head| TestHead {
            method: "POST",
            ..head
        }),
        (415, |head| head.set("content-type", "application/json")),
        (406, |head| head.without("accept")),
        (413, |head| head.without("content-length")),
        (400, |head| head.set("mcp-session-id", "a")),
    ];
    let mut head = worst;
    for (expected, mend) in steps {
        assert_eq!(status(&head), expected);
        head = mend(head);
    }
    assert_eq!(status(&head), 0);
}

#[test]
fn h10_session_ids() {
    let id = |value: &[u8]| post().with("mcp-session-id", value).accepted().session_id;
    let longest = "x".repeat(128);
    for good in ["a", "!", "~", "6f1b-4C", longest.as_str()] {
        assert_eq!(id(good.as_bytes()).as_deref(), Some(good));
    }
    assert_eq!(id(b"  padded\t").as_deref(), Some("padded"));
    // What no session can be called is looked up as the empty id, and not found.
    let too_long = "x".repeat(129);
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

#[test]
fn h12_last_event_ids() {
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

#[test]
fn refusals_are_json_rpc_errors_without_an_id_that_nobody_keeps() {
    let answer = post()
        .set("accept", "text/html")
        .screen(&policy(|_| {}))
        .expect_err("406");
    assert_eq!(header(&answer, "content-type"), Some("application/json"));
    assert_eq!(header(&answer, "cache-control"), Some("no-store"));
    assert_eq!(
        serde_json::from_slice::<Value>(&answer.body).expect("JSON"),
        json!({
            "jsonrpc": "2.0",
            "error": {"code": -32600, "message": "Accept must allow application/json"},
        })
    );
}

#[test]
fn the_metadata_document_is_served_at_its_well_known_paths() {
    let document = br#"{"resource":"https://mcp.example/mcp","authorization_servers":[]}"#;
    let with = |path: Option<&str>| {
        policy(|options| {
            options.resource_metadata = Some(document.to_vec());
            options.path = path.map(str::to_owned);
        })
    };
    let mcp = with(Some("/mcp"));
    assert_eq!(
        mcp.metadata_url(),
        Some("https://mcp.example/.well-known/oauth-protected-resource/mcp")
    );
    let get = |target: &str| {
        TestHead {
            method: "GET",
            ..post()
        }
        .at(target)
    };
    for target in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resource/mcp?x=1",
    ] {
        let answer = get(target).screen(&mcp).expect_err("the document");
        assert_eq!(answer.status, 200, "{target}");
        assert_eq!(answer.body, document);
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
        let put = TestHead {
            method: "PUT",
            ..get(target)
        };
        let answer = put.screen(&mcp).expect_err("a refusal");
        assert_eq!(
            (answer.status, header(&answer, "allow")),
            (405, Some("GET"))
        );
    }
    for target in [
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-protected-resourcex",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(status_under(&mcp, &get(target)), 404, "{target}");
    }
    let any = with(None);
    let target = "/.well-known/oauth-protected-resource/api/mcp";
    assert_eq!(
        get(target).screen(&any).map_err(|answer| answer.status),
        Err(200)
    );
    assert_eq!(status(&get("/.well-known/oauth-protected-resource")), 404);
    assert_eq!(policy(|_| {}).metadata_url(), None);
}
