//! Which calls become tasks, and what a client may do with a task.

use mcp_core::catalog::Catalog;
use mcp_core::protocol::{
    Admission, Answer, Context, MessageLimits, SessionContext, TaskRequest, TaskVerb, Work, admit,
};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::catalog::{build, definition};

const SESSION: Revision = Revision::V2025_11_25;

/// The usual server, whose first tools support tasks so.
fn server(support: &[&str]) -> Catalog<SerdeJson> {
    let mut definition = definition();
    for (tool, support) in support.iter().enumerate() {
        definition["tools"][tool]["execution"] = json!({ "taskSupport": support });
    }
    build(&definition).expect("a catalogue")
}

fn in_session(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

fn stateless(method: &str, params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    in_session(method, &params)
}

/// The code of the refusal, or what is asked for.
fn outcome(
    server: &Catalog<SerdeJson>,
    revision: Revision,
    message: &Value,
) -> Result<String, i64> {
    let session = (revision <= Revision::NEWEST_SESSION).then_some(SessionContext { revision });
    let context = Context {
        session,
        http: None,
        anonymous: None,
    };
    let text = message.to_string();
    let refused = |answer: Answer| {
        let reply: Value = serde_json::from_slice(&answer.body).expect("JSON");
        Err(reply["error"]["code"].as_i64().expect("an error"))
    };
    match admit(server, context, text.as_bytes(), &MessageLimits::default()) {
        Admission::Request(request) => match (request.unmet, request.work) {
            (Some(answer), _) => refused(answer),
            (None, Work::Tool { task, .. }) => Ok(format!("{task:?}")),
            (None, other) => Ok(format!("{other:?}")),
        },
        Admission::Answer(answer) => refused(answer),
        other => panic!("neither work nor an answer: {other:?}"),
    }
}

fn add(task: Option<Value>) -> Value {
    let mut params = json!({"name": "add", "arguments": {"a": 1, "b": 2}});
    if let Some(task) = task {
        params["task"] = task;
    }
    params
}

#[test]
fn a_session_s_call_is_a_task_when_it_asks_and_the_tool_allows() {
    let wish = |ttl| Ok(format!("{:?}", Some(TaskRequest { ttl })));
    let plain = Ok("None".to_owned());
    for (support, task, expected) in [
        ("optional", Some(json!({})), wish(None)),
        ("optional", Some(json!({"ttl": 0})), wish(Some(0))),
        ("optional", Some(json!({"ttl": 60_000})), wish(Some(60_000))),
        ("required", Some(json!({})), wish(None)),
        ("optional", Some(json!({"ttl": null})), wish(None)),
        ("optional", None, plain.clone()),
        ("optional", Some(json!(null)), plain.clone()),
        ("forbidden", None, plain),
        ("required", None, Err(-32601)),
        ("forbidden", Some(json!({})), Err(-32601)),
        ("optional", Some(json!({"ttl": -1})), Err(-32602)),
        ("optional", Some(json!({"ttl": 1.5})), Err(-32602)),
        ("optional", Some(json!([])), Err(-32602)),
    ] {
        let message = in_session("tools/call", &add(task.clone()));
        let got = outcome(&server(&[support]), SESSION, &message);
        assert_eq!(got, expected, "{support} {task:?}");
    }
}

#[test]
fn older_sessions_know_no_tasks() {
    let server = server(&["required"]);
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        let message = in_session("tools/call", &add(Some(json!(1))));
        assert_eq!(outcome(&server, revision, &message), Ok("None".to_owned()));
        let message = in_session("tasks/get", &json!({"taskId": "t"}));
        assert_eq!(outcome(&server, revision, &message), Err(-32601));
    }
}

#[test]
fn a_stateless_call_is_a_task_for_clients_that_declare_the_extension() {
    let declared = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let wish = Ok(format!("{:?}", Some(TaskRequest { ttl: None })));
    let plain = Ok("None".to_owned());
    for (support, capabilities, expected) in [
        ("optional", &declared, wish.clone()),
        ("required", &declared, wish),
        ("forbidden", &declared, plain.clone()),
        ("optional", &json!({}), plain.clone()),
        ("optional", &json!({"extensions": {"x/y": {}}}), plain),
        ("required", &json!({"extensions": {}}), Err(-32021)),
    ] {
        let message = stateless("tools/call", &add(Some(json!("ignored"))), capabilities);
        let got = outcome(&server(&[support]), Revision::NEWEST, &message);
        assert_eq!(got, expected, "{support} {capabilities}");
    }
}

#[test]
fn what_a_client_may_do_with_a_task() {
    let server = server(&["optional"]);
    let declared = json!({"extensions": {"io.modelcontextprotocol/tasks": {}}});
    let work = |verb, unsound: &[&str]| {
        let id = "t".into();
        let unsound = unsound.iter().map(ToString::to_string).collect();
        Ok(format!("{:?}", Work::Task { verb, id, unsound }))
    };
    let params = json!({"taskId": "t", "inputResponses": {"a": {"action": "cancel"}, "b": 1}});
    for (verb, in_a_session, in_none) in [
        ("get", work(TaskVerb::Get, &[]), work(TaskVerb::Get, &[])),
        (
            "cancel",
            work(TaskVerb::Cancel, &[]),
            work(TaskVerb::Cancel, &[]),
        ),
        ("result", work(TaskVerb::Result, &[]), Err(-32601)),
        ("update", Err(-32601), work(TaskVerb::Update, &["b"])),
        ("list", Ok("ListTasks".to_owned()), Err(-32601)),
    ] {
        let method = format!("tasks/{verb}");
        let message = in_session(&method, &params);
        assert_eq!(outcome(&server, SESSION, &message), in_a_session, "{verb}");
        let message = stateless(&method, &params, &declared);
        assert_eq!(
            outcome(&server, Revision::NEWEST, &message),
            in_none,
            "{verb}"
        );
        let message = stateless(&method, &params, &json!({}));
        let undeclared = in_none.map_or_else(Err, |_| Err(-32021));
        assert_eq!(
            outcome(&server, Revision::NEWEST, &message),
            undeclared,
            "{verb}"
        );
    }
}

#[test]
fn a_task_s_id_is_a_string_of_at_most_256_bytes() {
    let server = server(&["optional"]);
    let get = |id: Value| {
        let message = in_session("tasks/get", &json!({ "taskId": id }));
        outcome(&server, SESSION, &message).map(|_| ())
    };
    assert_eq!(get(json!("x".repeat(256))), Ok(()));
    assert_eq!(get(json!("x".repeat(257))), Err(-32602));
    assert_eq!(get(json!(1)), Err(-32602));
    assert_eq!(get(json!(null)), Err(-32602));
}

#[test]
fn without_such_a_tool_there_are_no_tasks() {
    let message = in_session("tasks/get", &json!({"taskId": "t"}));
    assert_eq!(
        outcome(&server(&["forbidden"]), SESSION, &message),
        Err(-32601)
    );
}
