//! Whether one schema takes every value of another, and whether any value satisfies one.

use mcp_core::schema::SchemaLimits;
use mcp_lint::relation::{Answer, contains, contradictions, satisfiable};
use serde_json::{Map, Value, json};

use super::on_stack;

fn contained(outer: &Value, inner: &Value) -> (Answer, Option<Value>) {
    let asked = on_stack(64 << 20, || {
        contains(outer, inner, &SchemaLimits::default())
    });
    let known = asked.unwrap();
    (known.answer, known.witness)
}

#[track_caller]
fn yes(outer: &Value, inner: &Value) {
    assert_eq!(
        contained(outer, inner),
        (Answer::Yes, None),
        "{outer} {inner}"
    );
}

#[track_caller]
fn no(outer: &Value, inner: &Value, witness: &Value) {
    let expected = (Answer::No, Some(witness.clone()));
    assert_eq!(contained(outer, inner), expected, "{outer} {inner}");
}

#[track_caller]
fn unknown(outer: &Value, inner: &Value) {
    assert_eq!(
        contained(outer, inner),
        (Answer::Unknown, None),
        "{outer} {inner}"
    );
}

fn object(properties: &Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

#[test]
fn a_schema_takes_what_a_narrower_one_takes() {
    let text = json!({"type": "string"});
    let short = json!({"type": "string", "maxLength": 3});
    yes(&text, &short);
    yes(&json!({}), &text);
    yes(&text, &json!(false));
    yes(&text, &json!({"type": "string", "description": "words"}));
    yes(&json!({"enum": ["a", "b"]}), &json!({"const": "a"}));
    yes(&json!({"type": ["string", "null"]}), &short);
    yes(
        &json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}),
        &json!({"oneOf": [{"type": "integer"}, {"type": "string", "minLength": 1}]}),
    );
    yes(
        &object(&json!({"a": text, "b": text}), &["a"]),
        &object(&json!({"a": short, "b": text}), &["a", "b"]),
    );
    yes(
        &json!({"$defs": {"t": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/t"}}}),
        &json!({"$defs": {"t": {"type": "string", "minLength": 1}}, "properties": {"a": {"$ref": "#/$defs/t"}}}),
    );
}

#[test]
fn a_schema_that_does_not_is_shown_by_a_value() {
    let text = json!({"type": "string"});
    let was = object(
        &json!({"a": text, "n": {"type": "integer", "minimum": 0}}),
        &["a"],
    );
    no(
        &object(&was["properties"], &["a", "n"]),
        &was,
        &json!({"a": "a"}),
    );
    let raised = object(
        &json!({"a": text, "n": {"type": "integer", "minimum": 1}}),
        &["a"],
    );
    no(&raised, &was, &json!({"a": "a", "n": 0}));
    no(
        &json!({"enum": ["a"]}),
        &json!({"enum": ["a", "b"]}),
        &json!("b"),
    );
    no(&text, &json!({"type": ["string", "null"]}), &json!(null));
    no(&json!({"maxLength": 2}), &text, &json!("aaa"));
    no(
        &json!({"type": "array", "items": {"type": "string"}}),
        &json!({"type": "array"}),
        &json!([1]),
    );
    // The algebra alone does not know this one.
    let mut closed = was.clone();
    closed["additionalProperties"] = json!(false);
    let fewer = json!({"type": "object", "properties": {"a": text}, "additionalProperties": false});
    no(&fewer, &closed, &json!({"a": "a", "n": 0}));
}

#[test]
fn what_is_not_found_out_is_unknown() {
    // Patterns are not compared as languages.
    let pattern = |pattern: &str| json!({"type": "string", "pattern": pattern});
    unknown(&pattern("^a"), &pattern("^ab"));
    // `#` is another schema on either side.
    let list = |more: &Value| json!({"type": "object", "properties": {"next": {"$ref": "#"}, "more": more}});
    unknown(
        &list(&json!({"minimum": 0})),
        &list(&json!({"minimum": 0, "pattern": "a"})),
    );
    // Another draft.
    let draft7 = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"});
    unknown(&json!({"type": "string"}), &draft7);
}

#[test]
fn what_would_take_the_algebra_seconds_is_not_put_to_it() {
    let not =
        |index: usize| json!({"not": {"required": [format!("a{index}"), format!("b{index}")]}});
    let nots =
        |count: usize| json!({"type": "object", "allOf": (0..count).map(not).collect::<Vec<_>>()});
    // Four are, five are not.
    yes(&nots(3), &nots(4));
    unknown(&nots(4), &nots(5));

    let members = |count: usize| json!({"enum": (0..count).collect::<Vec<_>>()});
    yes(&members(1_000), &members(999));
    unknown(&members(1_001), &members(1_000));

    let branch = |index: usize| json!({"const": index});
    let branches = |count: usize| json!({"anyOf": (0..count).map(branch).collect::<Vec<_>>()});
    yes(&branches(48), &branches(47));
    unknown(&branches(49), &branches(48));
}

#[test]
fn wide_objects_are_compared_property_by_property() {
    let wide = |length: usize| -> Value {
        let property = |index: usize| {
            (
                format!("p{index}"),
                json!({"type": "string", "maxLength": length}),
            )
        };
        let properties: Map<String, Value> = (0..1_000).map(property).collect();
        json!({"type": "object", "properties": properties})
    };
    yes(&wide(9), &wide(8));
}

#[test]
fn a_deep_or_large_schema_is_refused_like_any_other() {
    let mut deep = json!({"type": "string"});
    for _ in 0..64 {
        deep = json!({"items": deep});
    }
    let asked = |schema: &Value| {
        on_stack(64 << 20, || satisfiable(schema, &SchemaLimits::default()))
            .map_err(|error| error.kind())
    };
    assert_eq!(asked(&deep), Err("too_deep"));
    assert_eq!(asked(&deep["items"]), Ok(Answer::Yes));
}

#[test]
fn whether_any_value_satisfies() {
    let satisfied = |schema: Value| {
        on_stack(64 << 20, || satisfiable(&schema, &SchemaLimits::default())).unwrap()
    };
    assert_eq!(satisfied(json!({})), Answer::Yes);
    assert_eq!(
        satisfied(json!({"type": "integer", "minimum": 1, "maximum": 1})),
        Answer::Yes
    );
    assert_eq!(satisfied(json!(false)), Answer::No);
    assert_eq!(
        satisfied(json!({"type": "integer", "multipleOf": 10, "minimum": 1, "maximum": 9})),
        Answer::No
    );
    assert_eq!(
        satisfied(json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})),
        Answer::No
    );
    // A value is found that satisfies a pattern, but not by the algebra alone where it is not asked.
    let digits = json!({"type": "string", "pattern": "^[0-9]{17}$"});
    assert_eq!(satisfied(digits.clone()), Answer::Yes);
    let others: Vec<Value> = (0..5)
        .map(|index| json!({"not": {"const": index}}))
        .collect();
    let mut with_others = digits;
    with_others["allOf"] = json!(others);
    assert_eq!(satisfied(with_others), Answer::Unknown);
}

#[test]
fn contradictions_are_found_where_they_are() {
    let found = |schema: Value| -> Vec<(String, String)> {
        let found = on_stack(64 << 20, || {
            contradictions(&schema, &SchemaLimits::default())
        })
        .unwrap();
        let told = found
            .into_iter()
            .map(|found| (found.pointer, found.keywords.join(" ")));
        told.collect()
    };
    let one = |pointer: &str, keywords: &str| vec![(pointer.to_owned(), keywords.to_owned())];
    assert_eq!(
        found(json!({"properties": {"a": {"type": "string", "minLength": 5, "maxLength": 3}}})),
        one("/properties/a", "maxLength minLength")
    );
    assert_eq!(
        found(json!({"properties": {"a": {"type": "string", "enum": [1, 2]}}})),
        one("/properties/a", "enum type")
    );
    assert_eq!(
        found(
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": true, "minItems": 3})
        ),
        one("", "items minItems uniqueItems")
    );
    assert_eq!(
        found(json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}})),
        one("", "")
    );
    // Written so on purpose.
    assert_eq!(
        found(json!({"properties": {"a": false, "b": {"not": {}}}})),
        []
    );
    assert_eq!(found(json!({"type": "object"})), []);
}
