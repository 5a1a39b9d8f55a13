//! Head and body of a stateless request: what they must agree in, and in which order that is judged.

use mcp_core::protocol::Context;
use serde_json::json;

use super::admission::{
    SESSION, becomes, initialize, outcome, request, server, with_meta, with_version,
};
use super::head::{TestHead, policy, post, stateless};

fn tool_head(name: &str) -> TestHead {
    stateless("tools/call").with("mcp-name", name)
}

// req: M21
#[test]
fn version_method_and_name_stand_in_the_head_as_in_the_body() {
    let list = with_meta("tools/list", json!({}));
    becomes(&stateless("tools/list"), None, &list, "200");
    becomes(&stateless(" tools/list\t"), None, &list, "200");
    becomes(&post(), None, &list, "400 -32020");
    for (name, value) in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-protocol-version", "2026-07-29"),
        ("mcp-protocol-version", ""),
        ("mcp-method", "TOOLS/LIST"),
        ("mcp-method", "tools/call"),
        ("mcp-method", ""),
        ("mcp-method", "=?base64?dG9vbHMvbGlzdA==?="),
    ] {
        becomes(
            &stateless("tools/list").set(name, value),
            None,
            &list,
            "400 -32020",
        );
    }
    for name in ["mcp-protocol-version", "mcp-method"] {
        becomes(
            &stateless("tools/list").without(name),
            None,
            &list,
            "400 -32020",
        );
    }
    becomes(
        &stateless("tools/list").with("mcp-method", "tools/list"),
        None,
        &list,
        "400 -32020",
    );
    becomes(
        &stateless("tools/list").with("mcp-protocol-version", "2026-07-28"),
        None,
        &list,
        "400 -32020",
    );
    becomes(
        &stateless("tools/list").with("mcp-name", "whatever"),
        None,
        &list,
        "200",
    );

    let call = with_meta("tools/call", json!({"name": "add", "arguments": {"a": 1}}));
    becomes(&tool_head("add"), None, &call, "work");
    becomes(&tool_head("  add "), None, &call, "work");
    becomes(&tool_head("=?base64?YWRk?="), None, &call, "work");
    for name in ["ADD", "ask", "", "=?base64?YWR?=", "=?base64?YWRk?", "a dd"] {
        becomes(&tool_head(name), None, &call, "400 -32020");
    }
    becomes(&stateless("tools/call"), None, &call, "400 -32020");
    becomes(
        &tool_head("add").with("mcp-name", "add"),
        None,
        &call,
        "400 -32020",
    );

    let get = with_meta(
        "prompts/get",
        json!({"name": "greet", "arguments": {"who": "Ada"}}),
    );
    becomes(
        &stateless("prompts/get").with("mcp-name", "greet"),
        None,
        &get,
        "work",
    );
    becomes(&stateless("prompts/get"), None, &get, "400 -32020");
    let read = with_meta("resources/read", json!({"uri": "file:///config.json"}));
    becomes(
        &stateless("resources/read").with("mcp-name", "file:///config.json"),
        None,
        &read,
        "work",
    );
    becomes(
        &stateless("resources/read").with("mcp-name", "config"),
        None,
        &read,
        "400 -32020",
    );
}

#[test]
fn what_only_one_of_head_and_body_claims_is_an_error_of_the_stateless_era() {
    // The head alone.
    for head in [
        post().with("mcp-protocol-version", "2026-07-28"),
        post().with("mcp-method", "tools/list"),
        post()
            .with("mcp-method", "tools/list")
            .with("mcp-protocol-version", "v999.0.0"),
    ] {
        becomes(&head, None, request("tools/list", json!({})), "400 -32602");
        becomes(&head, None, initialize(), "400 -32602");
    }
    let future = post().with("mcp-protocol-version", "2027-01-01");
    for context in [None, SESSION] {
        becomes(
            &future,
            context,
            request("tools/list", json!({})),
            "400 -32022",
        );
    }
    // A version of the session era takes Mcp-Method its meaning.
    let early = post()
        .with("mcp-method", "tools/list")
        .with("mcp-protocol-version", "2025-11-25");
    becomes(&early, SESSION, request("tools/list", json!({})), "200");
    becomes(&early, None, initialize(), "open");
    becomes(
        &early,
        SESSION,
        with_meta("tools/list", json!({})),
        "400 -32020",
    );
    // The body alone, also on a session.
    becomes(
        &post(),
        None,
        with_meta("tools/list", json!({})),
        "400 -32020",
    );
    becomes(
        &post(),
        SESSION,
        with_meta("tools/list", json!({})),
        "400 -32020",
    );
    // A method that only the stateless era has.
    becomes(
        &post(),
        None,
        request("server/discover", json!({})),
        "400 -32602",
    );
    // An endpoint without sessions knows no other era.
    let modern = policy(|options| options.sessions = false);
    let accepted = post().check_head(&modern).expect("a head");
    let context = Context {
        session: None,
        http: Some(&accepted),
        anonymous: None,
    };
    assert_eq!(
        outcome(&server(), context, initialize().as_bytes()),
        "400 -32602"
    );
}

#[test]
fn the_checks_of_a_stateless_request_come_in_their_order() {
    let bad_meta = request(
        "no/such",
        json!({"_meta": {"io.modelcontextprotocol/protocolVersion": 1}}),
    );
    let head = stateless("other").set("mcp-protocol-version", "2026-07-28");
    becomes(&head, None, "{", "400 -32700");
    becomes(&head, None, r#"{"id":1}"#, "400 -32600");
    becomes(&head, None, &bad_meta, "400 -32602");
    // Mismatch is judged before support.
    becomes(
        &head,
        None,
        with_version("no/such", json!({}), "v999.0.0"),
        "400 -32020",
    );
    let unknown = stateless("other").set("mcp-protocol-version", "v999.0.0");
    becomes(
        &unknown,
        None,
        with_version("no/such", json!({}), "v999.0.0"),
        "400 -32022",
    );
    becomes(&head, None, with_meta("no/such", json!({})), "400 -32020");
    becomes(
        &stateless("no/such"),
        None,
        with_meta("no/such", json!({})),
        "404 -32601",
    );
    becomes(
        &stateless("tools/call"),
        None,
        with_meta("tools/call", json!({})),
        "400 -32602",
    );
    becomes(
        &tool_head("none"),
        None,
        with_meta("tools/call", json!({"name": "none"})),
        "200 -32602",
    );
    becomes(
        &tool_head("ask"),
        None,
        with_meta("tools/call", json!({"name": "ask"})),
        "400 -32021",
    );
}

// req: M10, M23
#[test]
fn methods_that_are_not_there() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "no/such",
    ] {
        becomes(
            &stateless(method),
            None,
            with_meta(method, json!({})),
            "404 -32601",
        );
    }
    becomes(
        &post(),
        SESSION,
        request("no/such", json!({})),
        "200 -32601",
    );
    becomes(
        &post(),
        SESSION,
        request("server/discover", json!({})),
        "200 -32601",
    );
}

// req: H3
#[test]
fn a_call_that_is_answered_by_a_stream_needs_a_client_that_takes_one() {
    let listen = with_meta(
        "subscriptions/listen",
        json!({"notifications": {"toolsListChanged": true}}),
    );
    let head = stateless("subscriptions/listen");
    becomes(&head, None, &listen, "work");
    becomes(
        &head.clone().set("accept", "application/json"),
        None,
        &listen,
        "406 -32600",
    );
    becomes(
        &head.set("accept", "application/json"),
        None,
        with_meta("subscriptions/listen", json!({"notifications": 1})),
        "400 -32602",
    );
}
