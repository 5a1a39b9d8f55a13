//! References: inside the schema, to given documents, and nowhere else.

use std::net::TcpListener;

use mcp_core::schema::{SchemaError, SchemaOptions, SerdeJson, compile_with};
use serde_json::{Value, json};

use super::{compile, on_stack};

#[track_caller]
fn refused(schema: &Value) -> String {
    match compile(schema) {
        Err(SchemaError::Reference { reference }) => reference,
        other => panic!("{schema}: {other:?}"),
    }
}

#[test]
fn a_reference_out_of_the_schema_is_refused_without_io() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = std::env::temp_dir().join(format!("mcp-core-schema-{}.json", std::process::id()));
    std::fs::write(&file, br#"{"type":"string"}"#).unwrap();
    let http = format!("http://127.0.0.1:{port}/schema.json");
    let references = [
        http.clone(),
        format!("{http}#/definitions/a"),
        format!("https://127.0.0.1:{port}/schema.json"),
        format!("file://{}", file.display()),
        "urn:example:schema".to_owned(),
        "schema.json".to_owned(),
        "../schema.json".to_owned(),
        "/etc/passwd".to_owned(),
        "ftp://example.com/x".to_owned(),
        "data:application/json,{}".to_owned(),
    ];
    for reference in &references {
        for keyword in ["$ref", "$dynamicRef"] {
            refused(&json!({ keyword: reference }));
            refused(&json!({"properties": {"a": {keyword: reference}}}));
        }
        refused(&json!({"$id": http, "items": {"$ref": "other.json"}}));
        // Not even where nothing needs it.
        refused(&json!({"$defs": {"unused": {"$ref": reference}}}));
    }
    assert!(listener.accept().is_err(), "nothing was fetched");
    std::fs::remove_file(file).unwrap();
}

#[test]
fn an_unknown_dialect_deep_inside_is_refused_too() {
    let inner = json!({"$id": "http://example.com/a", "$schema": "http://example.com/d"});
    for schema in [
        json!({"items": inner}),
        json!({"$ref": "http://example.com/a", "$defs": {"a": {"items": inner}}}),
    ] {
        assert!(compile(&schema).is_err(), "{schema}");
    }
    let error = compile(&json!({"items": inner})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown $schema \"http://example.com/d\"; known are drafts 4, 6, 7, 2019-09 and 2020-12"
    );
}

#[test]
fn a_reference_to_nothing_is_refused_and_named() {
    assert_eq!(refused(&json!({"$ref": "#/$defs/none"})), "#/$defs/none");
    assert_eq!(refused(&json!({"$ref": "#none"})), "#none");
    assert_eq!(refused(&json!({"$ref": "http://["})), "http://[");
    assert_eq!(refused(&json!({"$id": "http://a b"})), "http://a b");
    let long = format!("#/{}", "a".repeat(1_000));
    assert!(refused(&json!({ "$ref": long })).len() < 300);
}

#[test]
fn references_inside_the_schema_and_to_the_dialects_are_followed() {
    let tree = json!({
        "$id": "https://example.com/tree",
        "type": "object",
        "properties": {"children": {"items": {"$ref": "#"}}, "name": {"$ref": "#name"}},
        "$defs": {"name": {"$anchor": "name", "type": "string"}},
    });
    let validator = compile(&tree).unwrap();
    assert!(validator.is_valid(&json!({"children": [{"name": "a", "children": []}]})));
    assert!(!validator.is_valid(&json!({"children": [{"name": 1}]})));

    let schema = json!({"$ref": "https://json-schema.org/draft/2020-12/schema"});
    let validator = compile(&schema).unwrap();
    assert!(validator.is_valid(&json!({"type": "string"})));
    assert!(!validator.is_valid(&json!({"type": "strin"})));
}

#[test]
fn self_references_end() {
    for schema in [
        json!({"$ref": "#"}),
        json!({"$dynamicRef": "#"}),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        json!({"allOf": [{"$ref": "#"}, {"$ref": "#"}]}),
    ] {
        let validator = compile(&schema).unwrap();
        assert!(validator.is_valid(&json!({"a": [1]})), "{schema}");
    }
    assert!(compile(&json!({"not": {"$ref": "#"}})).is_ok());
}

#[test]
fn given_documents_are_found_by_their_uri() {
    let compile = |schema: &Value, documents: &[(&str, &[u8])]| {
        let text = schema.to_string();
        on_stack(64 << 20, || {
            let options = SchemaOptions {
                documents,
                ..SchemaOptions::default()
            };
            compile_with::<SerdeJson>(text.as_bytes(), &options)
        })
    };
    let documents: &[(&str, &[u8])] = &[
        ("https://example.com/a", br#"{"$ref": "b#/$defs/c"}"#),
        (
            "https://example.com/b",
            br#"{"$defs": {"c": {"type": "string"}}}"#,
        ),
    ];
    let validator = compile(&json!({"$ref": "https://example.com/a"}), documents).unwrap();
    assert!(validator.is_valid(&json!("x")));
    assert!(!validator.is_valid(&json!(1)));
    let error = compile(&json!({"$ref": "https://example.com/c"}), documents).unwrap_err();
    assert_eq!(error.kind(), "unknown_reference");
    // A document is under the same limits.
    let deep = "{\"not\":".repeat(65) + "{}" + &"}".repeat(65);
    let error = compile(&json!({}), &[("https://example.com/a", deep.as_bytes())]).unwrap_err();
    assert_eq!(error, SchemaError::TooDeep { limit: 64 });
    // Dialects that define each other are none.
    let circle: &[(&str, &[u8])] = &[
        (
            "https://example.com/a",
            br#"{"$schema": "https://example.com/b"}"#,
        ),
        (
            "https://example.com/b",
            br#"{"$schema": "https://example.com/a"}"#,
        ),
    ];
    let error = compile(&json!({"$schema": "https://example.com/a"}), circle).unwrap_err();
    assert_eq!(error.kind(), "unknown_dialect");
}
