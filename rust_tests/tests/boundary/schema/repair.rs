//! What models send, repaired.

use mcp_core::json::{Limits, check};
use mcp_core::schema::{Change, Edit, Step};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::compile;
use crate::generated::config;

/// The value with the edits made.
fn edited(value: &Value, edits: &[Edit]) -> Value {
    let mut value = value.clone();
    for edit in edits {
        let mut place = &mut value;
        for step in &edit.path {
            place = match step {
                Step::Name(name) => place.get_mut(name).unwrap(),
                Step::Index(index) => place.get_mut(index).unwrap(),
            };
        }
        *place = match &edit.change {
            Change::Number(text) | Change::Json(text) => {
                assert!(check(text.as_bytes(), &Limits::default()).is_ok());
                serde_json::from_str(text).unwrap()
            }
            Change::Boolean(value) => json!(value),
            Change::List => json!([place.take()]),
            other => panic!("{other:?}"),
        };
    }
    value
}

fn at<'v>(value: &'v Value, path: &[Step]) -> &'v Value {
    path.iter().fold(value, |place, step| match step {
        Step::Name(name) => place.get(name).unwrap(),
        Step::Index(index) => place.get(index).unwrap(),
    })
}

/// What becomes of a value that is not valid, and by which changes. None of them could be left out.
fn repaired(schema: &Value, value: &Value) -> Option<(Value, Vec<&'static str>)> {
    repaired_within(schema, value, &Limits::default())
}

fn repaired_within(
    schema: &Value,
    value: &Value,
    room: &Limits,
) -> Option<(Value, Vec<&'static str>)> {
    let validator = compile(schema).unwrap();
    assert!(!validator.is_valid(value), "{schema} {value}");
    // A repaired value lives as long as the validator's check of it: for good.
    let value: &'static Value = Box::leak(Box::new(value.clone()));
    let mut undoings = Vec::new();
    let apply = |value: &&'static Value, edits: &[Edit]| -> Option<&'static Value> {
        let places = edits.iter().map(|edit| edit.path.clone());
        undoings.extend(places.map(|path| (at(value, &path).clone(), path)));
        Some(Box::leak(Box::new(edited(value, edits))))
    };
    let repaired = validator.repair(value, room, apply)?;
    assert!(validator.is_valid(repaired.node));
    for (before, path) in undoings.into_iter().take(16) {
        let mut undone = repaired.node.clone();
        let place = path.iter().fold(&mut undone, |place, step| match step {
            Step::Name(name) => place.get_mut(name).unwrap(),
            Step::Index(index) => place.get_mut(index).unwrap(),
        });
        *place = before;
        assert!(!validator.is_valid(&undone), "{schema} {value} {undone}");
    }
    Some((repaired.node.clone(), repaired.kinds))
}

#[track_caller]
fn repairs(schema: Value, value: Value, expected: Value, kinds: &[&str]) {
    let found = repaired(&schema, &value);
    assert_eq!(found, Some((expected, kinds.to_vec())), "{schema} {value}");
}

#[track_caller]
fn leaves(schema: Value, value: Value) {
    assert_eq!(repaired(&schema, &value), None, "{schema} {value}");
}

#[test]
fn a_scalar_in_a_string_becomes_what_the_one_type_says() {
    let typed = |name: &str| json!({"properties": {"x": {"type": name}}});
    let x = |value: Value| json!({"x": value});
    for (name, text, value) in [
        ("integer", "42", json!(42)),
        ("integer", "-7", json!(-7)),
        ("integer", "0", json!(0)),
        (
            "integer",
            "9007199254740993",
            json!(9_007_199_254_740_993_i64),
        ),
        ("number", "1.5", json!(1.5)),
        ("number", "1e3", json!(1000.0)),
        ("number", "42", json!(42)),
    ] {
        repairs(typed(name), x(json!(text)), x(value), &["number"]);
    }
    repairs(
        typed("boolean"),
        x(json!("true")),
        x(json!(true)),
        &["boolean"],
    );
    repairs(
        typed("boolean"),
        x(json!("false")),
        x(json!(false)),
        &["boolean"],
    );
    for (name, text) in [
        ("integer", ""),
        ("integer", "1.0"),
        ("integer", "1e3"),
        ("integer", "+1"),
        ("integer", "007"),
        ("integer", " 42"),
        ("integer", "42 "),
        ("integer", "42px"),
        ("integer", "0x10"),
        ("integer", "-"),
        ("integer", "١"),
        ("number", "NaN"),
        ("number", "Infinity"),
        ("number", "1,5"),
        ("number", ".5"),
        ("number", "1e400"),
        ("boolean", "True"),
        ("boolean", "yes"),
        ("boolean", "1"),
        ("null", "null"),
        ("object", "x"),
    ] {
        leaves(typed(name), x(json!(text)));
    }
    leaves(typed("integer"), x(json!("1".repeat(1_025))));
    leaves(typed("integer"), x(json!(1.5)));
    leaves(typed("boolean"), x(json!(1)));
    leaves(typed("string"), x(json!(1)));
}

#[test]
fn json_in_a_string_becomes_the_array_or_object_it_is() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    repairs(list.clone(), json!("[1, 2]"), json!([1, 2]), &["json"]);
    repairs(list.clone(), json!(" \n[]"), json!([]), &["json"]);
    repairs(
        list,
        json!(r#"["1", 2]"#),
        json!([1, 2]),
        &["json", "number"],
    );
    let object =
        json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
    repairs(
        object.clone(),
        json!(r#"{"n": 1}"#),
        json!({"n": 1}),
        &["json"],
    );
    repairs(
        object.clone(),
        json!(r#"{"n": "1"}"#),
        json!({"n": 1}),
        &["json", "number"],
    );
    for text in [
        "{\"n\": 1",
        "{\"n\": 1} x",
        "[1]",
        "{\"n\": 1, \"n\": 2}",
        "{}",
        "\"n\"",
    ] {
        leaves(object.clone(), json!(text));
    }
    // What is cut off in the middle is no list with one string in it.
    let strings = json!({"type": "array", "items": {"type": "string"}});
    leaves(strings, json!("[\"a\", \"b"));
}

#[test]
fn a_scalar_becomes_the_list_of_it() {
    let tags = json!({"type": "array", "items": {"type": "string"}});
    repairs(tags.clone(), json!("red"), json!(["red"]), &["list"]);
    // Blank text may be meant as no tag at all.
    for blank in ["", " ", "\n\t"] {
        leaves(tags.clone(), json!(blank));
    }
    leaves(tags, json!(7));
    let ids = json!({"type": "array", "items": {"type": "integer"}});
    repairs(ids.clone(), json!(7), json!([7]), &["list"]);
    repairs(ids.clone(), json!("7"), json!([7]), &["list", "number"]);
    leaves(ids.clone(), json!({"id": 7}));
    leaves(json!({"type": "array", "minItems": 2}), json!(7));
    leaves(json!({"type": "array"}), json!(null));
    repairs(ids.clone(), json!(1.0), json!([1.0]), &["list"]);
    leaves(ids.clone(), json!(true));
    leaves(ids.clone(), json!("seven"));
    leaves(ids, json!(1.5));
    let people = json!({"type": "array", "items": {"type": "object"}});
    repairs(
        people,
        json!(r#"{"a": 1}"#),
        json!([{"a": 1}]),
        &["list", "json"],
    );
    // What the items are is not said, or not in one word.
    for items in [
        json!({}),
        json!(true),
        json!({"type": ["string", "null"]}),
        json!({"minimum": 1}),
    ] {
        let list = json!({"type": "array", "items": items});
        for value in [json!("red"), json!(7), json!(true), json!(r#"{"a":1}"#)] {
            leaves(list.clone(), value);
        }
    }
    leaves(json!({"type": "array"}), json!(7));
    // A list of lists is not meant by a scalar.
    let matrix = json!({"type": "array", "items": {"$ref": "#/$defs/row"}, "$defs": {"row": {"type": "array"}}});
    leaves(matrix.clone(), json!(7));
    leaves(matrix, json!("7"));
}

#[test]
fn only_where_the_schema_leaves_no_doubt() {
    let integer = json!({"type": "integer"});
    for place in [
        json!({"type": ["integer", "null"]}),
        json!({"anyOf": [integer, {"type": "null"}]}),
        json!({"oneOf": [integer]}),
        json!({"allOf": [integer]}),
        json!({"type": "integer", "not": {"const": 1}}),
        json!({"type": "integer", "if": {"minimum": 1}, "then": {"maximum": 50}}),
        json!({"enum": [42]}),
        json!({"$ref": "#/$defs/i", "minimum": 1}),
        json!({"$ref": "#i"}),
        json!({"$ref": "inner"}),
        json!({"$dynamicRef": "#/$defs/i"}),
    ] {
        let schema = json!({
            "properties": {"x": place},
            "$defs": {"i": {"$anchor": "i", "type": "integer"}, "e": {"$id": "inner", "type": "integer"}},
        });
        leaves(schema, json!({"x": "42"}));
    }
    // An alternative on the way may say more about what is inside.
    leaves(
        json!({"properties": {"x": integer}, "anyOf": [{"properties": {"x": {"minimum": 1}}}]}),
        json!({"x": "42"}),
    );
    leaves(
        json!({"properties": {"x": integer}, "patternProperties": {"^x": {"minimum": 1}}}),
        json!({"x": "42"}),
    );
    repairs(
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"additionalProperties": {"$ref": "#/$defs/b"}}, "b": integer}}),
        json!({"x": "42"}),
        json!({"x": 42}),
        &["number"],
    );
    repairs(
        json!({"prefixItems": [{"type": "boolean"}], "items": integer}),
        json!(["true", "1"]),
        json!([true, 1]),
        &["boolean", "number"],
    );
    repairs(
        json!({"properties": {"x": {"type": "integer", "enum": [42]}}}),
        json!({"x": "42"}),
        json!({"x": 42}),
        &["number"],
    );
    // A circle of references ends.
    leaves(
        json!({"$ref": "#/$defs/a", "required": ["x"], "$defs": {"a": {"$ref": "#/$defs/a"}}}),
        json!({}),
    );
}

#[test]
fn all_or_nothing() {
    let schema = json!({
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "maximum": 5}, "note": {"type": "string"}},
        "required": ["a"],
    });
    repairs(
        schema.clone(),
        json!({"a": "1", "b": "2", "note": "3", "more": "4"}),
        json!({"a": 1, "b": 2, "note": "3", "more": "4"}),
        &["number", "number"],
    );
    // What is wrong beside it stays wrong, and so all stays as it was.
    leaves(schema.clone(), json!({"a": "1", "b": "9"}));
    leaves(schema.clone(), json!({"a": "1", "note": 3}));
    leaves(schema, json!({"b": "1"}));
}

// req: M2
#[test]
fn repairs_are_bounded() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let numbers = |count: usize| json!(vec!["1"; count]);
    let (value, kinds) = repaired(&list, &numbers(256)).unwrap();
    assert_eq!((value.as_array().unwrap().len(), kinds.len()), (256, 256));
    leaves(list.clone(), numbers(257));
    leaves(list, json!(vec!["1"; 100_000]));
    // 256 KiB of JSON in strings, and no deeper than a message.
    let any = json!({"type": "array"});
    let text = |bytes: usize| json!(format!("[{}1]", " ".repeat(bytes - 3)));
    assert!(repaired(&any, &text(256 * 1024)).is_some());
    leaves(any.clone(), text(256 * 1024 + 1));
    let nested = |depth: usize| json!(format!("{}{}", "[".repeat(depth), "]".repeat(depth)));
    // serde_json reads one level less than messages may have.
    assert!(repaired(&any, &nested(127)).is_some());
    leaves(any.clone(), nested(129));
    let inside = json!({"properties": {"x": any}});
    assert!(repaired(&inside, &json!({"x": nested(127)})).is_some());
    leaves(inside, json!({"x": nested(128)}));
}

#[test]
fn keywords_mean_what_they_do_in_the_draft() {
    let draft = |name: &str, list: Value| {
        let mut schema =
            json!({"$schema": name, "properties": {"n": {"type": "integer"}, "list": list}});
        schema["properties"]["list"]["type"] = json!("array");
        schema
    };
    let value = json!({"n": "1", "list": ["1", "2"]});
    let [integer, boolean] = ["integer", "boolean"].map(|name| json!({"type": name}));
    for older in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        // It is no keyword yet.
        repairs(
            draft(older, json!({"prefixItems": [integer, boolean]})),
            value.clone(),
            json!({"n": 1, "list": ["1", "2"]}),
            &["number"],
        );
        repairs(
            draft(older, json!({"prefixItems": [boolean], "items": integer})),
            value.clone(),
            json!({"n": 1, "list": [1, 2]}),
            &["number", "number", "number"],
        );
        repairs(
            draft(
                older,
                json!({"prefixItems": [boolean], "items": [integer], "additionalItems": {"type": "number"}}),
            ),
            value.clone(),
            json!({"n": 1, "list": [1, 2]}),
            &["number", "number", "number"],
        );
        // It speaks of items only beside a list of them.
        repairs(
            draft(older, json!({"additionalItems": integer})),
            value.clone(),
            json!({"n": 1, "list": ["1", "2"]}),
            &["number"],
        );
    }
    let newest = "https://json-schema.org/draft/2020-12/schema";
    repairs(
        draft(
            newest,
            json!({"prefixItems": [integer], "additionalItems": integer}),
        ),
        value.clone(),
        json!({"n": 1, "list": [1, "2"]}),
        &["number", "number"],
    );
    // A subschema in a dialect of its own is left alone.
    leaves(
        draft(
            newest,
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "items": integer}),
        ),
        value,
    );
}

// req: M2
#[test]
fn repairs_keep_to_the_limits_of_the_message() {
    let room = |max_depth: usize, max_values: usize, max_digits: usize| Limits {
        max_depth,
        max_values,
        max_digits,
        ..Limits::default()
    };
    let kept = |schema: &Value, value: Value, room: Limits| {
        repaired_within(schema, &value, &room).is_some()
    };
    let x = |value: Value| json!({"properties": {"x": value}});
    let any = x(json!({"type": "array"}));
    // Three levels, of which the object is one.
    assert!(kept(&any, json!({"x": "[[]]"}), room(3, 1, 1)));
    assert!(!kept(&any, json!({"x": "[[]]"}), room(2, 1, 1)));
    let list = x(json!({"type": "array", "items": {"type": "integer"}}));
    assert!(kept(&list, json!({"x": 7}), room(2, 1, 1)));
    assert!(!kept(&list, json!({"x": 7}), room(1, 1, 1)));
    // The string itself is a value that the message had.
    assert!(kept(&list, json!({"x": "[1, 2]"}), room(2, 2, 1)));
    assert!(!kept(&list, json!({"x": "[1, 2]"}), room(2, 1, 1)));
    assert!(!kept(&list, json!({"x": 7}), room(2, 0, 1)));
    let lists = json!({"properties": {"x": {"type": "array"}, "y": {"type": "array"}}});
    let two = json!({"x": "[1, 2]", "y": "[3]"});
    assert!(kept(&lists, two.clone(), room(2, 3, 1)));
    assert!(!kept(&lists, two, room(2, 2, 1)));
    let nested = json!({"type": "object", "properties": {"x": {"type": "array"}}});
    assert!(kept(&nested, json!(r#"{"x": "[1]"}"#), room(2, 2, 1)));
    assert!(!kept(&nested, json!(r#"{"x": "[1]"}"#), room(2, 1, 1)));
    let number = x(json!({"type": "number"}));
    assert!(kept(&number, json!({"x": "-1.5e-10"}), room(2, 0, 4)));
    assert!(!kept(&number, json!({"x": "-1.5e-10"}), room(2, 0, 3)));
    assert!(!kept(&any, json!({"x": "[1.25]"}), room(2, 1, 2)));
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({"type": "integer"})),
        Just(json!({"type": "number", "minimum": 0})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "string"})),
        Just(json!({"type": ["integer", "null"]})),
        Just(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})),
        Just(json!({})),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            inner
                .clone()
                .prop_map(|items| json!({"type": "array", "items": items})),
            (prop::collection::vec(inner.clone(), 1..3), any::<bool>()).prop_map(
                |(first, is_older)| {
                    let keyword = if is_older { "items" } else { "prefixItems" };
                    json!({"type": "array", keyword: first, "additionalItems": {"type": "integer"}})
                }
            ),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|properties| {
                json!({"type": "object", "properties": properties, "additionalProperties": false})
            }),
        ]
    })
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|value| json!(value)),
        (-9_i64..9).prop_map(|value| json!(value)),
        (-9_i64..9).prop_map(|value| json!(value.to_string())),
        Just(json!("true")),
        Just(json!("word")),
        Just(json!("[\"1\", 2]")),
        Just(json!("{\"a\": \"1\"}")),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[ab]", inner, 0..3).prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(config(2_000))]

    /// What comes out is valid, has the same names and lengths where nothing was parsed or wrapped,
    /// and strings stay strings wherever they may.
    #[test]
    fn a_repaired_value_is_valid_and_a_valid_one_is_never_touched(
        mut schema in schemas(),
        value in values(),
        draft in prop::sample::select(vec!["", "http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2019-09/schema"]),
    ) {
        if !draft.is_empty() {
            schema["$schema"] = json!(draft);
        }
        if compile(&schema).is_err() {
            return Ok(());
        }
        if compile(&schema).unwrap().is_valid(&value) {
            return Ok(());
        }
        if let Some((after, kinds)) = repaired(&schema, &value) {
            prop_assert!(!kinds.is_empty() && kinds.len() <= 256);
            prop_assert!(keeps(&value, &after), "{value} {after}");
        }
    }
}

/// Whether `after` is `before` but for the changes there may be.
fn keeps(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .all(|(name, value)| after.get(name).is_some_and(|after| keeps(value, after)))
        }
        (Value::Array(before), Value::Array(after)) => {
            before.len() == after.len()
                && before
                    .iter()
                    .zip(after)
                    .all(|(before, after)| keeps(before, after))
        }
        (Value::String(text), after) => match after {
            Value::String(after) => text == after,
            Value::Null => false,
            Value::Array(items) if !text.starts_with('[') => {
                matches!(items.as_slice(), [one] if keeps(before, one))
            }
            after => {
                let parsed = serde_json::from_str::<Value>(text).unwrap();
                parsed == *after || keeps(&parsed, after)
            }
        },
        (scalar, Value::Array(items)) => matches!(items.as_slice(), [one] if one == scalar),
        (before, after) => before == after,
    }
}
