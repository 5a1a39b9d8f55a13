//! Schemas and values made to keep a validator busy.

use mcp_core::schema::SchemaError;
use serde_json::{Map, Value, json};

use super::{compile, on_stack};

/// Pairs of references to the next level: `2^levels` ways to the leaf.
fn lattice(levels: usize, combinator: &str, leaf: &Value) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({combinator: [next, next]}));
    }
    defs.insert(format!("l{levels}"), leaf.clone());
    json!({"$ref": "#/$defs/l0", "$defs": defs})
}

// The explanation may take as many steps as the verdict did. Of 20 levels it would take a thousand times as many.
#[test]
fn a_lattice_of_20_levels_is_refused_without_an_explanation() {
    for combinator in ["anyOf", "oneOf"] {
        let validator = compile(&lattice(20, combinator, &json!({"type": "string"}))).unwrap();
        for value in [json!(1), json!({"a": 1})] {
            let problems = validator.check(&value).unwrap_err();
            assert_eq!(problems.len(), 1);
            assert_eq!(
                problems[0].to_string(),
                "(root): must be a value that satisfies the schema (schema)",
                "{combinator} {value}"
            );
        }
    }
}

#[test]
fn a_small_lattice_is_explained() {
    let validator = compile(&lattice(8, "anyOf", &json!({"type": "string"}))).unwrap();
    let problems = validator.check(&json!(1)).unwrap_err();
    assert_eq!(problems.len(), 1);
    assert_eq!(problems[0].to_string(), "(root): must be a string (anyOf)");
}

// req: Y3
#[test]
fn who_cannot_wait_is_told_to_come_back_elsewhere() {
    let validator = compile(&lattice(20, "anyOf", &json!({"type": "string"}))).unwrap();
    let (fits, hostile) = (json!("a"), json!(1));
    assert_eq!(validator.verdict(&fits, 1_000), Some(true));
    assert_eq!(validator.verdict(&hostile, 1_000), None);
    assert_eq!(validator.verdict(&hostile, u64::MAX), Some(false));
    assert_eq!(validator.check_within(&hostile, 1_000), None);

    let small = compile(&lattice(4, "anyOf", &json!({"type": "string"}))).unwrap();
    assert_eq!(
        small.check_within(&hostile, 1_000),
        Some(small.check(&hostile))
    );
    assert_eq!(small.check_within(&fits, 1_000), Some(Ok(())));
}

#[test]
fn a_lattice_of_21_levels_is_refused() {
    for combinator in ["anyOf", "allOf", "oneOf"] {
        let leaf = json!({"type": "string"});
        for levels in [21, 24, 60] {
            let error = compile(&lattice(levels, combinator, &leaf)).unwrap_err();
            assert_eq!(error, SchemaError::TooComplex, "{combinator} {levels}");
        }
    }
}

#[test]
fn ways_that_nothing_counts_are_limited_to_4096() {
    for (leaf, value) in [(json!({}), json!(1)), (json!(false), json!(1))] {
        let combinator = if leaf == json!({}) { "allOf" } else { "anyOf" };
        assert!(compile(&lattice(12, combinator, &leaf)).is_ok());
        let error = compile(&lattice(13, combinator, &leaf)).unwrap_err();
        assert_eq!(error, SchemaError::TooComplex, "{leaf} {value}");
    }
    let names = |levels: usize| {
        let mut schema = lattice(levels, "anyOf", &json!({"maxLength": 3}));
        schema["propertyNames"] = schema["$ref"].take();
        schema["propertyNames"] = json!({"$ref": "#/$defs/l0"});
        schema.as_object_mut().unwrap().remove("$ref");
        schema
    };
    assert!(compile(&names(12)).is_ok());
    assert_eq!(compile(&names(13)).unwrap_err(), SchemaError::TooComplex);
}

#[test]
fn unevaluated_properties_over_many_ways_are_refused() {
    let with = |levels: usize| {
        let mut schema = lattice(levels, "allOf", &json!({"properties": {"a": {}}}));
        schema["unevaluatedProperties"] = json!(false);
        schema
    };
    let validator = compile(&with(8)).unwrap();
    assert!(validator.is_valid(&json!({"a": 1})));
    assert!(!validator.is_valid(&json!({"b": 1})));
    assert_eq!(compile(&with(18)).unwrap_err(), SchemaError::TooComplex);
}

#[test]
fn a_long_way_into_a_value_compiles() {
    let hops = 998;
    let mut defs: Map<String, Value> = (0..hops)
        .map(|hop| {
            let next = json!({"$ref": format!("#/$defs/d{}", hop + 1)});
            (format!("d{hop}"), json!({"properties": {"a": next}}))
        })
        .collect();
    defs.insert(format!("d{hops}"), json!({"type": "string"}));
    let validator = compile(&json!({"$ref": "#/$defs/d0", "$defs": defs})).unwrap();
    assert!(!validator.is_valid(&(0..hops).fold(json!(1), |value, _| json!({"a": value}))));
}

/// Every definition refers to all of them.
fn complete(count: usize, has_ids: bool) -> Value {
    let defs: Map<String, Value> = (0..count)
        .map(|index| {
            let reference = |to: usize| match has_ids {
                true => json!({"$ref": format!("http://example.com/{to}")}),
                false => json!({"$ref": format!("#/$defs/{to}")}),
            };
            let references: Vec<Value> = (0..count).map(reference).collect();
            let mut schema = json!({"anyOf": references, "type": "string"});
            if has_ids {
                schema["$id"] = json!(format!("http://example.com/{index}"));
            }
            (index.to_string(), schema)
        })
        .collect();
    json!({"$ref": "#/$defs/0", "$defs": defs})
}

#[test]
fn resources_that_all_refer_to_each_other_are_refused_before_they_are_compiled() {
    assert!(compile(&complete(4, true)).is_ok());
    for count in [7, 9, 30] {
        let error = compile(&complete(count, true)).unwrap_err();
        assert_eq!(error, SchemaError::TooComplex, "{count}");
    }
}

#[test]
fn definitions_that_all_refer_to_each_other_are_compiled_or_refused() {
    let checked = |count| compile(&complete(count, false)).map(|it| it.check(&json!("x")).is_ok());
    assert_eq!(
        [8, 12, 40].map(checked),
        [
            Ok(true),
            Err(SchemaError::TooComplex),
            Err(SchemaError::TooComplex)
        ]
    );
}

// req: M16
#[test]
fn many_wrong_items_are_reported_by_the_first() {
    let validator = compile(&json!({"items": {"type": "integer"}})).unwrap();
    let many = json!(vec!["secret"; 1_000_000]);
    let problems = validator.check(&many).unwrap_err();
    assert_eq!(problems[0].to_string(), "/0: must be an integer (type)");
    assert_eq!(problems.len(), 1);
    let few = json!(vec!["secret"; 100]);
    assert_eq!(validator.check(&few).unwrap_err().len(), 20);
}

// req: M16
#[test]
fn an_error_does_not_copy_the_value() {
    // With a copy for each of 400 errors this would take 12 GiB.
    let missing: Vec<Value> = (0..400)
        .map(|index| json!({"required": [format!("k{index}")]}))
        .collect();
    let validator = compile(&json!({"allOf": missing})).unwrap();
    let large = json!({"data": vec!["x".repeat(1 << 20); 30]});
    assert_eq!(validator.check(&large).unwrap_err().len(), 20);
}

// req: M16
#[test]
fn errors_behind_a_long_name_are_counted_by_its_length() {
    // Each error copies the names that lead to it: these would take 512 MiB and 16 GiB.
    let validator = compile(&json!({"additionalProperties": {"items": {"type": "integer"}}}));
    let validator = validator.unwrap();
    let behind = |bytes: usize, errors: usize| {
        let value = json!({"n".repeat(bytes): vec!["secret"; errors]});
        validator.check(&value).unwrap_err().len()
    };
    assert_eq!(behind(64, 4_000), 20);
    assert_eq!(behind(1_000, 1_000), 20);
    assert_eq!(behind(1 << 17, 4_000), 1);
    assert_eq!(behind(4 << 20, 4_000), 1);
}

#[test]
fn large_valid_values_are_checked() {
    let rows: Vec<Value> = (0..20_000)
        .map(|index| json!({"id": index, "name": "n", "tags": ["a", "b"]}))
        .collect();
    let schema = json!({"type": "array", "uniqueItems": true, "items": {
        "type": "object",
        "properties": {"id": {"type": "integer", "minimum": 0}, "name": {"type": "string", "pattern": "^[a-z]+$"},
            "tags": {"type": "array", "items": {"enum": ["a", "b"]}}},
        "required": ["id", "name"], "additionalProperties": false,
    }});
    let validator = compile(&schema).unwrap();
    assert_eq!(validator.check(&json!(rows)), Ok(()));
}

fn deep(levels: usize, leaf: Value) -> Value {
    (0..levels).fold(leaf, |value, _| json!([value]))
}

#[test]
fn checking_a_deep_value_stays_on_the_stack_of_a_dirty_scheduler() {
    let recursive: [(&str, Value); 4] = [
        (
            "items",
            json!({"type": ["array", "string"], "items": {"$ref": "#"}}),
        ),
        (
            "anyOf",
            json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#"}}]}),
        ),
        (
            "allOf",
            json!({"allOf": [{"items": {"$ref": "#"}}, {"type": ["array", "string"]}]}),
        ),
        (
            "not",
            json!({"not": {"not": {"type": ["array", "string"], "items": {"$ref": "#"}}}}),
        ),
    ];
    for (name, schema) in recursive {
        let validator = compile(&schema).unwrap();
        for leaf in [json!("x"), json!(1)] {
            let value = deep(127, leaf.clone());
            let result = on_stack(320 << 10, || {
                validator.check(&value).map_err(|problems| problems.len())
            });
            // An unoptimised build needs more stack and may stop; it must not overflow.
            println!("{name} {leaf}: {result:?}");
            assert!(leaf != json!(1) || result.is_err(), "{name}");
        }
    }
    let wide = (0..60).fold(
        json!({"items": {"$ref": "#"}}),
        |schema, _| json!({"anyOf": [{"const": 7}, schema]}),
    );
    let validator = compile(&wide).unwrap();
    let value = deep(127, json!("x"));
    let problems = on_stack(320 << 10, || validator.check(&value).unwrap_err());
    assert_eq!(
        problems[0].to_string(),
        "(root): must be a value simple enough to be checked against the schema (schema)"
    );
}
