//! What a head must be beside its Host and Origin, and in which order that is found out.

use mcp_core::http::Verb;
use serde_json::{Value, json};

use super::head::{TestHead, header, policy, post, status, status_under};

#[test]
fn a_good_post_is_let_through() {
    let accepted = post().with("content-length", "17").accepted();
    assert_eq!(accepted.verb, Verb::Post);
    assert_eq!(accepted.session_id, None);
    assert_eq!(accepted.last_event_id, None);
    assert_eq!(accepted.content_length, Some(17));
    assert!(accepted.accepts_json && accepted.accepts_events && !accepted.stateless);
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
        ("/mcp/", 0),
        ("/mcp/?session=1", 0),
        ("/mcp//", 404),
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

/// Takes one fault away.
type Mend = fn(TestHead) -> TestHead;

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
fn refusals_are_json_rpc_errors_without_an_id_that_nobody_keeps() {
    let answer = post()
        .set("accept", "text/html")
        .check_head(&policy(|_| {}))
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
    let document = r#"{"resource":"https://mcp.example/api/mcp","authorization_servers":["https://as.example"]}"#;
    let with = |path: Option<&str>| {
        policy(|options| {
            options.resource_metadata = Some(document.to_owned());
            options.path = path.map(str::to_owned);
        })
    };
    let mcp = with(Some("/mcp"));
    assert_eq!(
        mcp.metadata_url(),
        Some("https://mcp.example/.well-known/oauth-protected-resource/api/mcp")
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
        "/.well-known/oauth-protected-resource/api/mcp",
        "/.well-known/oauth-protected-resource/api/mcp?x=1",
        "/.well-known/oauth-protected-resource/",
        "/.well-known/oauth-protected-resource/api/mcp/",
    ] {
        let answer = get(target).check_head(&mcp).expect_err("the document");
        assert_eq!(answer.status, 200, "{target}");
        assert_eq!(answer.body, document.as_bytes());
        assert_eq!(header(&answer, "content-type"), Some("application/json"));
        assert_eq!(
            header(&answer, "cache-control"),
            Some("public, max-age=3600")
        );
        let put = TestHead {
            method: "PUT",
            ..get(target)
        };
        let answer = put.check_head(&mcp).expect_err("a refusal");
        assert_eq!(
            (answer.status, header(&answer, "allow")),
            (405, Some("GET, HEAD"))
        );
    }
    for target in [
        "/.well-known/oauth-protected-resource//",
        "/.well-known/oauth-protected-resource/other",
        "/.well-known/oauth-protected-resource/mcp",
        "/.well-known/oauth-protected-resourcex",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(status_under(&mcp, &get(target)), 404, "{target}");
    }
    let any = with(None);
    let target = "/.well-known/oauth-protected-resource/api/mcp";
    assert_eq!(
        get(target).check_head(&any).map_err(|answer| answer.status),
        Err(200)
    );
    let rootless = policy(|options| {
        options.resource_metadata = Some(document.to_owned());
        options.metadata_at_root = false;
    });
    let served = get(target).check_head(&rootless);
    assert_eq!(served.map_err(|answer| answer.status), Err(200));
    let root = "/.well-known/oauth-protected-resource";
    assert_eq!(status_under(&rootless, &get(root)), 404);
    assert!(rootless.is_metadata_path(target) && !rootless.is_metadata_path(root));
    assert_eq!(status(&get("/.well-known/oauth-protected-resource")), 404);
    assert_eq!(policy(|_| {}).metadata_url(), None);
}
