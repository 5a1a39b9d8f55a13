//! Bodies behind heads: era, agreement, and the status of every answer.

use mcp_core::catalog::Catalog;
use mcp_core::json::Limits;
use mcp_core::protocol::{Admission, Facts, SessionFacts, admit};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::head::{TestHead, policy, post, stateless};
use crate::catalog::{build, definition};

pub(super) fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// A request of the stateless era.
pub(super) fn with_meta(method: &str, params: Value) -> String {
    with_version(method, params, "2026-07-28")
}

fn with_version(method: &str, mut params: Value, version: &str) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

/// What becomes of a body: `work`, `open`, `notice`, `response`, `ignored`, `batch`; or the status of
/// the answer, and the error's code.
pub(super) fn outcome_with(
    catalog: &Catalog<SerdeJson>,
    head: &TestHead,
    session: Option<Revision>,
    body: &str,
) -> String {
    let screened = head.accepted();
    let facts = Facts {
        session: session.map(|revision| SessionFacts { revision }),
        http: Some(&screened),
    };
    outcome(catalog, facts, body.as_bytes())
}

fn outcome(catalog: &Catalog<SerdeJson>, facts: Facts<'_>, body: &[u8]) -> String {
    match admit(catalog, facts, body, &Limits::default()) {
        Admission::Answer(answer) => {
            let reply: Value = serde_json::from_slice(&answer.body).expect("JSON");
            let code = &reply["error"]["code"];
            format!("{} {code}", answer.status)
        }
        Admission::Kept { .. } => "200".to_owned(),
        Admission::Open(_) => "open".to_owned(),
        Admission::Request(_) => "work".to_owned(),
        Admission::Notice(_) => "notice".to_owned(),
        Admission::Response { .. } => "response".to_owned(),
        Admission::Ignored => "ignored".to_owned(),
        Admission::Batch(items) => format!("batch of {}", items.len()),
    }
}

fn server() -> Catalog<SerdeJson> {
    build(&definition()).expect("a catalogue")
}

#[track_caller]
fn becomes(head: &TestHead, session: Option<Revision>, body: impl AsRef<str>, expected: &str) {
    let body = body.as_ref();
    assert_eq!(
        outcome_with(&server(), head, session, body),
        expected,
        "{body}"
    );
}

const SESSION: Option<Revision> = Some(Revision::V2025_11_25);

fn initialize() -> String {
    request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
    )
}

fn tool_head(name: &str) -> TestHead {
    stateless("tools/call").with("mcp-name", name)
}

#[test]
fn m21_version_method_and_name_stand_in_the_head_as_in_the_body() {
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
        post().with("mcp-protocol-version", "2027-01-01"),
        post().with("mcp-method", "tools/list"),
        post()
            .with("mcp-method", "tools/list")
            .with("mcp-protocol-version", "2025-11-25"),
    ] {
        becomes(&head, None, request("tools/list", json!({})), "400 -32602");
        becomes(&head, None, initialize(), "400 -32602");
    }
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
    let screened = post().screen(&modern).expect("a head");
    let facts = Facts {
        session: None,
        http: Some(&screened),
    };
    assert_eq!(
        outcome(&server(), facts, initialize().as_bytes()),
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

#[test]
fn m10_m23_methods_that_are_not_there() {
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

#[test]
fn sessions_open_and_requests_without_one_are_refused() {
    becomes(&post(), None, initialize(), "open");
    becomes(
        &post().with("mcp-protocol-version", "2025-06-18"),
        None,
        initialize(),
        "open",
    );
    becomes(&post(), None, request("ping", json!({})), "200");
    for method in ["tools/list", "tools/call", "no/such"] {
        becomes(&post(), None, request(method, json!({})), "400 -32600");
    }
    becomes(&post(), SESSION, initialize(), "400 -32600");
    becomes(&post(), SESSION, request("tools/list", json!({})), "200");
}

#[test]
fn m20_a_session_takes_the_name_of_any_version_of_its_era() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let head = post().with("mcp-protocol-version", version);
        becomes(&head, SESSION, request("tools/list", json!({})), "200");
        becomes(
            &head,
            SESSION,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "notice",
        );
    }
    let note = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#;
    for version in ["1999-01-01", "v999.0.0", "2025-11-26", ""] {
        let head = post().with("mcp-protocol-version", version);
        for session in [None, SESSION] {
            becomes(
                &head,
                session,
                request("tools/list", json!({})),
                "400 -32022",
            );
            becomes(
                &head,
                session,
                request("initialize", json!({})),
                "400 -32022",
            );
            becomes(&head, session, note, "400 -32022");
        }
        becomes(&head, SESSION, answer, "400 -32022");
    }
    let too_long = "2".repeat(65);
    let twice = post()
        .with("mcp-protocol-version", "2025-11-25")
        .with("mcp-protocol-version", "2025-11-25");
    for head in [
        twice,
        post().with("mcp-protocol-version", too_long),
        post().with("mcp-protocol-version", b"2025\xff"),
    ] {
        becomes(
            &head,
            SESSION,
            request("tools/list", json!({})),
            "400 -32600",
        );
    }
}

#[test]
fn m11_notifications_are_never_answered_and_mean_nothing_without_a_session() {
    for note in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[]}"#,
    ] {
        becomes(&post(), None, note, "ignored");
        becomes(&stateless("notifications/x"), None, note, "ignored");
    }
    becomes(
        &post(),
        SESSION,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "notice",
    );
    becomes(
        &post(),
        SESSION,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        "ignored",
    );
}

#[test]
fn m24_answers_need_a_session_that_asked() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#,
    ] {
        becomes(&post(), SESSION, answer, "response");
        becomes(&post(), None, answer, "400 -32600");
        becomes(&stateless("x"), None, answer, "400 -32600");
    }
    let without_id = r#"{"jsonrpc":"2.0","error":{"code":-1,"message":"no"}}"#;
    becomes(&post(), SESSION, without_id, "ignored");
    becomes(&post(), None, without_id, "400 -32600");
}

#[test]
fn m9_batches_over_http() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#;
    becomes(&post(), Some(Revision::V2025_03_26), batch, "batch of 2");
    becomes(&post(), SESSION, batch, "400 -32600");
    becomes(&post(), None, batch, "400 -32600");
    becomes(&stateless("ping"), None, batch, "400 -32600");
}

#[test]
fn h3_a_call_that_is_answered_by_a_stream_needs_a_client_that_takes_one() {
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

#[test]
fn errors_before_the_handler_carry_the_requests_id() {
    let screened = post().accepted();
    let facts = Facts {
        session: None,
        http: Some(&screened),
    };
    let body = with_meta("tools/list", json!({}));
    let Admission::Answer(answer) = admit(&server(), facts, body.as_bytes(), &Limits::default())
    else {
        panic!("an answer");
    };
    assert_eq!(
        serde_json::from_slice::<Value>(&answer.body).expect("JSON"),
        json!({
            "jsonrpc": "2.0", "id": 1,
            "error": {"code": -32020, "message": "Header mismatch: MCP-Protocol-Version is missing"},
        })
    );
}
