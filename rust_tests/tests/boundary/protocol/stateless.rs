//! Requests of 2026-07-28: what they say of the client and of themselves.

use mcp_core::protocol::{Admission, MessageLimits, admit};
use serde_json::{Value, json};

use super::{NO_SESSION, SESSION, answer, modern, refuses, request, server, session, status};

// req: M20
#[test]
fn an_unsupported_stateless_version_lists_what_is_supported() {
    let mut message = modern("tools/list", json!({}));
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!("v999.0.0");
    let reply = refuses(NO_SESSION, &message, -32022);
    assert_eq!(
        reply["error"]["data"],
        json!({
            "supported": ["2026-07-28"],
            "requested": "v999.0.0",
        })
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
