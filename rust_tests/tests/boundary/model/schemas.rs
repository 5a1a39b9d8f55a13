//! Every object at every revision against that revision's official schema.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::official::{Official, PLACES};
use super::{encoded, samples};
use crate::fixture;

/// What the frame around a result adds at the newest revision.
fn framed(mut object: Value, shape: &Shape, revision: Revision) -> Value {
    let results = ["Tool.CallResult", "Prompt.GetResult", "Resource.ReadResult"];
    if revision == Revision::NEWEST && results.contains(&shape.name) {
        object["resultType"] = "complete".into();
    }
    object
}

#[track_caller]
fn is_valid(official: &Official, place: &str, object: &Value, revision: Revision) {
    let validator = official.validator(place);
    let problems: Vec<_> = validator
        .iter_errors(object)
        .map(|e| format!("{} {e}", e.instance_path()))
        .collect();
    assert!(
        problems.is_empty(),
        "{place} at {revision:?}: {problems:#?}\n{object:#}"
    );
}

#[test]
fn the_schemas_refuse_what_is_wrong() {
    for revision in Revision::ALL {
        let official = Official::load(revision);
        let tool = official.validator("Tool");
        assert!(!tool.is_valid(&json!({"name": "a"})), "{revision:?}");
        assert!(
            !tool.is_valid(&json!({"name": 1, "inputSchema": {"type": "object"}})),
            "{revision:?}"
        );
        let sound = json!({"content": [{"type": "audio", "data": "", "mimeType": "audio/wav"}]});
        let result = framed(sound, &CALL_RESULT, revision);
        let known = revision >= Revision::V2025_03_26;
        assert_eq!(
            official.validator("CallToolResult").is_valid(&result),
            known,
            "{revision:?}"
        );
    }
}

#[test]
fn every_sample_is_valid_at_every_revision() {
    for revision in Revision::ALL {
        let official = Official::load(revision);
        for (shape, sample) in samples::all() {
            let (_, place) = PLACES
                .iter()
                .find(|(known, _)| std::ptr::eq(*known, shape))
                .unwrap();
            // Content that the revision does not know was written as text.
            let place = if shape.known_at(revision) {
                place
            } else {
                "TextContent"
            };
            let object = serde_json::from_str(&encoded(shape, &sample, revision)).unwrap();
            is_valid(&official, place, &framed(object, shape, revision), revision);
        }
    }
}

#[test]
fn elicitations_are_valid_where_they_exist() {
    let [form, page] = samples::elicitations();
    for (sample, since) in [(form, Revision::V2025_06_18), (page, Revision::V2025_11_25)] {
        for revision in Revision::ALL
            .into_iter()
            .filter(|revision| *revision >= since)
        {
            let official = Official::load(revision);
            let object = serde_json::from_str(&encoded(&ELICIT, &sample, revision)).unwrap();
            is_valid(
                &official,
                "ElicitRequest/properties/params",
                &object,
                revision,
            );
        }
    }
}

#[test]
fn notifications_of_one_revision_are_valid_there() {
    let complete = json!({"elicitationId": "e1"});
    let acknowledged = json!({"notifications": {"toolsListChanged": true}});
    for (shape, sample, revision) in [
        (&ELICITATION_COMPLETE, complete, Revision::V2025_11_25),
        (
            &SUBSCRIPTIONS_ACKNOWLEDGED,
            acknowledged,
            Revision::V2026_07_28,
        ),
    ] {
        let official = Official::load(revision);
        let (_, place) = PLACES
            .iter()
            .find(|(known, _)| std::ptr::eq(*known, shape))
            .unwrap();
        let object = serde_json::from_str(&encoded(shape, &sample, revision)).unwrap();
        is_valid(&official, place, &object, revision);
    }
}

#[test]
fn golden_files_are_valid_at_every_revision() {
    let files: &[(&str, &Shape)] = &[
        ("s4-01-tool", &TOOL),
        ("derived-s4-9.1-tool", &TOOL),
        ("s4-02-call-result", &CALL_RESULT),
        ("derived-s4-1.4-call-result", &CALL_RESULT),
        ("derived-s4-1.4-error", &CALL_RESULT),
        ("s4-03-prompt", &PROMPT),
        ("s4-04-prompt-message", &PROMPT_MESSAGE),
        ("s4-05-completion", &COMPLETION),
        ("s4-06-resource", &RESOURCE),
        ("s4-07-resource-template", &RESOURCE_TEMPLATE),
    ];
    for revision in Revision::ALL {
        let official = Official::load(revision);
        for (file, shape) in files {
            let golden = fixture(&format!("documents/{file}.json"));
            let (_, place) = PLACES
                .iter()
                .find(|(known, _)| std::ptr::eq(*known, *shape))
                .unwrap();
            let object = serde_json::from_str(&encoded(shape, &golden, revision)).unwrap();
            is_valid(&official, place, &framed(object, shape, revision), revision);
        }
    }
}

#[test]
fn json_rpc_envelopes_are_valid_at_every_revision() {
    let request = RpcRequest {
        jsonrpc: Version::V2,
        method: "ping".to_owned(),
        params: None,
        id: Some(Id::Text("a".to_owned())),
    };
    let error = RpcError {
        code: -32601,
        message: "Method not found".to_owned(),
        data: Some(json!({})),
    };
    let failure = RpcResponse {
        outcome: Err(error),
        id: Some(Id::Integer(1)),
    };
    let success = RpcResponse {
        outcome: Ok(json!({"resultType": "complete"})),
        id: Some(Id::Integer(1)),
    };
    for revision in Revision::ALL {
        let official = Official::load(revision);
        for bytes in [
            request.encode_at(revision),
            failure.encode_at(revision),
            success.encode_at(revision),
        ] {
            is_valid(
                &official,
                "JSONRPCMessage",
                &serde_json::from_slice(&bytes).unwrap(),
                revision,
            );
        }
    }
}
