//! Tools and call results.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{Value, from_value, json};

use super::{encoded, text};

fn tool(value: Value) -> Tool {
    from_value(value).unwrap()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(read: serde_json::Result<T>, message: &str) {
    assert_eq!(read.unwrap_err().to_string(), message);
}

// req: S4-01, RES-45
#[test]
fn nothing_optional_is_written_when_it_is_not_there() {
    let bare = json!({"name": "a", "inputSchema": {"type": "object"}});
    assert_eq!(
        text(tool(bare).encode()),
        r#"{"name":"a","inputSchema":{"type":"object"}}"#
    );
}

// req: S4-01
#[test]
fn the_additions_stand_in_the_order_of_the_table() {
    let full = json!({
        "_meta": {"k": 1}, "icons": [{"src": "data:,x"}], "outputSchema": {"type": "object"},
        "title": "T", "inputSchema": {"type": "object"}, "description": "D", "name": "a",
        "execution": {"taskSupport": "required"},
    });
    let keys = |bytes: Vec<u8>| -> Vec<String> {
        let object: serde_json::Map<String, Value> = serde_json::from_slice(&bytes).unwrap();
        object.keys().cloned().collect()
    };
    let order = [
        "name",
        "title",
        "description",
        "inputSchema",
        "outputSchema",
        "icons",
        "execution",
        "_meta",
    ];
    assert_eq!(keys(tool(full).encode()), order);
}

// req: S4-01
#[test]
fn name_and_input_schema_are_needed() {
    refused(
        from_value::<Tool>(json!({"inputSchema": {}})),
        "name: is missing",
    );
    refused(
        from_value::<Tool>(json!({"name": null, "inputSchema": {}})),
        "name: is missing",
    );
    refused(
        from_value::<Tool>(json!({"name": "a"})),
        "inputSchema: is missing",
    );
    refused(
        from_value::<Tool>(json!({"name": "a", "inputSchema": []})),
        "inputSchema: invalid type: sequence, expected a map",
    );
}

#[test]
fn an_array_is_no_object() {
    // What a derived struct would take for one.
    refused(
        from_value::<RpcError>(json!([1, "m", null])),
        "invalid type: sequence, expected a map",
    );
}

// req: S4-02
#[test]
fn a_schema_struct_becomes_a_map() {
    let schema = Schema {
        kind: Some("object".into()),
        ..Schema::default()
    };
    assert_eq!(
        serde_json::to_string(&JsonSchema::from(&schema)).unwrap(),
        r#"{"type":"object"}"#
    );
}

// req: S4-03, RES-46
#[test]
fn all_four_hints_are_written_and_default_as_the_protocol_says() {
    let defaults = r#"{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":false,"openWorldHint":true}"#;
    assert_eq!(text(ToolAnnotations::default().encode()), defaults);
    assert_eq!(
        text(from_value::<ToolAnnotations>(json!({})).unwrap().encode()),
        defaults
    );
    assert_eq!(
        encoded(&TOOL_ANNOTATIONS, &json!({}), Revision::NEWEST),
        defaults
    );
    let given = ToolAnnotations {
        title: Some("T".to_owned()),
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    };
    assert_eq!(
        text(given.encode()),
        r#"{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#
    );
}

// req: S4-04
#[test]
fn a_schema_leaves_out_what_is_nil_and_keeps_what_is_nested() {
    let nested = json!({
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"type": "string", "default": null}}},
        "required": [],
    });
    let schema: Schema = from_value(nested.clone()).unwrap();
    assert_eq!(text(schema.encode()), nested.to_string());
    assert_eq!(text(Schema::default().encode()), "{}");
    let array = Schema {
        kind: Some("array".into()),
        items: Some(json!({"type": "string"})),
        ..Schema::default()
    };
    assert_eq!(
        text(array.encode()),
        r#"{"type":"array","items":{"type":"string"}}"#
    );
}

// req: S4-05
#[test]
fn default_false_and_zero_and_a_null_in_an_enum_are_kept() {
    let schema = |default: Value| Schema {
        default: Some(default),
        ..Schema::default()
    };
    assert_eq!(text(schema(json!(false)).encode()), r#"{"default":false}"#);
    assert_eq!(text(schema(json!(0)).encode()), r#"{"default":0}"#);
    let values = Schema {
        values: Some(vec![Value::Null, "a".into()]),
        ..Schema::default()
    };
    assert_eq!(text(values.encode()), r#"{"enum":[null,"a"]}"#);
    for revision in Revision::ALL {
        let value = json!({"default": false, "enum": [null, "a"], "description": null});
        assert_eq!(
            encoded(&SCHEMA, &value, revision),
            r#"{"enum":[null,"a"],"default":false}"#
        );
    }
}

// req: S4-07
#[test]
fn text_content() {
    assert_eq!(
        text(TextContent::new("Hi").encode()),
        r#"{"type":"text","text":"Hi"}"#
    );
    assert_eq!(
        text(TextContent::new("").encode()),
        r#"{"type":"text","text":""}"#
    );
}

// req: S4-07
#[test]
fn binary_content_is_base64_on_the_wire() {
    let image = ImageContent {
        data: Base64(vec![0xFF, 0xFE, 0x00, 0x01]),
        mime_type: "image/png".to_owned(),
        annotations: None,
        meta: None,
    };
    let json = r#"{"type":"image","data":"//4AAQ==","mimeType":"image/png"}"#;
    assert_eq!(text(image.encode()), json);
    assert_eq!(serde_json::from_str::<ImageContent>(json).unwrap(), image);
    refused(
        from_value::<ImageContent>(
            json!({"type": "image", "data": "no base64!", "mimeType": "image/png"}),
        ),
        "data: expected base64",
    );
}

// req: S4-07
#[test]
fn a_content_kind_is_told_by_its_type() {
    let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
    assert!(matches!(from_value(link).unwrap(), Content::Link(_)));
    refused(
        from_value::<Content>(json!({"type": "video"})),
        "type: expected the name of a content kind",
    );
    refused(
        from_value::<Content>(json!({"text": "no type"})),
        "type: expected the name of a content kind",
    );
    refused(
        from_value::<TextContent>(json!({"type": "image", "text": ""})),
        "type: expected \"text\"",
    );
}

// req: S4-08
#[test]
fn content_is_needed_and_the_two_others_are_not() {
    refused(
        from_value::<CallResult>(json!({"structuredContent": {}})),
        "content: is missing",
    );
    let empty: CallResult = from_value(json!({"content": []})).unwrap();
    assert_eq!(text(empty.encode()), r#"{"content":[],"isError":false}"#);
}

// req: S4-09
#[test]
fn structured_content_is_an_object_before_2026_07_28() {
    let result = json!({"content": [], "structuredContent": [1, 2]});
    assert_eq!(
        encoded(&CALL_RESULT, &result, Revision::V2025_11_25),
        r#"{"content":[],"isError":false}"#
    );
    assert_eq!(
        encoded(&CALL_RESULT, &result, Revision::V2026_07_28),
        r#"{"content":[],"structuredContent":[1,2],"isError":false}"#
    );
}

// req: S4-10, RES-12
#[test]
fn a_failure_says_the_message_and_nothing_in_front() {
    assert_eq!(
        text(CallResult::failed("no disk").encode()),
        r#"{"content":[{"type":"text","text":"no disk"}],"isError":true}"#
    );
}

// req: RES-13
#[test]
fn is_error_is_always_written() {
    for revision in Revision::ALL {
        assert_eq!(
            encoded(&CALL_RESULT, &json!({"content": []}), revision),
            r#"{"content":[],"isError":false}"#
        );
    }
}
