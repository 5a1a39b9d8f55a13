//! Problems that the schema's own text explains.

use serde_json::{Value, json};

use super::told;

#[track_caller]
fn tells(schema: Value, value: Value, expected: &[&str]) {
    assert_eq!(told(&schema, &value), expected, "{schema}");
}

// req: M16
#[test]
fn contains_says_what_and_how_often() {
    tells(
        json!({"contains": {"const": 1}}),
        json!([2]),
        &["(root): must be an array with at least 1 item like this: 1 (contains)"],
    );
    tells(
        json!({"contains": {"type": "integer", "minimum": 5}, "minContains": 2}),
        json!([5]),
        &[
            "(root): must be an array with at least 2 items like this: an integer of at least 5 (minContains)",
        ],
    );
    tells(
        json!({"contains": {"enum": ["a", "b"]}, "maxContains": 1}),
        json!(["a", "b"]),
        &[
            r#"(root): must be an array with at most 1 item like this: one of "a", "b" (maxContains)"#,
        ],
    );
    tells(
        json!({"contains": {"items": {"type": "null"}}}),
        json!([[1]]),
        &[
            "(root): must be an array with at least 1 item as the schema's contains describes (contains)",
        ],
    );
    tells(
        json!({"contains": {"type": "object", "required": ["id", "name"]}}),
        json!([{}]),
        &[
            r#"(root): must be an array with at least 1 item like this: an object with the properties "id" and "name" (contains)"#,
        ],
    );
}

// req: M16
#[test]
fn not_says_what_is_ruled_out() {
    for (schema, value, expected) in [
        (json!({"type": "null"}), json!(null), "anything but null"),
        (json!({"const": "x"}), json!("x"), r#"anything but "x""#),
        (
            json!({"enum": [1, 2]}),
            json!(1),
            "anything but one of 1, 2",
        ),
        (
            json!({"required": ["a"]}),
            json!({"a": 1}),
            r#"an object without the property "a""#,
        ),
        (
            json!({"required": ["a", "b"]}),
            json!({"a": 1, "b": 1}),
            r#"an object without all of the properties "a" and "b""#,
        ),
        (
            json!({"pattern": "^x"}),
            json!("xy"),
            "anything but a string that matches the pattern ^x",
        ),
        (
            json!({"anyOf": [{}]}),
            json!(1),
            "something else than the schema rules out",
        ),
    ] {
        tells(
            json!({"not": schema}),
            value,
            &[&format!("(root): must be {expected} (not)")],
        );
    }
}

// req: M16
#[test]
fn property_names_say_what_each_has_to_be() {
    tells(
        json!({"propertyNames": {"maxLength": 1}}),
        json!({"ab": 1}),
        &[
            "(root): must be an object whose every property name is a string of at most 1 character (propertyNames)",
        ],
    );
    tells(
        json!({"propertyNames": {"enum": ["a", "b"]}}),
        json!({"ab": 1}),
        &[
            r#"(root): must be an object whose every property name is one of "a", "b" (propertyNames)"#,
        ],
    );
    tells(
        json!({"propertyNames": false}),
        json!({"ab": 1}),
        &["(root): must be an object without properties (propertyNames)"],
    );
}

// req: M16
#[test]
fn dependencies_say_what_depends_on_what() {
    let draft7 = "http://json-schema.org/draft-07/schema#";
    tells(
        json!({"$schema": draft7, "dependencies": {"card": ["address"]}}),
        json!({"card": 1}),
        &[
            r#"(root): must be an object with the property "address", as it has "card" (dependencies)"#,
        ],
    );
    tells(
        json!({"dependentSchemas": {"card": {"required": ["address"]}}}),
        json!({"card": 1}),
        &[r#"(root): must be an object with the property "address" (required)"#],
    );
    tells(
        json!({"dependentSchemas": {"old/name": false}}),
        json!({"old/name": 1}),
        &[r#"(root): must be an object without the property "old/name" (dependentSchemas)"#],
    );
    // A property of that name is no dependency.
    tells(
        json!({"properties": {"dependentRequired": {"required": ["b"]}}}),
        json!({"dependentRequired": {}}),
        &[r#"/dependentRequired: must be an object with the property "b" (required)"#],
    );
}

// req: M16
#[test]
fn what_no_value_satisfies_is_named_after_its_keyword() {
    tells(
        json!(false),
        json!(1),
        &["(root): must be something else: the schema accepts no value here (false)"],
    );
    tells(
        json!({"properties": {"x": false}}),
        json!({"x": 1}),
        &["/x: must be absent (properties)"],
    );
    tells(
        json!({"patternProperties": {"^x": false}}),
        json!({"xy": 1}),
        &["/xy: must be absent (patternProperties)"],
    );
    tells(
        json!({"additionalProperties": false}),
        json!({"xy": 1}),
        &["/xy: must be absent (additionalProperties)"],
    );
    tells(
        json!({"if": {"required": ["a"]}, "then": {"required": ["b"]}, "else": false}),
        json!({"a": 1}),
        &[r#"(root): must be an object with the property "b" (required)"#],
    );
    tells(
        json!({"if": {"required": ["a"]}, "else": false}),
        json!({}),
        &["(root): must be something else: the schema accepts no value here (else)"],
    );
    tells(
        json!({"items": {"$ref": "#/$defs/none"}, "$defs": {"none": false}}),
        json!([1]),
        &["/0: must be absent (none)"],
    );
}

// req: M16
#[test]
fn alternatives_of_required_properties_read_as_one_sentence() {
    let either = json!([{"required": ["id"]}, {"required": ["name"]}]);
    tells(
        json!({"anyOf": either}),
        json!({}),
        &[r#"(root): must be an object with the property "id", or with "name" (anyOf)"#],
    );
    tells(
        json!({"anyOf": [{"required": ["id"]}, {"required": ["first", "last"]}]}),
        json!({"zip": 1}),
        &[
            r#"(root): must be an object with the property "id", or with "first" and "last" (anyOf)"#,
        ],
    );
    tells(
        json!({"oneOf": either}),
        json!({}),
        &[r#"(root): must be an object with the property "id", or with "name" (oneOf)"#],
    );
    tells(
        json!({"oneOf": either}),
        json!({"id": 1, "name": 2}),
        &[r#"(root): must be an object with exactly one of these: "id"; "name" (oneOf)"#],
    );
    tells(
        json!({"oneOf": [{"minimum": 1}, {"minimum": 2}, {"minimum": 9}]}),
        json!(3),
        &["(root): must be valid under exactly one of the 3 alternatives, not under 2 (oneOf)"],
    );
}

// req: M16
#[test]
fn behind_references_and_in_documents_the_right_text_is_looked_at() {
    // The paths of an error inside a resource begin at the resource.
    let embedded = json!({
        "$id": "https://example.com/root",
        "properties": {"colour": {}},
        "$defs": {"inner": {"$id": "inner", "properties": {"radius": {}}, "additionalProperties": false}},
        "items": {"$ref": "inner"},
    });
    tells(
        embedded,
        json!([{"raduis": 1}]),
        &[r#"/0/raduis: must be absent; did you mean "radius"? (additionalProperties)"#],
    );
}
