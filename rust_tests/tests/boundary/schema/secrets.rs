//! Problems show nothing that was received but names, and of those 64 bytes.

use mcp_core::schema::{Formats, SchemaOptions, SerdeJson, compile_with};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::generated::config;

/// What a value must not be told by.
const SECRET: &str = "hunter2";

/// A received name: 64 bytes of it may be shown, and then comes what may not.
const NAME: &str = "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnhunter2";

/// One keyword of each kind, over names and values that are not the received ones.
fn keyword(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Value> {
    let list = prop::collection::vec(inner.clone(), 1..3);
    prop_oneof![
        prop::sample::select(vec![
            json!({"type": "integer"}),
            json!({"type": ["null", "boolean"]}),
            json!({"const": 1}),
            json!({"enum": ["a", {"b": 1}]}),
            json!({"pattern": "^[0-9]+$"}),
            json!({"format": "date"}),
            json!({"format": "email"}),
            json!({"format": "uri"}),
            json!({"maxLength": 3}),
            json!({"minLength": 500}),
            json!({"maxItems": 0}),
            json!({"minItems": 9}),
            json!({"uniqueItems": true}),
            json!({"minimum": 1e300}),
            json!({"multipleOf": 7}),
            json!({"required": ["b", "n"]}),
            json!({"minProperties": 9}),
            json!({"maxProperties": 0}),
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"propertyNames": {"maxLength": 0}}),
            json!({"propertyNames": {"enum": ["b"]}}),
            json!({"propertyNames": {"pattern": "^b"}}),
            json!({"additionalProperties": false}),
            json!({"unevaluatedProperties": false}),
            json!({"unevaluatedItems": false}),
            json!(false),
        ]),
        inner.clone().prop_map(|schema| json!({"not": schema})),
        inner.clone().prop_map(|schema| json!({"contains": schema})),
        inner.clone().prop_map(|schema| json!({"items": schema})),
        inner
            .clone()
            .prop_map(|schema| json!({"additionalProperties": schema})),
        inner
            .clone()
            .prop_map(|schema| json!({"patternProperties": {"^n": schema}})),
        inner
            .clone()
            .prop_map(|schema| json!({"propertyNames": schema})),
        inner.prop_map(|schema| json!({"if": true, "then": schema})),
        list.clone().prop_map(|schemas| json!({"anyOf": schemas})),
        list.clone().prop_map(|schemas| json!({"oneOf": schemas})),
        list.prop_map(|schemas| json!({"allOf": schemas})),
    ]
}

fn schemas() -> impl Strategy<Value = Value> {
    let leaf = Just(json!({"type": "null"})).boxed();
    let one = keyword(leaf).boxed();
    let two = keyword(one).boxed();
    keyword(two)
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!(SECRET)),
        Just(json!(format!("{SECRET}{SECRET}"))),
        Just(json!(7_247_247.5)),
        Just(json!(7_247_247)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(prop::sample::select(vec!["a", "bb", NAME]), inner, 0..4)
                .prop_map(|members| json!(members)),
        ]
    })
}

proptest! {
    #![proptest_config(config(4_000))]

    // req: M16
    #[test]
    fn no_problem_holds_what_was_received(schema in schemas(), value in values()) {
        let options = SchemaOptions { formats: Formats::Assert, ..SchemaOptions::default() };
        // These are flat: they compile on the test's own stack.
        let text = schema.to_string();
        let Ok(validator) = compile_with::<SerdeJson>(text.as_bytes(), &options) else {
            return Ok(());
        };
        let problems = validator.check(&value).err().unwrap_or_default();
        prop_assert!(problems.len() <= 20);
        for problem in problems {
            let whole = format!("{problem:?} {problem}");
            prop_assert!(!whole.contains(SECRET) && !whole.contains("7247247"), "{schema}: {whole}");
            prop_assert!(problem.to_string().len() <= 1_024);
        }
    }
}
