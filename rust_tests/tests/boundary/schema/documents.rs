//! Schemas that refer to documents which are given with them.

use mcp_core::schema::{
    SchemaError, SchemaLimits, SchemaOptions, SerdeJson, Validator, compile_with,
};
use serde_json::{Value, json};

use super::on_stack;

fn compile(
    schema: &Value,
    documents: &[(&str, &[u8])],
    limits: SchemaLimits,
) -> Result<Validator<SerdeJson>, SchemaError> {
    let text = schema.to_string();
    let options = SchemaOptions {
        limits,
        documents,
        ..SchemaOptions::default()
    };
    on_stack(64 << 20, || compile_with(text.as_bytes(), &options))
}

// req: F1
#[test]
fn limits_are_those_of_the_schema_and_its_documents_together() {
    let schema = json!({"$ref": "https://example.com/a"});
    let document = br#"{"items": {}}"#;
    let documents: &[(&str, &[u8])] = &[
        ("https://example.com/a", document),
        ("https://example.com/b", document),
    ];
    let limited = |max_bytes: usize, max_subschemas: usize| {
        let limits = SchemaLimits {
            max_bytes,
            max_subschemas,
            ..SchemaLimits::default()
        };
        compile(&schema, documents, limits).map(drop)
    };
    let bytes = schema.to_string().len() + 2 * document.len();
    assert_eq!(limited(bytes, 5), Ok(()));
    let limit = bytes - 1;
    assert_eq!(limited(limit, 5), Err(SchemaError::TooLarge { limit }));
    let limit = 4;
    assert_eq!(
        limited(bytes, limit),
        Err(SchemaError::TooManySubschemas { limit })
    );
}

// req: F1
#[test]
fn regular_expressions_share_their_memory_with_those_of_documents() {
    // Alone it may take 16 KiB; beside 160 others it may take a tenth of that.
    let schema = json!({"pattern": "^[a-z]{300}$"});
    let limits = SchemaLimits {
        max_regex_bytes: 32 * 1024,
        ..SchemaLimits::default()
    };
    assert!(compile(&schema, &[], limits).is_ok());
    let many: Vec<Value> = (0..160)
        .map(|index| json!({"pattern": format!("^{index}$")}))
        .collect();
    let many = json!({"allOf": many}).to_string();
    let error = compile(
        &schema,
        &[("https://example.com/a", many.as_bytes())],
        limits,
    )
    .unwrap_err();
    assert_eq!(error.kind(), "invalid_schema");
}

#[test]
fn a_problem_inside_a_document_is_explained_by_the_document() {
    let documents: &[(&str, &[u8])] = &[(
        "https://example.com/circle",
        br#"{"properties": {"radius": {"type": "number"}}, "additionalProperties": false}"#,
    )];
    // The same path leads to other names in the schema that refers to it.
    let schema = json!({
        "properties": {"raduis": {}, "circle": {"$ref": "https://example.com/circle"}},
        "additionalProperties": false,
    });
    let validator = compile(&schema, documents, SchemaLimits::default()).unwrap();
    let problems = validator
        .check(&json!({"circle": {"raduis": 1}}))
        .unwrap_err();
    let told: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [r#"/circle/raduis: must be absent; did you mean "radius"? (additionalProperties)"#]
    );
}

#[test]
fn a_document_without_a_use_changes_nothing_and_none_is_ever_fetched() {
    let documents: &[(&str, &[u8])] = &[("https://example.com/a", br#"{"type": "string"}"#)];
    let validator = compile(
        &json!({"type": "integer"}),
        documents,
        SchemaLimits::default(),
    );
    assert!(validator.unwrap().is_valid(&json!(1)));
    for reference in [
        "https://example.com/b",
        "file:///etc/passwd",
        "b",
        "urn:x:y",
    ] {
        let error = compile(
            &json!({"$ref": reference}),
            documents,
            SchemaLimits::default(),
        );
        assert_eq!(
            error.unwrap_err().kind(),
            "unknown_reference",
            "{reference}"
        );
    }
    let error = compile(
        &json!({}),
        &[("no\u{0}uri", b"{}")],
        SchemaLimits::default(),
    );
    assert_eq!(error.unwrap_err().kind(), "unknown_reference");
}

/// They were all read in the schema's.
#[test]
fn a_document_is_written_in_the_dialect_that_it_names_or_else_in_the_schemas() {
    let earlier = json!({"$schema": "https://json-schema.org/draft/2019-09/schema", "prefixItems": [{"type": "string"}]});
    let later = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "prefixItems": [{"type": "string"}]});
    let silent = json!({"prefixItems": [{"type": "string"}]});
    for (document, draft, valid) in [
        (
            &earlier,
            "https://json-schema.org/draft/2020-12/schema",
            true,
        ),
        (
            &later,
            "https://json-schema.org/draft/2019-09/schema",
            false,
        ),
        (
            &silent,
            "https://json-schema.org/draft/2020-12/schema",
            false,
        ),
        (
            &silent,
            "https://json-schema.org/draft/2019-09/schema",
            true,
        ),
    ] {
        let text = document.to_string();
        let schema = json!({"$schema": draft, "$ref": "https://example.com/a"});
        let documents: &[(&str, &[u8])] = &[("https://example.com/a", text.as_bytes())];
        let validator = compile(&schema, documents, SchemaLimits::default()).unwrap();
        assert_eq!(
            validator.is_valid(&json!([1])),
            valid,
            "{document} in {draft}"
        );
    }
    let unknown: &[(&str, &[u8])] = &[(
        "https://example.com/a",
        br#"{"$schema": "https://example.com/b"}"#,
    )];
    let error = compile(&json!({}), unknown, SchemaLimits::default()).unwrap_err();
    assert_eq!(error.kind(), "unknown_dialect");
}
