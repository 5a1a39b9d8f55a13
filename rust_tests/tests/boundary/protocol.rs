//! Admission: every message becomes a finished answer or work, with the exact code and id.

use mcp_core::catalog::{Catalog, ReadTarget};
use mcp_core::jsonrpc::Id;
use mcp_core::protocol::{
    Admission, Context, ListenFilter, MessageLimits, Notification, SessionContext, Work, admit,
};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::catalog::{build, definition};

fn server() -> Catalog<SerdeJson> {
    build(&definition()).expect("a catalogue")
}

fn session(revision: Revision) -> Context<'static> {
    Context {
        session: Some(SessionContext { revision }),
        http: None,
    }
}

const NO_SESSION: Context<'static> = Context {
    session: None,
    http: None,
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
        Admission::Prebuilt { head, tail } => [head.as_slice(), tail].concat(),
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

// req: M1
#[test]
fn what_is_not_json_is_a_parse_error_without_id() {
    for bytes in [
        &b""[..],
        b"{",
        b"NaN",
        b"{\"a\":1e400}",
        b"\xff\xfe",
        b"\xef\xbb\xbf{}",
        b"{} {}",
    ] {
        let reply = answer(session(SESSION), bytes);
        assert_eq!(reply["error"]["code"], -32700, "{bytes:?}");
        assert_eq!(reply.get("id"), None, "{bytes:?}");
        let older = answer(session(Revision::V2025_06_18), bytes);
        assert_eq!(
            older.get("id"),
            Some(&Value::Null),
            "RES-09: null before 2025-11-25"
        );
    }
}

// req: M2
#[test]
fn depth_128_is_read_and_129_refused() {
    let nested = |levels: usize| {
        // The message and params are two levels already.
        let value = format!("{}{}", "[".repeat(levels - 2), "]".repeat(levels - 2));
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"x":{value}}}}}"#)
    };
    assert_eq!(answer(session(SESSION), nested(128))["id"], 1);
    assert_eq!(
        answer(session(SESSION), nested(129))["error"]["code"],
        -32700
    );
    assert_eq!(
        answer(session(SESSION), "[".repeat(100_000))["error"]["code"],
        -32700
    );
}

// req: M5
#[test]
fn ids_are_echoed_exactly() {
    for id in [
        "0",
        "-5",
        "\"\"",
        "9007199254740993",
        "-9223372036854775808",
        "18446744073709551615",
        "\"\\u0000é\"",
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let reply = answer(session(SESSION), &message);
        let sent: Value = serde_json::from_str(id).expect("JSON");
        assert_eq!(reply["id"], sent);
    }
}

// req: M9
#[test]
fn batches_exist_only_in_2025_03_26() {
    let one = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let batch = |count: usize| format!("[{}]", vec![one; count].join(","));
    for revision in Revision::ALL {
        if revision != Revision::V2025_03_26 {
            assert_eq!(answer(session(revision), batch(1))["error"]["code"], -32600);
        }
    }
    let context = session(Revision::V2025_03_26);
    let catalog = server();
    let text = batch(50);
    let Admission::Batch(items) = admit(
        &catalog,
        context,
        text.as_bytes(),
        &MessageLimits::default(),
    ) else {
        panic!("50 messages are a batch");
    };
    assert_eq!(items.len(), 50);
    assert!(
        items
            .iter()
            .all(|item| matches!(item, Admission::Prebuilt { .. }))
    );
    assert_eq!(answer(context, batch(51))["error"]["code"], -32600);
    assert_eq!(answer(context, "[]")["error"]["code"], -32600);
    let Admission::Batch(items) = admit(&catalog, context, b"[1]", &MessageLimits::default())
    else {
        panic!("a batch");
    };
    assert!(matches!(items.as_slice(), [Admission::Answer(_)]));
}

// req: M9
#[test]
fn one_bad_message_of_a_batch_does_not_refuse_the_others() {
    let catalog = server();
    let text = br#"[{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#;
    let context = session(Revision::V2025_03_26);
    let Admission::Batch(items) = admit(&catalog, context, text, &MessageLimits::default()) else {
        panic!("a batch");
    };
    assert!(matches!(
        items.as_slice(),
        [Admission::Answer(_), Admission::Prebuilt { .. }]
    ));
}

// req: S4-56
#[test]
fn a_notification_is_never_answered() {
    let catalog = server();
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":7}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"add"}}"#,
    ] {
        let admission = admit(
            &catalog,
            session(SESSION),
            message.as_bytes(),
            &MessageLimits::default(),
        );
        assert_eq!(admission, Admission::Ignored, "{message}");
    }
}

// req: M10
#[test]
fn an_unknown_method_is_404_only_in_the_stateless_era() {
    assert_eq!(
        status(session(SESSION), &request("no/such", json!({}))),
        200
    );
    assert_eq!(status(NO_SESSION, &modern("no/such", json!({}))), 404);
    refuses(NO_SESSION, &modern("no/such", json!({})), -32601);
}

// req: M11
#[test]
fn an_unknown_notification_is_ignored() {
    let catalog = server();
    for message in [
        r#"{"jsonrpc":"2.0","method":"notifications/nothing"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":{}}}"#,
    ] {
        let admission = admit(
            &catalog,
            session(SESSION),
            message.as_bytes(),
            &MessageLimits::default(),
        );
        assert_eq!(admission, Admission::Ignored, "{message}");
    }
    let cancelled = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"late"}}"#;
    assert_eq!(
        admit(
            &catalog,
            session(SESSION),
            cancelled,
            &MessageLimits::default()
        ),
        Admission::Notification(Notification::Cancelled {
            id: Id::Number(7),
            reason: Some("late".to_owned())
        })
    );
}

// req: M15
#[test]
fn unknown_tools_and_prompts_are_named() {
    let reply = refuses(
        session(SESSION),
        &request("tools/call", json!({"name": "sub"})),
        -32602,
    );
    assert_eq!(reply["error"]["message"], "Tool 'sub' not found");
    let reply = refuses(
        session(SESSION),
        &request("prompts/get", json!({"name": "x"})),
        -32602,
    );
    assert_eq!(reply["error"]["message"], "Prompt 'x' not found");
    assert_eq!(
        status(
            session(SESSION),
            &request("tools/call", json!({"name": "sub"}))
        ),
        200
    );
}

// req: M17, RES-52
#[test]
fn an_unknown_resource_has_the_code_of_its_revision() {
    let ask = json!({"uri": "file:///none"});
    for revision in [Revision::V2024_11_05, Revision::V2025_11_25] {
        let reply = refuses(
            session(revision),
            &request("resources/read", ask.clone()),
            -32002,
        );
        assert_eq!(reply["error"]["data"], json!({"uri": "file:///none"}));
    }
    let reply = refuses(NO_SESSION, &modern("resources/read", ask), -32602);
    assert_eq!(reply["error"]["data"], json!({"uri": "file:///none"}));
}

// req: M20
#[test]
fn an_unsupported_stateless_version_lists_what_is_supported() {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
    let reply = refuses(NO_SESSION, &message, -32022);
    assert_eq!(
        reply["error"]["data"],
        json!({"supported": ["2026-07-28"], "requested": "v999.0.0"})
    );
}

// req: M22
#[test]
fn a_stateless_request_carries_version_and_capabilities() {
    refuses(NO_SESSION, &request("server/discover", json!({})), -32602);
    refuses(
        NO_SESSION,
        &json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}),
        -32602,
    );
    let without = |member: &str| {
        let mut message = modern("server/discover", json!({}));
        message["params"]["_meta"]
            .as_object_mut()
            .expect("an object")
            .remove(member);
        message
    };
    refuses(
        NO_SESSION,
        &without("io.modelcontextprotocol/protocolVersion"),
        -32602,
    );
    refuses(
        NO_SESSION,
        &without("io.modelcontextprotocol/clientCapabilities"),
        -32602,
    );
    let mut wrong = modern("server/discover", json!({}));
    wrong["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = json!({"name": "x"});
    refuses(NO_SESSION, &wrong, -32602);
    let mut wrong = modern("server/discover", json!({}));
    wrong["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!("loud");
    refuses(NO_SESSION, &wrong, -32602);

    let reply = answer(NO_SESSION, modern("server/discover", json!({})).to_string());
    assert_eq!(reply["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(reply["result"]["resultType"], "complete");
    assert_eq!(reply["result"]["ttlMs"], 60_000);
}

#[test]
fn what_a_client_says_of_itself_is_bounded() {
    let limits = MessageLimits {
        max_meta_bytes: 300,
        ..MessageLimits::default()
    };
    let catalog = server();
    let refusal = |context, message: &Value| match admit(
        &catalog,
        context,
        message.to_string().as_bytes(),
        &limits,
    ) {
        Admission::Answer(answer) => {
            let reply: Value = serde_json::from_slice(&answer.body).expect("the answer is JSON");
            assert_eq!(reply["error"]["code"], -32602);
            assert_eq!(answer.status, 400);
            reply["error"]["message"].as_str().map(str::to_owned)
        }
        _admitted => None,
    };
    // An object of so many bytes that begins with these members.
    let filled = |mut object: Value, bytes: usize| {
        object["x"] = json!("");
        let empty = object.to_string().len();
        object["x"] = json!("x".repeat(bytes - empty));
        object
    };
    let too_long = |name: &str| Some(format!("Invalid params: {name} is longer than 300 bytes"));

    for (context, mut message) in [
        (NO_SESSION, modern("tools/list", json!({}))),
        (
            NO_SESSION,
            modern("subscriptions/listen", json!({"notifications": {}})),
        ),
        (
            session(SESSION),
            request("tools/list", json!({"_meta": {}})),
        ),
        (session(SESSION), request("ping", json!({"_meta": {}}))),
    ] {
        let meta = message["params"]["_meta"].take();
        message["params"]["_meta"] = filled(meta.clone(), 300);
        assert_eq!(refusal(context, &message), None);
        message["params"]["_meta"] = filled(meta, 301);
        assert_eq!(refusal(context, &message), too_long("_meta"));
    }

    let info = json!({"name": "c", "version": "1"});
    for name in ["capabilities", "clientInfo", "_meta"] {
        let ask = |bytes| {
            let mut message = request(
                "initialize",
                json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}),
            );
            message["params"][name] = filled(info.clone(), bytes);
            message
        };
        assert_eq!(refusal(NO_SESSION, &ask(300)), None);
        assert_eq!(refusal(NO_SESSION, &ask(301)), too_long(name));
    }
}

// req: M23
#[test]
fn methods_that_2026_07_28_removed_are_not_found() {
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        refuses(NO_SESSION, &modern(method, json!({})), -32601);
        assert_eq!(status(session(SESSION), &modern(method, json!({}))), 404);
    }
    refuses(
        session(SESSION),
        &request("server/discover", json!({})),
        -32601,
    );
}

#[test]
fn a_tool_call_carries_its_arguments_as_sent() {
    let message = request("tools/call", json!({"name": "add", "arguments": {"a": 1}}));
    assert!(work(session(SESSION), &message).starts_with("Tool { name: \"add\", index: 0"));
    let bare = request("tools/call", json!({"name": "add"}));
    assert!(work(session(SESSION), &bare).ends_with("arguments: None, task: None }"));
    for arguments in [json!([]), json!(null), json!("x"), json!(1)] {
        let message = request("tools/call", json!({"name": "add", "arguments": arguments}));
        refuses(session(SESSION), &message, -32602);
    }
    refuses(session(SESSION), &request("tools/call", json!({})), -32602);
    refuses(
        session(SESSION),
        &request("tools/call", json!({"name": 3})),
        -32602,
    );
}

#[test]
fn a_tool_that_needs_a_capability_is_not_called_without_it() {
    let reply = refuses(
        NO_SESSION,
        &modern("tools/call", json!({"name": "ask"})),
        -32021,
    );
    assert_eq!(
        reply["error"]["data"],
        json!({"requiredCapabilities": {"sampling": {}}})
    );
    let mut message = modern("tools/call", json!({"name": "ask"}));
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"sampling": {}});
    assert!(work(NO_SESSION, &message).starts_with("Tool { name: \"ask\", index: 1"));
}

#[test]
fn input_responses_must_be_answers() {
    let with = |input: Value| {
        let mut message = modern("tools/call", json!({"name": "add"}));
        message["params"]["inputResponses"] = input;
        message
    };
    for input in [
        json!(1),
        json!(null),
        json!({"k": 5}),
        json!({"k": null}),
        json!({"k": {}}),
        json!({"k": {"action": "maybe"}}),
    ] {
        refuses(NO_SESSION, &with(input), -32602);
    }
    for input in [
        json!({}),
        json!({"k": {"action": "accept", "content": {"name": "Ada"}}}),
        json!({"k": {"role": "assistant", "model": "m", "content": {"type": "text", "text": "x"}}}),
        json!({"k": {"roots": []}}),
    ] {
        work(NO_SESSION, &with(input));
    }
    let mut message = modern("tools/call", json!({"name": "add"}));
    message["params"]["requestState"] = json!(7);
    refuses(NO_SESSION, &message, -32602);
}

#[test]
fn prompts_get_checks_arguments_against_the_declaration() {
    let get = |arguments: Value| {
        request(
            "prompts/get",
            json!({"name": "greet", "arguments": arguments}),
        )
    };
    assert!(work(session(SESSION), &get(json!({"who": "Ada"}))).starts_with("Prompt {"));
    let reply = refuses(session(SESSION), &get(json!({})), -32602);
    assert_eq!(
        reply["error"]["message"],
        "Invalid params: prompt 'greet' needs the arguments: who"
    );
    refuses(session(SESSION), &get(json!({"who": 7})), -32602);
}

// req: S4-78
#[test]
fn completion_needs_a_declared_argument() {
    let complete = |reference: Value, name: &str| {
        request(
            "completion/complete",
            json!({"ref": reference, "argument": {"name": name, "value": "A"}}),
        )
    };
    let prompt = json!({"type": "ref/prompt", "name": "greet"});
    assert!(work(session(SESSION), &complete(prompt.clone(), "who")).starts_with("CompletePrompt"));
    let reply = refuses(session(SESSION), &complete(prompt, "whom"), -32602);
    assert_eq!(reply["error"]["message"], "Argument 'whom' not found");

    let template = json!({"type": "ref/resource", "uri": "users://{id}/profile"});
    let reply = answer(
        session(SESSION),
        complete(template.clone(), "id").to_string(),
    );
    assert_eq!(
        reply["result"],
        json!({"completion": {"values": [], "total": 0, "hasMore": false}}),
        "the template completes nothing"
    );
    refuses(session(SESSION), &complete(template, "other"), -32602);
    refuses(
        session(SESSION),
        &complete(json!({"type": "ref/resource", "uri": "x://y"}), "id"),
        -32602,
    );
    refuses(
        session(SESSION),
        &complete(json!({"type": "ref/tool", "name": "add"}), "a"),
        -32602,
    );
}

#[test]
fn listen_honours_what_the_server_has() {
    let catalog = server();
    let text = modern(
        "subscriptions/listen",
        json!({"notifications": {
            "toolsListChanged": true, "promptsListChanged": false,
            "resourceSubscriptions": ["file:///config.json", "file:///none", "users://1/profile"],
        }}),
    )
    .to_string();
    let Admission::Request(request) = admit(
        &catalog,
        NO_SESSION,
        text.as_bytes(),
        &MessageLimits::default(),
    ) else {
        panic!("a request");
    };
    assert_eq!(
        request.work,
        Work::Listen {
            filter: ListenFilter {
                tools: true,
                prompts: false,
                resources: false,
                uris: vec![
                    "file:///config.json".to_owned(),
                    "users://1/profile".to_owned()
                ],
            }
        }
    );
    for filter in [
        json!({"toolsListChanged": 1}),
        json!({"resourceSubscriptions": "x"}),
        json!({"resourceSubscriptions": [1]}),
        json!(7),
    ] {
        refuses(
            NO_SESSION,
            &modern("subscriptions/listen", json!({"notifications": filter})),
            -32602,
        );
    }
    refuses(
        NO_SESSION,
        &modern("subscriptions/listen", json!({})),
        -32602,
    );
}

#[test]
fn reading_finds_statics_and_templates() {
    let catalog = server();
    let text = request("resources/read", json!({"uri": "users://7/profile"})).to_string();
    let Admission::Request(request) = admit(
        &catalog,
        session(SESSION),
        text.as_bytes(),
        &MessageLimits::default(),
    ) else {
        panic!("a request");
    };
    let Work::Read { target, .. } = request.work else {
        panic!("a read")
    };
    assert_eq!(
        target,
        ReadTarget::Template {
            index: 0,
            variables: vec![("id".to_owned(), "7".to_owned())]
        }
    );
}

#[test]
fn uris_end_at_8_kib() {
    let ask = |bytes: usize| {
        let uri = format!("file:///{}", "x".repeat(bytes - 8));
        request("resources/read", json!({"uri": uri}))
    };
    refuses(session(SESSION), &ask(8 * 1024), -32002);
    refuses(session(SESSION), &ask(8 * 1024 + 1), -32602);
}

#[test]
fn methods_of_a_capability_the_server_lacks_are_not_found() {
    let catalog =
        build(&json!({"server": {"info": {"name": "n", "version": "1"}}})).expect("a catalogue");
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
    ] {
        let text = modern(method, json!({})).to_string();
        let Admission::Answer(answer) = admit(
            &catalog,
            NO_SESSION,
            text.as_bytes(),
            &MessageLimits::default(),
        ) else {
            panic!("{method} is answered");
        };
        let reply: Value = serde_json::from_slice(&answer.body).expect("JSON");
        assert_eq!(reply["error"]["code"], -32601, "{method}");
    }
}

#[test]
fn progress_tokens_are_strings_or_integers() {
    let call = |token: Value| {
        request(
            "tools/call",
            json!({"name": "add", "_meta": {"progressToken": token}}),
        )
    };
    work(session(SESSION), &call(json!("t")));
    work(session(SESSION), &call(json!(7)));
    for token in [json!(1.5), json!(null), json!({}), json!(true)] {
        refuses(session(SESSION), &call(token), -32602);
    }
    refuses(
        session(SESSION),
        &request("tools/call", json!({"name": "add", "_meta": 7})),
        -32602,
    );
}

#[test]
fn the_clients_answers_are_passed_on() {
    let catalog = server();
    let ok = br#"{"jsonrpc":"2.0","id":"s-1","result":{"roots":[]}}"#;
    assert_eq!(
        admit(&catalog, session(SESSION), ok, &MessageLimits::default()),
        Admission::Response {
            id: Id::Text("s-1".to_owned()),
            outcome: Ok(br#"{"roots":[]}"#)
        }
    );
    let none = br#"{"jsonrpc":"2.0","id":4,"result":{"action":"maybe"}}"#;
    assert!(matches!(
        admit(&catalog, session(SESSION), none, &MessageLimits::default()),
        Admission::Response {
            id: Id::Number(4),
            outcome: Err(_)
        }
    ));
    let error = br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#;
    assert_eq!(
        admit(&catalog, session(SESSION), error, &MessageLimits::default()),
        Admission::Response {
            id: Id::Number(3),
            outcome: Err(br#"{"code":-1,"message":"no"}"#)
        }
    );
}

proptest::proptest! {
    // req: SEC-10
    #[test]
    fn no_bytes_make_admission_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
        let catalog = server_once();
        let _ = admit(catalog, session(SESSION), &bytes, &MessageLimits::default());
    }

    // req: SEC-10
    #[test]
    fn no_params_make_admission_panic(
        method in "[a-z]{1,10}/[a-zA-Z]{1,12}|tools/call|prompts/get|completion/complete|subscriptions/listen",
        params in "[\\[{\"a-z:,0-9\\]}]{0,40}",
    ) {
        let catalog = server_once();
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        for context in [NO_SESSION, session(SESSION)] {
            let _ = admit(catalog, context, text.as_bytes(), &MessageLimits::default());
        }
    }
}

pub(crate) fn server_once() -> &'static Catalog<SerdeJson> {
    static SERVER: std::sync::OnceLock<Catalog<SerdeJson>> = std::sync::OnceLock::new();
    SERVER.get_or_init(server)
}
