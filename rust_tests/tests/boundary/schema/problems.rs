//! What a model is told.

use mcp_core::schema::Problem;
use serde_json::{Map, Value, json};

use super::{compile, problems, told};

#[track_caller]
fn tells(schema: Value, value: Value, expected: &[&str]) {
    assert_eq!(told(&schema, &value), expected, "{schema}");
}

// req: M16
#[test]
fn each_keyword_says_what_it_expects() {
    let cases = [
        (
            json!({"type": "string"}),
            json!(1),
            "must be a string (type)",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!(1),
            "must be a string or null (type)",
        ),
        (
            json!({"const": {"a": 1}}),
            json!(1),
            r#"must be {"a":1} (const)"#,
        ),
        (
            json!({"minimum": 1}),
            json!(0),
            "must be at least 1 (minimum)",
        ),
        (
            json!({"maximum": 1.5}),
            json!(2),
            "must be at most 1.5 (maximum)",
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            "must be an integer (type)",
        ),
        (
            json!({"multipleOf": 0.01}),
            json!(0.005),
            "must be a multiple of 0.01 (multipleOf)",
        ),
        (
            json!({"exclusiveMinimum": 1}),
            json!(1),
            "must be more than 1 (exclusiveMinimum)",
        ),
        (
            json!({"exclusiveMaximum": 1}),
            json!(1),
            "must be less than 1 (exclusiveMaximum)",
        ),
        (
            json!({"multipleOf": 5}),
            json!(3),
            "must be a multiple of 5 (multipleOf)",
        ),
        (
            json!({"minLength": 1}),
            json!(""),
            "must be a string of at least 1 character (minLength)",
        ),
        (
            json!({"maxLength": 2}),
            json!("abc"),
            "must be a string of at most 2 characters (maxLength)",
        ),
        (
            json!({"pattern": "^a$"}),
            json!("b"),
            "must be a string that matches the pattern ^a$ (pattern)",
        ),
        (
            json!({"minItems": 2}),
            json!([1]),
            "must be an array of at least 2 items (minItems)",
        ),
        (
            json!({"maxItems": 1}),
            json!([1, 2]),
            "must be an array of at most 1 item (maxItems)",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 1]),
            "must be an array without duplicates (uniqueItems)",
        ),
        (
            json!({"minProperties": 1}),
            json!({}),
            "must be an object with at least 1 property (minProperties)",
        ),
        (
            json!({"maxProperties": 0}),
            json!({"a": 1}),
            "must be an object with at most 0 properties (maxProperties)",
        ),
        (
            json!({"required": ["x"]}),
            json!({}),
            r#"must be an object with the property "x" (required)"#,
        ),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            json!({"a": 1}),
            r#"must be an object with the property "b", as it has "a" (dependentRequired)"#,
        ),
        (
            json!({"prefixItems": [true], "items": false}),
            json!([1, 2]),
            "must be absent (items)",
        ),
        (
            json!({"unevaluatedItems": false}),
            json!([1]),
            "must be an array without further items (unevaluatedItems)",
        ),
    ];
    for (schema, value, expected) in cases {
        let place = if schema.get("prefixItems").is_some() {
            "/1"
        } else {
            "(root)"
        };
        tells(schema, value, &[&format!("{place}: {expected}")]);
    }
}

// req: M16
#[test]
fn an_integer_may_be_written_with_a_fraction_of_zero_but_in_draft_4() {
    let newest = json!({"type": "integer"});
    assert!(compile(&newest).unwrap().is_valid(&json!(1.0)));
    let oldest = json!({"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"});
    tells(oldest, json!(1.0), &["(root): must be an integer (type)"]);
}

// req: M16
#[test]
fn the_allowed_values_are_listed() {
    let schema = json!({"properties": {"operation": {"enum": ["add", "subtract"]}}});
    let problem = problems(&schema, &json!({"operation": "multiply"})).remove(0);
    assert_eq!(problem.pointer, "/operation");
    assert_eq!(problem.keyword, "enum");
    assert_eq!(problem.expected, r#"one of "add", "subtract""#);
    assert_eq!(problem.allowed, [r#""add""#, r#""subtract""#]);
    assert_eq!(problem.nearest, None);
    assert_eq!(
        problem.to_string(),
        r#"/operation: must be one of "add", "subtract" (enum)"#
    );

    let many: Vec<String> = (0..1_000).map(|index| format!("value {index}")).collect();
    let problem = problems(&json!({"enum": many}), &json!(1)).remove(0);
    assert!(
        problem
            .expected
            .starts_with(r#"one of "value 0", "value 1", "#),
        "{}",
        problem.expected
    );
    assert!(problem.expected.ends_with(" more"), "{}", problem.expected);
    assert!(problem.to_string().len() <= 1024);
    tells(
        json!({"enum": ["x".repeat(5_000)]}),
        json!(1),
        &["(root): must be one of the values the schema lists (enum)"],
    );
}

fn calculator() -> Value {
    json!({
        "type": "object",
        "properties": {"operation": {"enum": ["add", "subtract"]}, "left": {"type": "number"}, "rightOperand": {"type": "number"}},
        "required": ["operation", "left"],
        "additionalProperties": false,
    })
}

// req: M16
#[test]
fn a_misspelt_property_is_told_the_nearest_one() {
    tells(
        calculator(),
        json!({"operatoin": "add", "left": 1}),
        &[
            r#"(root): must be an object with the property "operation"; is "operatoin" meant to be it? (required)"#,
            r#"/operatoin: must be absent; did you mean "operation"? (additionalProperties)"#,
        ],
    );
    let found = problems(
        &calculator(),
        &json!({"operation": "add", "left": 1, "right_operand": 2, "zzz": 3}),
    );
    let nearest: Vec<(&str, Option<&str>)> = found
        .iter()
        .map(|problem| (problem.pointer.as_str(), problem.nearest.as_deref()))
        .collect();
    assert_eq!(
        nearest,
        [("/right_operand", Some("rightOperand")), ("/zzz", None)]
    );
    // Behind a reference, too.
    let schema = json!({"$ref": "#/$defs/calculator", "$defs": {"calculator": calculator()}});
    assert_eq!(
        problems(
            &schema,
            &json!({"operation": "add", "left": 1, "rihgtOperand": 2})
        )[0]
        .nearest
        .as_deref(),
        Some("rightOperand")
    );
    let schema = json!({"allOf": [{"properties": {"colour": {}}}], "unevaluatedProperties": false});
    tells(
        schema,
        json!({"color": 1}),
        &[r#"/color: must be absent; did you mean "colour"? (unevaluatedProperties)"#],
    );
}

// req: M16
#[test]
fn alternatives_are_summed_up_or_the_closest_is_explained() {
    tells(
        json!({"anyOf": [{"type": "string"}, {"type": "null"}, {"type": "integer"}]}),
        json!(1.5),
        &["(root): must be a string, an integer or null (anyOf)"],
    );
    tells(
        json!({"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]}),
        json!("c"),
        &[r#"(root): must be one of "a", "b" (oneOf)"#],
    );
    tells(
        json!({"anyOf": [{"type": "string"}, {"enum": [1, 2]}]}),
        json!(3),
        &["(root): must be a string, or one of 1, 2 (anyOf)"],
    );

    let shapes = json!({"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        {"type": "null"},
    ]});
    tells(
        shapes.clone(),
        json!({"kind": "square", "side": "wide"}),
        &["/side: must be a number (type)"],
    );
    tells(
        shapes.clone(),
        json!({"kind": "square"}),
        &[r#"(root): must be an object with the property "side" (required)"#],
    );
    tells(
        json!({"anyOf": shapes["oneOf"].as_array().unwrap()[..2]}),
        json!({"kind": "triangle", "radius": 1, "side": 1}),
        &[r#"/kind: must be one of "circle", "square" (anyOf)"#],
    );
    tells(
        json!({"anyOf": [{"anyOf": [{"minimum": 5}]}, {"type": "string"}]}),
        json!(1),
        &["(root): must be at least 5 (minimum)"],
    );
}

// req: M16
#[test]
fn the_pointer_leads_to_the_place() {
    let schema =
        json!({"properties": {"a/b~c": {"items": {"properties": {"": {"type": "null"}}}}}});
    tells(
        schema,
        json!({"a/b~c": [{}, {"": 1}]}),
        &["/a~1b~0c/1/: must be null (type)"],
    );
    let schema = json!({"properties": {"0": {"required": ["name"]}}});
    tells(
        schema,
        json!({"0": {"nmae": 1}}),
        &[
            r#"/0: must be an object with the property "name"; is "nmae" meant to be it? (required)"#,
        ],
    );
}

// req: M16
#[test]
fn received_names_are_cut_and_cleaned() {
    let schema = json!({"additionalProperties": {"type": "null"}});
    let name = "k".repeat(10_000);
    let pointer = &problems(&schema, &json!({ name: 1 }))[0].pointer;
    assert_eq!(*pointer, format!("/{}…", "k".repeat(64)));
    let problem = &told(&schema, &json!({"a\n\u{1b}[31m\u{202e}b\u{0}": 1}))[0];
    assert_eq!(problem, "/a[31mb: must be null (type)");
    let deep = (0..100).fold(json!(1), |value, _| json!({"level": value}));
    let pointer = &problems(
        &json!({"type": "object", "additionalProperties": {"$ref": "#"}}),
        &deep,
    )[0]
    .pointer;
    assert!(
        pointer.len() <= 260 && pointer.ends_with("/level/…"),
        "{pointer}"
    );
}

// req: M16
#[test]
fn a_problem_is_one_line_of_at_most_1_kib() {
    let long = "x".repeat(5_000);
    let schemas = [
        json!({"pattern": format!("^{long}$")}),
        json!({"required": [long]}),
        json!({"const": long}),
        json!({"enum": [long, "\u{2028}\n", 1]}),
        json!({"properties": {long.clone(): {"type": "string"}}, "additionalProperties": false}),
        json!({"propertyNames": {"pattern": format!("^{long}$")}}),
        json!({"allOf": (0..50).map(|index| json!({"required": [format!("{index}{long}")]})).collect::<Vec<_>>()}),
    ];
    let nasty = "n\n".repeat(3_000);
    for schema in &schemas {
        for value in [json!("v"), json!({nasty.clone(): 1, "\u{7}": 2})] {
            let Err(problems) = compile(schema).unwrap().check(&value) else {
                continue;
            };
            assert!((1..=20).contains(&problems.len()));
            for problem in problems {
                let text = problem.to_string();
                assert!(text.len() <= 1_024, "{}", text.len());
                assert!(!text.chars().any(char::is_control), "{text:?}");
                assert!(problem.allowed.iter().map(String::len).sum::<usize>() <= 512);
            }
        }
    }
}

// req: M16
#[test]
fn a_received_value_is_never_told() {
    const SECRET: &str = "hunter2-0xdeadbeef";
    let secrets = [
        json!(SECRET),
        json!([SECRET, SECRET]),
        json!({"a": SECRET, "b": [SECRET], "c": {"d": SECRET}}),
    ];
    let schemas = [
        json!({"type": "integer"}),
        json!({"const": 1}),
        json!({"enum": [1, 2]}),
        json!({"pattern": "^[0-9]+$", "items": {"pattern": "^[0-9]+$"}}),
        json!({"maxLength": 1, "minLength": 1_000, "maxItems": 1, "minItems": 9}),
        json!({"uniqueItems": true}),
        json!({"not": {}}),
        json!({"contains": {"type": "null"}}),
        json!({"additionalProperties": false, "items": false}),
        json!({"unevaluatedProperties": false, "unevaluatedItems": false}),
        json!({"additionalProperties": {"type": "null"}, "items": {"type": "null"}}),
        json!({"propertyNames": {"maxLength": 0}}),
        json!({"required": ["e"]}),
        json!({"oneOf": [{}, {}]}),
        json!({"oneOf": [{"type": "null"}, {"properties": {"a": {"const": 1}}, "type": "object"}]}),
        json!({"anyOf": [{"maxLength": 1}, {"items": {"type": "null"}}], "type": ["string", "array"]}),
        json!(false),
    ];
    let mut told = 0;
    for schema in &schemas {
        let validator = compile(schema).unwrap();
        for value in &secrets {
            for problem in validator.check(value).err().unwrap_or_default() {
                let whole = format!("{problem:?} {problem}");
                assert!(!whole.contains("hunter2"), "{whole}");
                told += 1;
            }
        }
    }
    assert!(told > 30, "{told}");
}

// req: M16
#[test]
fn at_most_20_problems_each_once() {
    let properties: Map<String, Value> = (0..50)
        .map(|index| (format!("p{index}"), json!({"type": "string"})))
        .collect();
    let schema = json!({"properties": properties});
    let value: Map<String, Value> = (0..50)
        .map(|index| (format!("p{index}"), json!(1)))
        .collect();
    let found: Vec<Problem> = problems(&schema, &json!(value));
    assert_eq!(found.len(), 20);
    let same = json!({"allOf": [{"type": "string"}, {"type": "string"}, {"$ref": "#/$defs/s"}], "$defs": {"s": {"type": "string"}}});
    tells(same, json!(1), &["(root): must be a string (type)"]);
}

#[test]
fn a_valid_value_has_no_problems() {
    let validator = compile(&calculator()).unwrap();
    assert_eq!(
        validator.check(&json!({"operation": "add", "left": 1.5})),
        Ok(())
    );
}
