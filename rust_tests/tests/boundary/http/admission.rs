//! Bodies behind heads: era, agreement, and the status of every answer.

use mcp_core::catalog::Catalog;
use mcp_core::protocol::{Admission, Answer, Context, MessageLimits, SessionContext, admit};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::head::{TestHead, post, stateless};
use crate::catalog::{build, definition};

pub(super) fn request(method: &str, params: Value) -> String {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()
}

/// A request of the stateless era.
pub(super) fn with_meta(method: &str, params: Value) -> String {
    with_version(method, params, "2026-07-28")
}

pub(super) fn with_version(method: &str, mut params: Value, version: &str) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

/// What becomes of a body: `work`, `open`, `notification`, `response`, `ignored`, `batch`; or the status of
/// the answer, and the error's code.
pub(super) fn outcome_with(
    catalog: &Catalog<SerdeJson>,
    head: &TestHead,
    session: Option<Revision>,
    body: &str,
) -> String {
    let accepted = head.accepted();
    let context = Context {
        session: session.map(|revision| SessionContext { revision }),
        http: Some(&accepted),
        anonymous: None,
    };
    outcome(catalog, context, body.as_bytes())
}

pub(super) fn outcome(catalog: &Catalog<SerdeJson>, context: Context<'_>, body: &[u8]) -> String {
    let refused = |answer: &Answer| {
        let reply: Value = serde_json::from_slice(&answer.body).expect("JSON");
        format!("{} {}", answer.status, reply["error"]["code"])
    };
    match admit(catalog, context, body, &MessageLimits::default()) {
        Admission::Answer(answer) => refused(&answer),
        Admission::Prebuilt { .. } => "200".to_owned(),
        Admission::Open(_) => "open".to_owned(),
        Admission::Request(request) => request.unmet.as_ref().map_or("work".to_owned(), refused),
        Admission::Notification(_) => "notification".to_owned(),
        Admission::Response { .. } => "response".to_owned(),
        Admission::Ignored => "ignored".to_owned(),
        Admission::TokenRequired => "token required".to_owned(),
        Admission::Batch(items) => format!("batch of {}", items.len()),
    }
}

pub(super) fn server() -> Catalog<SerdeJson> {
    build(&definition()).expect("a catalogue")
}

#[track_caller]
pub(super) fn becomes(
    head: &TestHead,
    session: Option<Revision>,
    body: impl AsRef<str>,
    expected: &str,
) {
    let body = body.as_ref();
    assert_eq!(
        outcome_with(&server(), head, session, body),
        expected,
        "{body}"
    );
}

pub(super) const SESSION: Option<Revision> = Some(Revision::V2025_11_25);

pub(super) fn initialize() -> String {
    request(
        "initialize",
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}),
    )
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

// req: M20
#[test]
fn a_session_takes_the_name_of_any_version_of_its_era() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let head = post().with("mcp-protocol-version", version);
        becomes(&head, SESSION, request("tools/list", json!({})), "200");
        becomes(
            &head,
            SESSION,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "notification",
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

// req: M11
#[test]
fn notifications_belong_to_a_session_or_to_the_stateless_era() {
    for note in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[]}"#,
    ] {
        becomes(&post(), None, note, "400 -32600");
        becomes(&stateless("notifications/x"), None, note, "ignored");
    }
    becomes(
        &post().with("mcp-protocol-version", "2025-11-25"),
        None,
        r#"{"jsonrpc":"2.0","method":"initialize"}"#,
        "400 -32600",
    );
    let with_meta = json!({
        "jsonrpc": "2.0", "method": "notifications/x",
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}},
    });
    becomes(&post(), None, with_meta.to_string(), "ignored");
    becomes(
        &post(),
        SESSION,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown","params":[]}"#,
        "ignored",
    );
    becomes(
        &post(),
        SESSION,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "notification",
    );
    becomes(
        &post(),
        SESSION,
        r#"{"jsonrpc":"2.0","method":"notifications/unknown"}"#,
        "ignored",
    );
}

// req: M24
#[test]
fn answers_need_a_session_that_asked() {
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

// req: M9
#[test]
fn batches_over_http() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"}]"#;
    becomes(&post(), Some(Revision::V2025_03_26), batch, "batch of 2");
    becomes(&post(), SESSION, batch, "400 -32600");
    becomes(&post(), None, batch, "400 -32600");
    becomes(&stateless("ping"), None, batch, "400 -32600");
}

#[test]
fn errors_before_the_handler_carry_the_requests_id() {
    let accepted = post().accepted();
    let context = Context {
        session: None,
        http: Some(&accepted),
        anonymous: None,
    };
    let body = with_meta("tools/list", json!({}));
    let Admission::Answer(answer) = admit(
        &server(),
        context,
        body.as_bytes(),
        &MessageLimits::default(),
    ) else {
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
