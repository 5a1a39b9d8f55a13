//! What each method asks for, once it is admitted.

use mcp_core::catalog::ReadTarget;
use mcp_core::jsonrpc::Id;
use mcp_core::protocol::{Admission, Context, ListenFilter, MessageLimits, Work, admit};
use serde_json::{Value, json};

use super::super::catalog::build;
use super::{NO_SESSION, SESSION, answer, modern, refuses, request, server, session, work};

#[test]
fn a_tool_call_carries_its_arguments_as_sent() {
    let message = request("tools/call", json!({"name": "add", "arguments": {"a": 1}}));
    assert!(work(session(SESSION), &message).starts_with("Tool { name: \"add\", index: 0"));
    let bare = request("tools/call", json!({"name": "add"}));
    assert!(work(session(SESSION), &bare).ends_with("arguments: None, task: None }"));
    for arguments in [json!([]), json!("x"), json!(1)] {
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
    refuses(NO_SESSION, &with(json!(1)), -32602);
    let catalog = server();
    let unsound = |input: Value| {
        let text = with(input).to_string();
        let limits = MessageLimits::default();
        match admit(&catalog, NO_SESSION, text.as_bytes(), &limits) {
            Admission::Request(request) => request.input.unsound,
            other => panic!("no request but {other:?}"),
        }
    };
    let filled = |content: Value| json!({"action": "accept", "content": content});
    let sampled = |content: Value| json!({"role": "assistant", "model": "m", "content": content});
    for response in [
        json!(5),
        json!(null),
        json!({}),
        json!({"action": "maybe"}),
        filled(json!([])),
        filled(json!({"name": {"a": 1}})),
        filled(json!({"names": ["Ada", 1]})),
        json!({"action": "accept", "content": {"name": {"a": 1}}, "roots": []}),
        json!({"role": "assistant", "model": "m", "content": [5], "roots": []}),
        json!({"action": "decline", "roots": [{"uri": 5}]}),
        json!({"roots": "x"}),
        json!({"roots": [5]}),
        json!({"roots": [{}]}),
        json!({"roots": [{"uri": 5}]}),
        json!({"roots": [{"uri": "file:///a", "name": 5}]}),
        sampled(json!("x")),
        sampled(json!({"text": "x"})),
        sampled(json!({"type": 5})),
        sampled(json!({"type": "text"})),
        sampled(json!({"type": "text", "text": 5})),
        sampled(json!({"type": "text", "text": {"a": 1}})),
        sampled(json!({"type": "image", "data": "x"})),
        sampled(json!({"type": "audio", "mimeType": "audio/ogg"})),
        sampled(json!({"type": "tool_use", "id": "1", "name": "map", "input": []})),
        sampled(json!({"type": "tool_result", "toolUseId": "1", "content": {}})),
        sampled(json!([{"type": "text", "text": "x"}, 5])),
    ] {
        let input = json!({"a": {"roots": []}, "k": response});
        assert_eq!(unsound(input), ["k"], "{response}");
    }
    for response in [
        json!({"action": "decline"}),
        json!({"action": "decline", "content": null}),
        filled(json!({"name": "Ada", "age": 5, "size": 1.5, "ok": true, "none": null})),
        filled(json!({"names": [], "more": ["Ada"]})),
        sampled(json!({"type": "text", "text": "x"})),
        sampled(json!({"type": "image", "data": "eA==", "mimeType": "image/png"})),
        sampled(json!({"type": "tool_use", "id": "1", "name": "map", "input": {}})),
        sampled(json!([{"type": "tool_result", "toolUseId": "1", "content": []}])),
        sampled(json!({"type": "of a later revision"})),
        json!({"roots": []}),
        json!({"roots": [{"uri": "file:///a"}, {"uri": "file:///b", "name": "B"}]}),
        json!({"roots": [{"uri": "file:///a", "name": null}]}),
    ] {
        let none: [&str; 0] = [];
        assert_eq!(unsound(json!({"k": response})), none, "{response}");
    }
    work(NO_SESSION, &with(json!({})));
    let escaped = with(json!({"k": sampled(json!({"type": "text", "text": 5}))})).to_string();
    let escaped = escaped.replace(r#""type":"text""#, r#""type":"te\u0078t""#);
    match admit(
        &catalog,
        NO_SESSION,
        escaped.as_bytes(),
        &MessageLimits::default(),
    ) {
        Admission::Request(request) => assert_eq!(request.input.unsound, ["k"]),
        other => panic!("no request but {other:?}"),
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
    for token in [json!(1.5), json!({}), json!(true)] {
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

/// What a message asks for, without the room that its text leaves.
fn asked(context: Context<'_>, message: &Value) -> String {
    let text = message.to_string();
    match admit(
        &server(),
        context,
        text.as_bytes(),
        &MessageLimits::default(),
    ) {
        Admission::Request(request) => format!("{:?} {:?}", request.work, request.input),
        other => format!("{other:?}"),
    }
}

#[test]
fn null_is_an_absent_member() {
    let add = json!({"name": "add"});
    let listen = |filter: Value| json!({"notifications": filter});
    for (method, null, absent) in [
        (
            "tools/call",
            json!({"name": "add", "arguments": null}),
            &add,
        ),
        ("tools/call", json!({"name": "add", "task": null}), &add),
        (
            "tools/call",
            json!({"name": "add", "inputResponses": null}),
            &add,
        ),
        (
            "tools/call",
            json!({"name": "add", "requestState": null}),
            &add,
        ),
        ("tools/list", json!({"cursor": null}), &json!({})),
        (
            "subscriptions/listen",
            listen(json!({"promptsListChanged": null})),
            &listen(json!({})),
        ),
        (
            "subscriptions/listen",
            listen(json!({"resourceSubscriptions": null})),
            &listen(json!({})),
        ),
        (
            "subscriptions/listen",
            listen(json!({"taskIds": null})),
            &listen(json!({})),
        ),
    ] {
        assert_eq!(
            asked(session(SESSION), &request(method, null.clone())),
            asked(session(SESSION), &request(method, absent.clone())),
            "{method} {null}"
        );
        assert_eq!(
            asked(NO_SESSION, &modern(method, null.clone())),
            asked(NO_SESSION, &modern(method, absent.clone())),
            "{method} {null}"
        );
    }
    let message = request("tools/list", json!({"_meta": null}));
    assert_eq!(answer(session(SESSION), message.to_string())["id"], 1);
    let token = json!({"name": "add", "_meta": {"progressToken": null}});
    assert!(work(session(SESSION), &request("tools/call", token)).starts_with("Tool"));
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = json!(null);
    message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!(null);
    assert!(answer(NO_SESSION, message.to_string())["result"].is_object());
}

#[test]
fn what_is_required_cannot_be_null() {
    for message in [
        request("tools/call", json!({"name": null})),
        request("resources/read", json!({"uri": null})),
        request("logging/setLevel", json!({"level": null})),
        request(
            "completion/complete",
            json!({"ref": null, "argument": {"name": "a", "value": ""}}),
        ),
    ] {
        refuses(session(SESSION), &message, -32602);
    }
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!(null);
    refuses(NO_SESSION, &message, -32602);
}
