//! What a schema may be.

use mcp_core::json::JsonErrorKind;
use mcp_core::schema::{SchemaError, SchemaLimits};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{compile, compile_text};
use crate::generated::config;

fn nested(depth: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (1..depth).fold(json!({"type": "string"}), |schema, _| wrap(schema))
}

#[test]
fn exactly_262144_bytes_are_a_schema_and_one_more_is_not() {
    let mut text = br#"{"type":"string"}"#.to_vec();
    text.resize(256 * 1024, b' ');
    assert!(compile_text(&text, &SchemaLimits::default()).is_ok());
    text.push(b' ');
    let error = compile_text(&text, &SchemaLimits::default()).unwrap_err();
    assert_eq!(error, SchemaError::TooLarge { limit: 262_144 });
}

type Wrap = fn(Value) -> Value;

#[test]
fn exactly_64_nested_subschemas_are_allowed_and_65_are_not() {
    let wraps: [(&str, Wrap); 5] = [
        ("not", |schema| json!({"not": schema})),
        ("items", |schema| json!({"items": schema})),
        ("properties", |schema| json!({"properties": {"a": schema}})),
        ("allOf", |schema| json!({"allOf": [schema]})),
        ("anyOf", |schema| json!({"anyOf": [schema]})),
    ];
    for (name, wrap) in wraps {
        assert!(compile(&nested(64, wrap)).is_ok(), "{name}");
        let error = compile(&nested(65, wrap)).unwrap_err();
        let expected = match name {
            "not" | "items" => SchemaError::TooDeep { limit: 64 },
            _ => SchemaError::JsonTooDeep { limit: 127 },
        };
        assert_eq!(error, expected, "{name}");
        assert_eq!(error.kind(), "too_deep");
    }
}

#[test]
fn depth_is_counted_before_anything_recurses() {
    for depth in [120, 400, 5_000, 100_000] {
        for (open, close) in [("{\"not\":", "}"), ("{\"x\":[", "]}")] {
            let text = open.repeat(depth) + "1" + &close.repeat(depth);
            let limits = SchemaLimits {
                max_bytes: usize::MAX,
                ..SchemaLimits::default()
            };
            // On a small stack, which a recursion of that depth would overflow.
            let compile =
                || mcp_core::schema::compile::<super::SerdeJson>(text.as_bytes(), &limits);
            let error = super::on_stack(320 << 10, || compile().map(drop)).unwrap_err();
            assert_eq!(error.kind(), "too_deep", "{depth} {open}");
        }
    }
}

#[test]
fn exactly_2000_subschemas_are_allowed_and_2001_are_not() {
    let with = |count: usize| {
        let properties: Map<String, Value> = (1..count)
            .map(|index| (format!("p{index}"), json!({})))
            .collect();
        json!({"properties": properties})
    };
    assert!(compile(&with(2_000)).is_ok());
    let limit = SchemaError::TooManySubschemas { limit: 2_000 };
    assert_eq!(compile(&with(2_001)).unwrap_err(), limit);
    let booleans = |count: usize| json!({"anyOf": vec![json!(true); count - 1]});
    assert!(compile(&booleans(2_000)).is_ok());
    assert_eq!(compile(&booleans(2_001)).unwrap_err(), limit);
    // What is only data does not count; what a reference could lead to does.
    let data = json!({"enum": vec![json!({}); 3_000].iter().enumerate().map(|(index, _)| json!({"i": index})).collect::<Vec<_>>()});
    assert!(compile(&data).is_ok());
    assert_eq!(
        compile(&json!({"x": vec![json!({}); 2_000]})).unwrap_err(),
        limit
    );
}

fn chain(references: usize) -> Value {
    let mut defs = Map::new();
    for index in 1..references {
        defs.insert(
            format!("d{index}"),
            json!({"$ref": format!("#/$defs/d{}", index + 1)}),
        );
    }
    defs.insert(format!("d{references}"), json!({"type": "string"}));
    json!({"$ref": "#/$defs/d1", "$defs": defs})
}

#[test]
fn exactly_64_references_in_a_row_are_allowed_and_65_are_not() {
    let validator = compile(&chain(64)).unwrap();
    assert!(validator.is_valid(&json!("x")));
    assert!(!validator.is_valid(&json!(1)));
    assert_eq!(
        compile(&chain(65)).unwrap_err(),
        SchemaError::TooManyRefs { limit: 64 }
    );
    // Combinators between them do not make the row shorter, a step into the value does.
    let mut schema = chain(65);
    schema["$defs"]["d9"] = json!({"allOf": [{"$ref": "#/$defs/d10"}]});
    assert_eq!(
        compile(&schema).unwrap_err(),
        SchemaError::TooManyRefs { limit: 64 }
    );
    schema["$defs"]["d9"] = json!({"items": {"$ref": "#/$defs/d10"}});
    assert!(compile(&schema).is_ok());
}

#[test]
fn limits_are_configurable() {
    let limits = SchemaLimits {
        max_bytes: 100,
        max_depth: 2,
        max_subschemas: 3,
        max_regex_bytes: 4_096,
        max_refs_on_path: 1,
        max_steps: 1_000,
        max_problems: 20,
    };
    let kind = |schema: Value| {
        compile_text(schema.to_string().as_bytes(), &limits)
            .map_err(|error| error.kind())
            .err()
    };
    assert_eq!(kind(json!({"not": {"type": "string"}})), None);
    assert_eq!(kind(json!({"not": {"not": {}}})), Some("too_deep"));
    assert_eq!(kind(json!({"anyOf": [{}, {}]})), None);
    assert_eq!(
        kind(json!({"anyOf": [{}, {}, {}]})),
        Some("too_many_subschemas")
    );
    assert_eq!(kind(json!({"pattern": "^a"})), None);
    assert_eq!(
        kind(json!({"pattern": "(a{9}){99}"})),
        Some("invalid_schema")
    );
    assert_eq!(kind(json!({"title": "x".repeat(100)})), Some("too_large"));
    let reference = json!({"$defs": {"a": {"type": "null"}}, "$ref": "#/$defs/a"});
    assert_eq!(kind(reference), None);
    let steps = compile_text(br#"{"items":{"type":"integer"}}"#, &limits).unwrap();
    assert!(steps.is_valid(&json!(vec![1; 100])));
    assert!(!steps.is_valid(&json!(vec![1; 10_000])));
}

#[test]
fn what_is_no_json_or_no_schema_is_refused_with_the_place() {
    let refused = |text: &str| compile_text(text.as_bytes(), &SchemaLimits::default()).unwrap_err();
    let json = |text: &str| match refused(text) {
        SchemaError::Json(error) => error.kind,
        other => panic!("{text}: {other}"),
    };
    assert_eq!(json(""), JsonErrorKind::UnexpectedEnd);
    assert_eq!(json("{"), JsonErrorKind::UnexpectedEnd);
    assert_eq!(json("{} {}"), JsonErrorKind::TrailingBytes);
    assert_eq!(
        json(r#"{"type":"string","type":"null"}"#),
        JsonErrorKind::DuplicateKey
    );
    let told = |text: &str| refused(text).to_string();
    assert_eq!(
        told(r#"{"properties":{"a":{"type":"strin"}}}"#),
        "the schema is invalid: /properties/a/type: must be an array, or one of \"array\", \
         \"boolean\", \"integer\", \"null\", \"number\", \"object\", \"string\" (anyOf)"
    );
    assert_eq!(
        told(r#"{"minLength":-1}"#),
        "the schema is invalid: /minLength: must be at least 0 (minimum)"
    );
    assert_eq!(
        told("[]"),
        "the schema is invalid: (root): must be a boolean or an object (type)"
    );
}

#[test]
fn patterns_run_on_the_linear_engine() {
    let told = |pattern: &str| {
        compile(&json!({"pattern": pattern}))
            .map_err(|error| error.to_string())
            .err()
    };
    let refused = |pattern: &str| {
        Some(format!(
            "the schema is invalid: /pattern: must be a valid regular expression of limited size \
             without look-around and backreferences, got: {} (pattern)",
            json!(pattern)
        ))
    };
    for pattern in [
        "^(?!a)b$",
        "(?<=a)b",
        r"(a)\1",
        "(a{1000}){1000}",
        r"(\p{L}{100}){100}",
        "(",
    ] {
        assert_eq!(told(pattern), refused(pattern), "{pattern}");
    }
    assert_eq!(told(r"^[\w-]{1,64}@\p{L}+$"), None);
    let names = compile(&json!({"patternProperties": {"(?=a)": true}})).unwrap_err();
    assert_eq!(names.kind(), "invalid_schema");

    let validator = compile(&json!({"pattern": "^(a+)+$"})).unwrap();
    let subject = json!("a".repeat(100_000) + "b");
    assert!(!validator.is_valid(&subject));
}

#[test]
fn all_patterns_together_have_a_limit() {
    let with = |count: usize| {
        let patterns: Map<String, Value> = (0..count)
            .map(|index| (format!(r"^\p{{L}}{{20}}{index}$"), json!(true)))
            .collect();
        compile(&json!({"patternProperties": patterns}))
    };
    assert!(with(10).is_ok());
    assert_eq!(with(1_900).unwrap_err().kind(), "invalid_schema");
}

proptest! {
    #![proptest_config(config(256))]

    // req: F1
    #[test]
    fn no_text_makes_compiling_panic(text in ".{0,60}") {
        let _ = compile_text(text.as_bytes(), &SchemaLimits::default());
    }

    // req: F1
    #[test]
    fn no_mix_of_keywords_makes_compiling_panic(
        pairs in prop::collection::vec((0..KEYWORDS.len(), 0..VALUES.len()), 0..6),
    ) {
        let members: Map<String, Value> = pairs
            .iter()
            .map(|&(keyword, value)| (KEYWORDS[keyword].to_owned(), serde_json::from_str(VALUES[value]).unwrap()))
            .collect();
        if let Ok(validator) = compile(&Value::Object(members)) {
            for value in VALUES {
                let value: Value = serde_json::from_str(value).unwrap();
                prop_assert_eq!(validator.is_valid(&value), validator.check(&value).is_ok());
            }
        }
    }
}

const KEYWORDS: &[&str] = &[
    "$id",
    "$ref",
    "$dynamicRef",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveRef",
    "$schema",
    "$defs",
    "definitions",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "properties",
    "patternProperties",
    "additionalProperties",
    "propertyNames",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "unevaluatedItems",
    "contains",
    "dependentSchemas",
    "dependencies",
    "type",
    "enum",
    "const",
    "minimum",
    "pattern",
    "required",
    "uniqueItems",
    "format",
    "contentMediaType",
];

const VALUES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-1",
    "1.5",
    "\"\"",
    "\"#\"",
    "\"#/$defs/a\"",
    "\"a\"",
    "\"string\"",
    "\"object\"",
    "[]",
    "[\"a\"]",
    "[{}]",
    "[true,{\"$ref\":\"#\"}]",
    "{}",
    "{\"a\":{}}",
    "{\"a\":{\"$ref\":\"#\"}}",
    "{\"type\":\"string\"}",
    "{\"not\":{\"$ref\":\"#\"}}",
    "{\"a\":[\"b\"]}",
];
