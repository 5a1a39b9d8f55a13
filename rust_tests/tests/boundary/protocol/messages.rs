//! Messages of both eras: JSON, ids, batches, notifications, names that do not exist.

use mcp_core::jsonrpc::Id;
use mcp_core::protocol::{Admission, MessageLimits, Notification, admit};
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::{
    NO_SESSION, SESSION, answer, modern, refuses, request, server, server_once, session, status,
};
use crate::generated::config;

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

proptest::proptest! {
    #![proptest_config(config(256))]

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
