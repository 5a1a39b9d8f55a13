//! Admission: every message becomes a finished answer or work, with the exact code and id.

mod messages;
mod methods;
mod opening;
mod state;
mod stateless;

use mcp_core::catalog::Catalog;
use mcp_core::protocol::{Admission, Context, MessageLimits, SessionContext, admit};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::catalog::{build, definition};

fn server() -> Catalog<SerdeJson> {
    build(&definition()).expect("a catalogue")
}

pub(crate) fn server_once() -> &'static Catalog<SerdeJson> {
    static SERVER: std::sync::OnceLock<Catalog<SerdeJson>> = std::sync::OnceLock::new();
    SERVER.get_or_init(server)
}

fn session(revision: Revision) -> Context<'static> {
    Context {
        session: Some(SessionContext { revision }),
        http: None,
        anonymous: None,
    }
}

const NO_SESSION: Context<'static> = Context {
    session: None,
    http: None,
    anonymous: None,
};

/// The finished answer, as JSON; panics where there is none.
fn answer(context: Context<'_>, message: impl AsRef<[u8]>) -> Value {
    let catalog = server();
    let bytes = match admit(
        &catalog,
        context,
        message.as_ref(),
        &MessageLimits::default(),
    ) {
        Admission::Answer(answer) => answer.body,
        Admission::Request(request) if request.unmet.is_some() => request.unmet.unwrap().body,
        Admission::Prebuilt { head, tail, .. } => [head.as_slice(), tail].concat(),
        Admission::Open(opening) => opening.answer.body,
        other => panic!("no answer but {other:?}"),
    };
    assert!(!bytes.contains(&b'\n'), "a message is one line");
    serde_json::from_slice(&bytes).expect("the answer is JSON")
}

fn status(context: Context<'_>, message: &Value) -> u16 {
    let catalog = server();
    let text = message.to_string();
    match admit(
        &catalog,
        context,
        text.as_bytes(),
        &MessageLimits::default(),
    ) {
        Admission::Answer(answer) => answer.status,
        other => panic!("no answer but {other:?}"),
    }
}

#[track_caller]
fn refuses(context: Context<'_>, message: &Value, code: i32) -> Value {
    let reply = answer(context, message.to_string());
    assert_eq!(reply["error"]["code"], code, "{message} gave {reply}");
    reply
}

fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn modern(method: &str, params: Value) -> Value {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    request(method, params)
}

fn work(context: Context<'_>, message: &Value) -> String {
    let catalog = server();
    let text = message.to_string();
    match admit(
        &catalog,
        context,
        text.as_bytes(),
        &MessageLimits::default(),
    ) {
        Admission::Request(request) => format!("{:?}", request.work),
        other => panic!("no work but {other:?}"),
    }
}

const SESSION: Revision = Revision::V2025_11_25;
