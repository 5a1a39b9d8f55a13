//! The rules all objects share, and the tables themselves.

use std::collections::HashSet;

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{Value, json};

use super::samples;
use super::{encoded, text};

// req: S4-60
#[test]
fn every_structure_of_the_document_has_a_shape() {
    for name in [
        "Tool",
        "Tool.Annotations",
        "Schema",
        "Tool.CallResult",
        "Prompt",
        "Prompt.Argument",
        "Prompt.Message",
        "Prompt.MessageContent",
        "Completion",
        "Resource",
        "ResourceTemplate",
        "Resource.ReadResult",
        "Resource.Content",
        "App.Meta",
        "App.UI",
        "App.UIResourceMeta",
        "JsonRpc.Request",
        "JsonRpc.Response",
        "JsonRpc.Error",
    ] {
        assert_eq!(shape(name).map(|shape| shape.name), Some(name));
    }
}

#[test]
fn names_and_keys_are_unique() {
    let names: HashSet<_> = SHAPES.iter().map(|shape| shape.name).collect();
    assert_eq!(names.len(), SHAPES.len());
    for shape in SHAPES {
        let keys: HashSet<_> = shape.fields.iter().map(|field| field.wire).collect();
        let fields: HashSet<_> = shape.fields.iter().map(|field| field.name).collect();
        assert_eq!(
            (keys.len(), fields.len()),
            (shape.fields.len(), shape.fields.len()),
            "{}",
            shape.name
        );
    }
}

#[test]
fn every_shape_that_a_table_refers_to_is_in_the_list() {
    for shape in SHAPES {
        for used in shape.fields.iter().flat_map(|field| shapes_of(&field.kind)) {
            assert!(
                SHAPES.iter().any(|listed| std::ptr::eq(*listed, used)),
                "{}",
                used.name
            );
        }
    }
}

fn shapes_of(kind: &Kind) -> Vec<&'static Shape> {
    match kind {
        Kind::One(shape) => vec![shape],
        Kind::OneOf(shapes) | Kind::OneOrMany(shapes) | Kind::AnyOf(shapes) => shapes.to_vec(),
        Kind::List(kind) => shapes_of(kind),
        _ => vec![],
    }
}

#[test]
fn texts_written_for_nil_are_json_and_other_keys_exist() {
    for shape in SHAPES {
        for field in shape.fields {
            match field.presence {
                Presence::Always(text) => drop(serde_json::from_str::<Value>(text).unwrap()),
                Presence::Unless(other, text) => {
                    assert!(shape.field(other).is_some());
                    drop(serde_json::from_str::<Value>(text).unwrap());
                }
                _ => {}
            }
        }
        assert!(
            shape.one_of.iter().all(|key| shape.field(key).is_some()),
            "{}",
            shape.name
        );
    }
}

#[test]
fn a_kind_of_content_that_is_not_always_known_has_a_text_in_its_place() {
    for shape in SHAPES.iter().filter(|shape| shape.tag.is_some()) {
        let always = shape.since == Revision::V2024_11_05;
        assert_eq!(shape.fallback.is_none(), always, "{}", shape.name);
        for part in shape.fallback.unwrap_or_default() {
            if let Part::Member(key) = part {
                assert!(shape.field(key).is_some(), "{} {key}", shape.name);
            }
        }
    }
}

// req: S4-61
#[test]
fn fields_are_renamed_and_user_keys_are_not() {
    let result = json!({
        "content": [], "structuredContent": {"snake_case": {"is_error": 1}, "camelCase": 2},
        "_meta": {"hasMore": 1, "has_more": 2},
    });
    for revision in [Revision::V2025_06_18, Revision::NEWEST] {
        let written: Value =
            serde_json::from_str(&encoded(&CALL_RESULT, &result, revision)).unwrap();
        assert_eq!(written["structuredContent"], result["structuredContent"]);
        assert_eq!(written["_meta"], result["_meta"]);
    }
}

// req: S4-61
#[test]
fn the_structs_that_name_a_field_unlike_its_key() {
    let renamed: Vec<_> = SHAPES
        .iter()
        .filter(|shape| {
            // What has no struct in Elixir.
            !["Input", "Notification", "Task"]
                .iter()
                .any(|part| shape.name.starts_with(part))
        })
        .flat_map(|shape| shape.fields.iter().map(move |field| (shape.name, field)))
        .filter(|(_, field)| field.name != field.wire)
        .map(|(shape, field)| format!("{shape}.{}", field.name))
        .collect();
    assert_eq!(
        renamed,
        [
            "Tool.CallResult.structured_content",
            "Tool.CallResult.is_error",
            "Content.ToolResult.tool_use_id",
            "Content.ToolResult.structured_content",
            "Content.ToolResult.is_error",
            "Resource.ReadResult.ttl_ms",
            "Resource.ReadResult.cache_scope",
            "App.UI.resource_uri",
            "App.UIResourceMeta.prefers_border",
            "App.UIResourceMeta.Csp.connect_domains",
            "App.UIResourceMeta.Csp.resource_domains",
            "App.UIResourceMeta.Csp.frame_domains",
            "App.UIResourceMeta.Csp.base_uri_domains",
            "App.UIResourceMeta.Permissions.clipboard_write",
        ]
    );
}

// req: S4-62
#[test]
fn nil_is_left_out_and_what_is_merely_falsy_is_not() {
    let content = ResourceContent {
        uri: String::new(),
        text: Some(String::new()),
        ..ResourceContent::default()
    };
    assert_eq!(text(content.encode()), r#"{"uri":"","text":""}"#);
    let resource = json!({
        "name": "", "uri": "", "description": null, "size": 0, "annotations": {}, "icons": [],
        "_meta": {},
    });
    let written = r#"{"name":"","uri":"","size":0,"annotations":{},"icons":[],"_meta":{}}"#;
    assert_eq!(encoded(&RESOURCE, &resource, Revision::NEWEST), written);
    let read: Resource = serde_json::from_value(resource).unwrap();
    assert_eq!(text(read.encode()), written);
}

#[test]
fn a_log_message_may_be_null() {
    let message = json!({"level": "info", "data": null});
    assert_eq!(
        encoded(&LOG_MESSAGE, &message, Revision::NEWEST),
        message.to_string()
    );
    let read: LogMessage = serde_json::from_value(message.clone()).unwrap();
    assert_eq!(text(read.encode()), message.to_string());
}

#[test]
fn output_is_one_line_whatever_is_in_it() {
    let content = TextContent::new("a\nb\r\u{2028}\u{0}\"\\");
    assert_eq!(
        text(content.encode()),
        "{\"type\":\"text\",\"text\":\"a\\nb\\r\u{2028}\\u0000\\\"\\\\\"}"
    );
}

#[test]
fn written_twice_a_sample_stays_the_same() {
    for revision in Revision::ALL {
        for (shape, sample) in samples::all() {
            let once = encoded(shape, &sample, revision);
            let again = serde_json::from_str(&once).unwrap();
            if shape.known_at(revision) {
                assert_eq!(
                    encoded(shape, &again, revision),
                    once,
                    "{} at {revision:?}",
                    shape.name
                );
            }
        }
    }
}
