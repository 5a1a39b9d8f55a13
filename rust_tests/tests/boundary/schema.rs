//! JSON Schema through `mcp_core::schema`.

mod absent;
mod budget;
mod documents;
mod formats;
mod limits;
mod problems;
mod references;
mod relation;
mod repair;
mod secrets;
mod sentences;
mod suite;

use mcp_core::schema::{Problem, SchemaError, SchemaLimits, SerdeJson, Validator};
use serde_json::Value;

/// Runs on a thread with that much stack; compiling asks for 64 MiB.
fn on_stack<T: Send>(bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes);
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    })
}

fn compile_text(text: &[u8], limits: &SchemaLimits) -> Result<Validator<SerdeJson>, SchemaError> {
    on_stack(64 << 20, || mcp_core::schema::compile(text, limits))
}

fn compile(schema: &Value) -> Result<Validator<SerdeJson>, SchemaError> {
    compile_text(schema.to_string().as_bytes(), &SchemaLimits::default())
}

/// The problems of `value`, which must not be valid.
#[track_caller]
fn problems(schema: &Value, value: &Value) -> Vec<Problem> {
    compile(schema).unwrap().check(value).unwrap_err()
}

/// The problems as texts.
#[track_caller]
fn told(schema: &Value, value: &Value) -> Vec<String> {
    problems(schema, value)
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn the_dialect_is_2020_12_unless_schema_says_otherwise() {
    // `prefixItems` means something from 2020-12 on, `items` as a list only before.
    let value = serde_json::json!(["x"]);
    let valid = |schema: Value| compile(&schema).unwrap().is_valid(&value);
    let number = serde_json::json!([{"type": "number"}]);
    assert!(!valid(serde_json::json!({"prefixItems": number})));
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        assert!(
            valid(serde_json::json!({"$schema": draft, "prefixItems": number})),
            "{draft}"
        );
        assert!(
            !valid(serde_json::json!({"$schema": draft, "items": number})),
            "{draft}"
        );
    }
}

#[test]
fn an_unknown_dialect_is_refused() {
    for uri in [
        "https://example.com/dialect",
        "http://json-schema.org/draft-03/schema#",
        "x",
        "",
    ] {
        let error = compile(&serde_json::json!({"$schema": uri})).unwrap_err();
        assert_eq!(
            error,
            SchemaError::UnknownDialect {
                uri: uri.to_owned()
            }
        );
        assert_eq!(error.kind(), "unknown_dialect");
    }
    let long = "x".repeat(1000);
    let error = compile(&serde_json::json!({"$schema": long})).unwrap_err();
    assert!(error.to_string().len() < 400);
}

#[test]
fn formats_are_annotations_in_every_draft() {
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        let schema = serde_json::json!({"$schema": draft, "format": "email"});
        assert!(
            compile(&schema)
                .unwrap()
                .is_valid(&serde_json::json!("no address")),
            "{draft}"
        );
    }
}

#[test]
fn content_keywords_are_annotations_in_every_draft() {
    for draft in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-07/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "https://json-schema.org/draft/2020-12/schema",
    ] {
        for content in [
            serde_json::json!({"contentMediaType": "application/json"}),
            serde_json::json!({"contentEncoding": "base64"}),
            serde_json::json!({"contentMediaType": "application/json", "contentEncoding": "base64"}),
        ] {
            let mut schema = content;
            schema["$schema"] = draft.into();
            schema["type"] = "string".into();
            let validator = compile(&schema).unwrap();
            let text = serde_json::json!("{:} is no JSON and no base64");
            assert_eq!(validator.check(&text), Ok(()), "{schema}");
            // As many steps as without the keywords.
            let meter = validator.meter(100);
            assert_eq!(validator.verdict_by(&text, &meter), Some(true));
            let plain = compile(&serde_json::json!({"$schema": draft, "type": "string"})).unwrap();
            let other = plain.meter(100);
            assert_eq!(plain.verdict_by(&text, &other), Some(true));
            assert_eq!(meter.spent(), other.spent(), "{schema}");
        }
    }
}
