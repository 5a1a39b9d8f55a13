//! What an older revision is told in place of what it does not know.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::{encoded, samples, text};

#[track_caller]
fn written(shape: &Shape, value: &Value, revision: Revision, expected: &Value) {
    assert_eq!(
        encoded(shape, value, revision),
        expected.to_string(),
        "{revision:?}"
    );
}

#[test]
fn a_tool_at_each_revision() {
    let keys = |revision| -> Vec<String> {
        let (_, tool) = samples::all()
            .into_iter()
            .find(|(shape, _)| shape.name == "Tool")
            .unwrap();
        let written: Value = serde_json::from_str(&encoded(&TOOL, &tool, revision)).unwrap();
        written.as_object().unwrap().keys().cloned().collect()
    };
    assert_eq!(
        keys(Revision::V2024_11_05),
        ["name", "description", "inputSchema"]
    );
    assert_eq!(
        keys(Revision::V2025_03_26),
        ["name", "description", "inputSchema", "annotations"]
    );
    assert_eq!(
        keys(Revision::V2025_06_18),
        [
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "_meta"
        ]
    );
    assert_eq!(
        keys(Revision::V2025_11_25),
        [
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "icons",
            "execution",
            "_meta"
        ]
    );
    assert_eq!(
        keys(Revision::V2026_07_28),
        [
            "name",
            "title",
            "description",
            "inputSchema",
            "outputSchema",
            "annotations",
            "icons",
            "_meta"
        ]
    );
}

#[test]
fn a_sound_before_2025_03_26_is_a_text() {
    let result = json!({"content": [{"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}]});
    let said =
        json!({"content": [{"type": "text", "text": "[audio/wav audio]"}], "isError": false});
    written(&CALL_RESULT, &result, Revision::V2024_11_05, &said);
    let kept = json!({"content": result["content"], "isError": false});
    written(&CALL_RESULT, &result, Revision::V2025_03_26, &kept);
}

#[test]
fn a_link_before_2025_06_18_is_a_text() {
    let message = json!({
        "role": "user",
        "content": {"type": "resource_link", "uri": "file:///a", "name": "a", "title": "A"},
    });
    let said = json!({"role": "user", "content": {"type": "text", "text": "a: file:///a"}});
    written(&PROMPT_MESSAGE, &message, Revision::V2025_03_26, &said);
    written(&PROMPT_MESSAGE, &message, Revision::V2025_06_18, &message);
}

#[test]
fn the_text_in_place_of_content_keeps_whom_it_is_for() {
    let link = json!({
        "type": "resource_link", "uri": "file:///a", "name": "a",
        "annotations": {"audience": ["user"], "lastModified": "2025-01-12T15:00:58Z"},
    });
    let said =
        json!({"type": "text", "text": "a: file:///a", "annotations": {"audience": ["user"]}});
    written(&RESOURCE_LINK, &link, Revision::V2025_03_26, &said);
}

// req: RES-30
#[test]
fn the_media_type_of_a_text_stays_at_every_revision() {
    let content = json!({"type": "text", "text": "# T", "mimeType": "text/markdown"});
    for revision in Revision::ALL {
        written(&TEXT_CONTENT, &content, revision, &content);
    }
}

#[test]
fn keys_that_no_table_names_stay_at_the_newest_revision_only() {
    let tool = json!({
        "name": "a", "inputSchema": {"type": "object", "x-mine": 1}, "x-mine": {"k": null},
        "annotations": {"x-hint": 1}, "execution": {"taskSupport": "forbidden"},
    });
    assert_eq!(
        encoded(&TOOL, &tool, Revision::V2026_07_28),
        r#"{"name":"a","inputSchema":{"type":"object","x-mine":1},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true,"x-hint":1},"x-mine":{"k":null}}"#
    );
    assert_eq!(
        encoded(&TOOL, &tool, Revision::V2025_11_25),
        r#"{"name":"a","inputSchema":{"type":"object","x-mine":1},"annotations":{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true},"execution":{"taskSupport":"forbidden"}}"#
    );
}

#[test]
fn an_output_schema_that_is_no_object_type_is_for_2026_07_28() {
    let tool = |output: Value| json!({"name": "a", "inputSchema": {}, "outputSchema": output});
    let array = tool(json!({"type": "array", "items": {"type": "string"}}));
    let bare = json!({"name": "a", "inputSchema": {}});
    written(&TOOL, &array, Revision::V2025_11_25, &bare);
    written(&TOOL, &array, Revision::V2026_07_28, &array);
    let object = tool(json!({"type": "object"}));
    written(&TOOL, &object, Revision::V2025_06_18, &object);
    written(&TOOL, &object, Revision::V2025_03_26, &bare);
}

#[test]
fn a_property_that_is_true_or_false_has_an_object_for_older_revisions() {
    let tool = |any: Value, none: Value| {
        json!({
            "name": "a",
            "inputSchema": {"type": "object", "properties": {"any": any, "none": none}},
        })
    };
    let given = tool(json!(true), json!(false));
    written(
        &TOOL,
        &given,
        Revision::V2025_11_25,
        &tool(json!({}), json!({"not": {}})),
    );
    written(&TOOL, &given, Revision::V2026_07_28, &given);
}

#[test]
fn a_sampling_message_of_several_blocks_is_several_messages_before_2025_11_25() {
    let request = json!({
        "messages": [{"role": "user", "content": [
            {"type": "text", "text": "Look:"},
            {"type": "image", "data": "AAEC", "mimeType": "image/png"},
        ]}],
        "maxTokens": 10,
    });
    written(&SAMPLING, &request, Revision::V2025_11_25, &request);
    let apart = json!({
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "Look:"}},
            {"role": "user", "content": {"type": "image", "data": "AAEC", "mimeType": "image/png"}},
        ],
        "maxTokens": 10,
    });
    written(&SAMPLING, &request, Revision::V2025_06_18, &apart);
    let read: Sampling = serde_json::from_value(request.clone()).unwrap();
    assert_eq!(text(read.encode()), request.to_string());
}

#[test]
fn the_id_of_an_elicitation_is_for_2025_11_25_alone() {
    let [_, page] = samples::elicitations();
    let has_id = |revision| encoded(&ELICIT, &page, revision).contains("elicitationId");
    assert!(has_id(Revision::V2025_11_25));
    assert!(!has_id(Revision::V2026_07_28));
}
