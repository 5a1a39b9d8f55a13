//! Resources.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{from_value, json};

use super::{encoded, text};

// req: S4-30, S4-31
#[test]
fn the_optional_fields_are_left_out() {
    let resource: Resource = from_value(json!({"name": "a", "uri": "file:///a"})).unwrap();
    assert_eq!(text(resource.encode()), r#"{"name":"a","uri":"file:///a"}"#);
    let template: ResourceTemplate =
        from_value(json!({"uriTemplate": "file:///{x}", "name": "a"})).unwrap();
    assert_eq!(
        text(template.encode()),
        r#"{"name":"a","uriTemplate":"file:///{x}"}"#
    );
}

// req: S4-32
#[test]
fn how_long_a_result_may_be_kept_is_said_at_2026_07_28_only() {
    let result = json!({"contents": [], "ttlMs": 0, "cacheScope": "public"});
    assert_eq!(
        encoded(&READ_RESULT, &result, Revision::V2025_11_25),
        r#"{"contents":[]}"#
    );
    assert_eq!(
        encoded(&READ_RESULT, &result, Revision::V2026_07_28),
        r#"{"contents":[],"ttlMs":0,"cacheScope":"public"}"#
    );
}

// req: S4-33
#[test]
fn either_text_or_blob() {
    let read = from_value::<ResourceContent>;
    for neither_or_both in [
        json!({"uri": "a:b"}),
        json!({"uri": "a:b", "text": null}),
        json!({"uri": "a:b", "text": "", "blob": ""}),
    ] {
        let error = read(neither_or_both).unwrap_err();
        assert_eq!(error.to_string(), "expected exactly one of text, blob");
    }
    let empty = read(json!({"uri": "a:b", "text": "", "blob": null})).unwrap();
    assert_eq!(text(empty.encode()), r#"{"uri":"a:b","text":""}"#);
    assert_eq!(RESOURCE_CONTENT.one_of, ["text", "blob"]);
}

// req: S4-34
#[test]
fn there_is_one_completion_for_prompts_and_resources() {
    let completions = SHAPES
        .iter()
        .filter(|shape| shape.name.contains("Completion"));
    assert_eq!(completions.count(), 1);
}

// req: RES-47
#[test]
fn name_and_title_of_a_content_stay_at_every_revision() {
    let content = json!({"name": "n", "uri": "a:b", "text": "", "title": "t"});
    for revision in Revision::ALL {
        assert_eq!(
            encoded(&RESOURCE_CONTENT, &content, revision),
            content.to_string()
        );
    }
}
