//! The vectors of the corpora.

use base64::Engine;
use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{
    EnvelopeLimits, INVALID_PARAMS, INVALID_REQUEST, Id, PARSE_ERROR, classify,
};
use serde_json::Value;

use super::{Sorted, refused, sort, sort_one};
use crate::json::corpora;

/// The whole text as one message, as the revisions without batches see it.
fn sort_unbatched(bytes: &[u8]) -> Sorted {
    match Document::scan(bytes, &Limits::default()) {
        Ok(document) => super::sorted(classify(
            document.root(),
            document.duplicate().is_some(),
            &EnvelopeLimits::default(),
        )),
        Err(_) => refused(PARSE_ERROR, None),
    }
}

#[test]
fn corpus_m1_to_m14_every_envelope_vector_is_sorted_as_it_says() {
    let Some(vectors) = corpora::json("jsonrpc-vectors/envelope.json") else {
        return;
    };
    let cases = vectors["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 78);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let raw = case["raw_base64"].as_str().unwrap();
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(raw)
            .unwrap();
        let sorted = sort_unbatched(&bytes);
        let error = || refused(code(case), error_id(&case["error_id"]));
        match case["expect"].as_str().unwrap() {
            // The corpus refuses it. Clients in Go and others send it, so it counts as absent.
            _ if name == "params null" => {
                assert!(matches!(sorted, Sorted::Request { params: None, .. }));
            }
            "request" => assert!(
                matches!(sorted, Sorted::Request { .. }),
                "{name}: {sorted:?}"
            ),
            "notification" => {
                assert!(
                    matches!(sorted, Sorted::Notification { .. }),
                    "{name}: {sorted:?}"
                );
            }
            "response" => assert!(
                matches!(sorted, Sorted::Result { .. } | Sorted::Error { .. }),
                "{name}: {sorted:?}"
            ),
            // Ids beyond 64 bits are refused.
            "request_or_error" => assert_eq!(sorted, refused(INVALID_REQUEST, None), "{name}"),
            _ => assert_eq!(sorted, error(), "{name}"),
        }
    }
    println!("corpus: jsonrpc-vectors, envelopes: {}", cases.len());
}

fn code(case: &Value) -> i32 {
    i32::try_from(case["code"].as_i64().unwrap()).unwrap()
}

fn error_id(id: &Value) -> Option<Id> {
    match id {
        Value::Null => None,
        id => Some(Id::Number(id.as_i64().unwrap().into())),
    }
}

// req: M2
#[test]
fn the_depth_vectors_at_full_size() {
    for count in [100_000, 10_000_000] {
        assert_eq!(sort_one("[".repeat(count)), refused(PARSE_ERROR, None));
    }
}

#[test]
fn corpus_examples_of_the_json_rpc_specification() {
    let Some(vectors) = corpora::json("jsonrpc-vectors/spec-examples.json") else {
        return;
    };
    let examples = vectors["examples"].as_array().unwrap();
    assert_eq!(examples.len(), 15);
    for example in examples {
        let name = example["name"].as_str().unwrap();
        let sorted = sort(example["request"].as_str().unwrap().as_bytes());
        assert_eq!(sorted, expected(name), "{name}");
    }
    println!(
        "corpus: jsonrpc-vectors, the specification's examples: {}",
        examples.len()
    );
}

/// MCP takes no positional parameters: −32602 for a request, silence for a notification.
fn expected(name: &str) -> Vec<Sorted> {
    let number = |id: i128| Some(Id::Number(id));
    let text = |id: &str| Some(Id::Text(id.to_owned()));
    let positional = |id| refused(INVALID_PARAMS, id);
    let silent = Sorted::Refused {
        code: INVALID_PARAMS,
        id: None,
        answerable: false,
    };
    let request = |id: Option<Id>, method: &str, params: Option<&str>| Sorted::Request {
        id: id.unwrap(),
        method: method.to_owned(),
        params: params.map(str::to_owned),
    };
    let named = |subtrahend_first: bool| {
        if subtrahend_first {
            r#"{"subtrahend": 23, "minuend": 42}"#
        } else {
            r#"{"minuend": 42, "subtrahend": 23}"#
        }
    };
    match name {
        "positional params 1" => vec![positional(number(1))],
        "positional params 2" => vec![positional(number(2))],
        "named params 1" => vec![request(number(3), "subtract", Some(named(true)))],
        "named params 2" => vec![request(number(4), "subtract", Some(named(false)))],
        "notification 1" => vec![silent],
        "notification 2" => {
            vec![Sorted::Notification {
                method: "foobar".to_owned(),
                params: None,
            }]
        }
        "non-existent method" => vec![request(text("1"), "foobar", None)],
        "invalid JSON" | "batch, invalid JSON" => vec![refused(PARSE_ERROR, None)],
        "invalid request object" | "empty array" | "invalid batch of one" => {
            vec![refused(INVALID_REQUEST, None)]
        }
        "invalid batch of three" => vec![refused(INVALID_REQUEST, None); 3],
        "mixed batch" => vec![
            positional(text("1")),
            silent,
            positional(text("2")),
            refused(INVALID_REQUEST, None),
            request(text("5"), "foo.get", Some(r#"{"name": "myself"}"#)),
            request(text("9"), "get_data", None),
        ],
        "batch of notifications" => vec![silent.clone(), silent],
        _ => panic!("unknown example {name}"),
    }
}
