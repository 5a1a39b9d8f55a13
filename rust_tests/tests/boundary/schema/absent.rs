//! Members that are `null` in place of a value.

use mcp_core::schema::{Change, Step};
use serde_json::{Value, json};

use super::compile;

/// The paths of the members that count as absent, with slashes.
fn absent(schema: &Value, value: &Value) -> Vec<String> {
    let validator = compile(schema).unwrap();
    let edits = validator.absent(value);
    assert!(edits.iter().all(|edit| edit.change == Change::Absent));
    let segment = |step: &Step| match step {
        Step::Name(name) => format!("/{name}"),
        Step::Index(index) => format!("/{index}"),
    };
    let path = |path: &[Step]| path.iter().map(segment).collect();
    edits.iter().map(|edit| path(&edit.path)).collect()
}

fn of(property: Value) -> Vec<String> {
    absent(&json!({"properties": {"a": property}}), &json!({"a": null}))
}

#[test]
fn a_null_counts_as_absent_where_the_schema_has_none() {
    for property in [
        json!({"type": "string"}),
        json!({"type": ["string", "integer"]}),
        json!({"enum": ["a", 1]}),
        json!({"const": 1}),
    ] {
        assert_eq!(of(property), ["/a"]);
    }
}

#[test]
fn a_null_stays_where_the_schema_has_it_or_does_not_tell() {
    for property in [
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({"enum": ["a", null]}),
        json!({"const": null}),
        json!({}),
        json!(true),
        json!(false),
        json!({"anyOf": [{"type": "string"}]}),
        json!({"type": "string", "not": {"const": "x"}}),
    ] {
        assert_eq!(of(property), [""; 0]);
    }
}

#[test]
fn a_null_stays_where_it_is_required_and_in_a_list() {
    let schema = json!({"properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_eq!(absent(&schema, &json!({"a": null})), [""; 0]);
    let schema = json!({"items": {"type": "string"}});
    assert_eq!(absent(&schema, &json!([null])), [""; 0]);
    assert_eq!(absent(&json!({"type": "string"}), &json!(null)), [""; 0]);
}

#[test]
fn a_null_stays_in_a_map_with_names_of_any_kind() {
    let schema = json!({"additionalProperties": {"type": "string"}});
    assert_eq!(absent(&schema, &json!({"a": null})), [""; 0]);
}

#[test]
fn nulls_are_found_at_any_depth_in_the_order_of_their_paths() {
    let leaf = json!({"properties": {"x": {"type": "integer"}, "y": {"type": "integer"}}});
    let schema = json!({
        "properties": {"b": {"type": "array", "items": {"$ref": "#/$defs/leaf"}}, "a": leaf},
        "additionalProperties": {"type": "string"},
        "$defs": {"leaf": leaf}
    });
    let value = json!({
        "b": [{"x": null, "y": 1}, {"x": 1, "y": null}],
        "a": {"x": null},
        "c": null
    });
    assert_eq!(absent(&schema, &value), ["/a/x", "/b/0/x", "/b/1/y"]);
}
