//! What clients may do without a token, where the endpoint lets them in.

use mcp_core::catalog::Catalog;
use mcp_core::protocol::{
    Admission, Anonymous, Context, Hidden, MessageLimits, SessionContext, admit,
};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::admission::{SESSION, initialize, outcome, request, with_meta};
use super::head::{post, stateless};
use crate::catalog::{build, definition};

/// `add`, the prompt, the resource and the template are public; `ask` is not, and `hidden` and `shown` are not there for
/// everybody.
fn server() -> Catalog<SerdeJson> {
    let mut definition = definition();
    let tool = |name| json!({"name": name, "inputSchema": {"type": "object"}});
    definition["tools"] = json!([
        definition["tools"][0],
        tool("ask"),
        tool("hidden"),
        tool("shown")
    ]);
    definition["toolRules"] = json!([{}, {}, {}, {}]);
    definition["rules"] = json!({"tools": [null, null, 0, 1]});
    definition["public"] = json!({
        "tools": [true, false, false, true],
        "prompts": [true],
        "resources": [true],
        "resourceTemplates": [true],
    });
    build(&definition).expect("a catalogue")
}

fn in_session(anonymous: Anonymous, method: &str, params: Value) -> String {
    let accepted = post().accepted();
    let context = Context {
        session: SESSION.map(|revision| SessionContext { revision }),
        http: Some(&accepted),
        anonymous: Some(anonymous),
    };
    outcome(&server(), context, request(method, params).as_bytes())
}

#[test]
fn what_there_is_may_be_found_out() {
    for anonymous in [Anonymous::Discovery, Anonymous::All] {
        let accepted = post().accepted();
        let context = Context {
            session: None,
            http: Some(&accepted),
            anonymous: Some(anonymous),
        };
        assert_eq!(outcome(&server(), context, initialize().as_bytes()), "open");
        for method in [
            "ping",
            "prompts/list",
            "resources/list",
            "resources/templates/list",
        ] {
            assert_eq!(in_session(anonymous, method, json!({})), "200", "{method}");
        }
        assert_eq!(in_session(anonymous, "tools/list", json!({})), "work");
        assert_eq!(in_session(anonymous, "no/such", json!({})), "200 -32601");
        let accepted = stateless("server/discover").accepted();
        let context = Context {
            session: None,
            http: Some(&accepted),
            anonymous: Some(anonymous),
        };
        let discover = with_meta("server/discover", json!({}));
        assert_eq!(outcome(&server(), context, discover.as_bytes()), "200");
    }
}

#[test]
fn only_what_is_public_may_be_used() {
    let public = [
        ("tools/call", json!({"name": "add", "arguments": {"a": 1}})),
        (
            "prompts/get",
            json!({"name": "greet", "arguments": {"who": "a"}}),
        ),
        ("tools/call", json!({"name": "shown"})),
        ("resources/read", json!({"uri": "file:///config.json"})),
        ("resources/read", json!({"uri": "users://7/profile"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "who", "value": ""}}),
        ),
    ];
    for (method, params) in public {
        let discovery = in_session(Anonymous::Discovery, method, params.clone());
        assert_eq!(discovery, "token required", "{method}");
        assert_eq!(in_session(Anonymous::All, method, params), "work");
    }
    // Who has begun a task may follow it; this server has none.
    let task = |anonymous| in_session(anonymous, "tasks/get", json!({"taskId": "7"}));
    assert_eq!(task(Anonymous::Discovery), "token required");
    assert_eq!(task(Anonymous::All), "200 -32601");
    let wrong = json!({"name": "add", "arguments": {"a": "x"}});
    assert_ne!(
        in_session(Anonymous::All, "tools/call", wrong),
        "token required"
    );
}

#[test]
fn what_is_hidden_when_it_is_used_is_answered_as_what_does_not_exist() {
    let accepted = post().accepted();
    let hidden = |anonymous| {
        let context = Context {
            session: SESSION.map(|revision| SessionContext { revision }),
            http: Some(&accepted),
            anonymous,
        };
        let body = request("tools/call", json!({"name": "shown"}));
        let catalog = server();
        match admit(
            &catalog,
            context,
            body.as_bytes(),
            &MessageLimits::default(),
        ) {
            Admission::Request(request) => match request.hidden {
                Some(Hidden::Answer(answer) | Hidden::Token(answer)) => {
                    (answer.status, String::from_utf8(answer.body))
                }
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    };
    let unauthorized = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Unauthorized"}}"#;
    assert_eq!(
        hidden(Some(Anonymous::All)),
        (401, Ok(unauthorized.to_owned()))
    );
    assert_eq!(hidden(None).0, 200);
}

#[test]
fn in_a_batch_what_may_be_hidden_needs_a_token_at_once() {
    let accepted = post().accepted();
    let became = |anonymous, names: &[&str]| {
        let context = Context {
            session: Some(SessionContext {
                revision: Revision::V2025_03_26,
            }),
            http: Some(&accepted),
            anonymous,
        };
        let call = |name| request("tools/call", json!({"name": name}));
        let body = format!("[{}]", names.iter().map(call).collect::<Vec<_>>().join(","));
        let catalog = server();
        match admit(
            &catalog,
            context,
            body.as_bytes(),
            &MessageLimits::default(),
        ) {
            Admission::Batch(items) => items
                .iter()
                .map(|item| *item == Admission::TokenRequired)
                .collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        }
    };
    let anonymous = Some(Anonymous::All);
    assert_eq!(became(anonymous, &["shown", "add"]), [true, false]);
    assert_eq!(became(anonymous, &["unknown", "add"]), [true, false]);
    assert_eq!(became(None, &["shown", "unknown"]), [false, false]);
}

#[test]
fn anything_else_needs_a_token_whatever_is_wrong_with_it() {
    for (method, params) in [
        ("tools/call", json!({"name": "ask"})),
        ("tools/call", json!({"name": "ask", "arguments": 7})),
        ("tools/call", json!({"name": "hidden"})),
        ("tools/call", json!({"name": "unknown"})),
        ("tools/call", json!({})),
        ("prompts/get", json!({"name": "unknown"})),
        ("resources/read", json!({"uri": "file:///other"})),
        ("resources/subscribe", json!({"uri": "file:///config.json"})),
        ("logging/setLevel", json!({"level": "debug"})),
    ] {
        let became = in_session(Anonymous::Discovery, method, params.clone());
        assert_eq!(became, "token required", "{method} {params}");
        // `shown` is public and hidden from some. A request for it takes a place and a check first,
        // and so does one for the name of any other tool.
        let like_hidden = method == "tools/call" && params.get("name").is_some();
        let became = in_session(Anonymous::All, method, params.clone());
        assert_eq!(became != "token required", like_hidden, "{method} {params}");
    }
}

#[test]
fn a_tool_that_needs_a_token_is_answered_like_a_public_one_that_is_hidden() {
    for name in ["ask", "hidden", "unknown", "shown"] {
        for arguments in [json!({}), json!(7)] {
            let accepted = post().accepted();
            let context = Context {
                session: SESSION.map(|revision| SessionContext { revision }),
                http: Some(&accepted),
                anonymous: Some(Anonymous::All),
            };
            let params = json!({"name": name, "arguments": arguments});
            let body = request("tools/call", params);
            let catalog = server();
            let admission = admit(
                &catalog,
                context,
                body.as_bytes(),
                &MessageLimits::default(),
            );
            let Admission::Request(request) = admission else {
                panic!("{name}: not a request");
            };
            assert!(
                matches!(request.hidden, Some(Hidden::Token(_))),
                "{name} {arguments}"
            );
            assert_eq!(request.stand_in.is_some(), name != "shown", "{name}");
        }
    }
}
