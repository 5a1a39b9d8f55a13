//! Opening a session: `initialize`, and what may come before it.

use serde_json::json;

use super::{NO_SESSION, SESSION, answer, refuses, request, session};

#[test]
fn initialize_answers_with_the_revision_asked_for_or_our_newest_session_revision() {
    let ask = |version: &str| {
        answer(
            NO_SESSION,
            request(
                "initialize",
                json!({
                    "protocolVersion": version, "capabilities": {},
                    "clientInfo": {"name": "c", "version": "1"},
                }),
            )
            .to_string(),
        )
    };
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        assert_eq!(ask(version)["result"]["protocolVersion"], version);
    }
    for version in ["1999-01-01", "2026-07-28", "", "latest"] {
        assert_eq!(ask(version)["result"]["protocolVersion"], "2025-11-25");
    }
    let reply = ask("2025-11-25");
    assert_eq!(reply["result"]["serverInfo"]["name"], "calc");
    assert_eq!(reply["result"]["instructions"], "Prefer add.");
    assert_eq!(
        ask("2024-11-05")["result"]["serverInfo"],
        json!({"name": "calc", "version": "1.2.3"}),
        "title came with 2025-06-18"
    );
}

#[test]
fn initialize_needs_its_three_members() {
    for params in [
        json!({}),
        json!({"protocolVersion": 1, "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
        json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "c", "version": "1"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": [], "clientInfo": {"name": "c", "version": "1"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": {}}),
    ] {
        refuses(NO_SESSION, &request("initialize", params), -32602);
    }
}

// req: M18
#[test]
fn before_initialize_only_ping_and_initialize_answer() {
    let reply = answer(NO_SESSION, r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    assert_eq!(reply, json!({"jsonrpc": "2.0", "id": "p", "result": {}}));
    refuses(NO_SESSION, &request("tools/list", json!({})), -32600);
    refuses(
        NO_SESSION,
        &request("tools/call", json!({"name": "add"})),
        -32600,
    );
    refuses(NO_SESSION, &request("no/such", json!({})), -32601);
}

// req: M19
#[test]
fn a_second_initialize_is_refused() {
    let again = request(
        "initialize",
        json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}),
    );
    refuses(session(SESSION), &again, -32600);
}
