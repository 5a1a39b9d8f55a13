//! `x-mcp-header`: which annotations a tool may have.

use serde_json::{Value, json};

use crate::catalog::build;

pub(super) fn definition(schema: Value) -> Value {
    json!({
        "server": {"info": {"name": "n", "version": "1"}},
        "tools": [{"name": "run", "inputSchema": schema}],
        "toolRules": [{}],
    })
}

fn paths(schema: Value) -> Result<Vec<(String, String)>, String> {
    let catalog = build(&definition(schema)).map_err(|error| error.to_string())?;
    let tool = catalog.tool(0).expect("a tool");
    Ok(tool
        .header_parameters
        .iter()
        .map(|parameter| (parameter.header.clone(), parameter.path.join(".")))
        .collect())
}

fn property(schema: Value) -> Value {
    json!({"type": "object", "properties": {"region": schema}})
}

#[test]
fn annotations_are_found_along_chains_of_properties() {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"er": {"type": "object", "properties": {
                "count": {"type": "integer", "x-mcp-header": "X-Count!"}}}}},
            "flag": {"type": "boolean", "x-mcp-header": "flag"},
            // A property of that name, and data that looks like an annotation, are none.
            "x-mcp-header": {"type": "string"},
            "data": {"const": {"x-mcp-header": 1}, "default": {"x-mcp-header": ""}, "enum": [{"x-mcp-header": 1}],
                     "examples": [{"x-mcp-header": 1}]},
        },
    });
    let pair = |header: &str, path: &str| (header.to_owned(), path.to_owned());
    assert_eq!(
        paths(schema),
        Ok(vec![
            pair("Region", "region"),
            pair("X-Count!", "deep.er.count"),
            pair("flag", "flag"),
        ])
    );
    assert_eq!(paths(json!({"type": "object"})), Ok(vec![]));
}

#[test]
fn a_wrong_annotation_names_tool_and_property() {
    let annotated =
        |annotation: Value| property(json!({"type": "string", "x-mcp-header": annotation}));
    let bad_name = "tool \"run\": inputSchema: property \"region\": x-mcp-header must be a text of \
                    the characters that header names have";
    for annotation in [
        json!(""),
        json!("a b"),
        json!("a:b"),
        json!("a\r\nb"),
        json!("é"),
        json!("a\0"),
        json!("(x)"),
        json!(1),
        json!(null),
        json!(true),
        json!(["A"]),
        json!({}),
    ] {
        assert_eq!(
            paths(annotated(annotation.clone())),
            Err(bad_name.to_owned()),
            "{annotation}"
        );
    }
    let bad_type = "tool \"run\": inputSchema: property \"region\": x-mcp-header needs the type \
                    string, integer or boolean";
    for kind in [
        json!({"type": "number"}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!({"type": "null"}),
        json!({"type": ["string", "null"]}),
        json!({}),
        json!({"enum": ["a"]}),
    ] {
        let mut schema = kind.clone();
        schema["x-mcp-header"] = json!("Region");
        assert_eq!(paths(property(schema)), Err(bad_type.to_owned()), "{kind}");
    }
}

#[test]
fn no_two_annotations_make_the_same_header() {
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "string", "x-mcp-header": "Region"},
            "b": {"type": "object", "properties": {"c": {"type": "string", "x-mcp-header": "REGION"}}},
        },
    });
    assert_eq!(
        paths(schema),
        Err(
            "tool \"run\": inputSchema: property \"b.c\": x-mcp-header \"REGION\" is taken by \
             another property"
                .to_owned()
        )
    );
}

#[test]
fn an_annotation_that_other_keywords_lead_to_is_refused() {
    let note = || json!({"type": "string", "x-mcp-header": "A"});
    let below = || json!({"type": "object", "properties": {"p": note()}});
    let mut root = json!({"type": "object", "x-mcp-header": "A"});
    root["type"] = json!("object");
    let cases = [
        (root, ""),
        (
            property(json!({"type": "array", "items": note()})),
            "/properties/region/items",
        ),
        (
            property(json!({"prefixItems": [note()]})),
            "/properties/region/prefixItems/0",
        ),
        (
            json!({"type": "object", "oneOf": [below()]}),
            "/oneOf/0/properties/p",
        ),
        (
            json!({"type": "object", "anyOf": [true, below()]}),
            "/anyOf/1/properties/p",
        ),
        (
            json!({"type": "object", "allOf": [below()]}),
            "/allOf/0/properties/p",
        ),
        (
            json!({"type": "object", "not": below()}),
            "/not/properties/p",
        ),
        (json!({"type": "object", "if": below()}), "/if/properties/p"),
        (
            json!({"type": "object", "then": below()}),
            "/then/properties/p",
        ),
        (
            json!({"type": "object", "else": below()}),
            "/else/properties/p",
        ),
        (
            json!({"type": "object", "$defs": {"d": note()}}),
            "/$defs/d",
        ),
        (
            json!({"type": "object", "definitions": {"d": below()}}),
            "/definitions/d/properties/p",
        ),
        (
            json!({"type": "object", "additionalProperties": note()}),
            "/additionalProperties",
        ),
        (
            json!({"type": "object", "patternProperties": {"^x": note()}}),
            "/patternProperties/^x",
        ),
        (
            json!({"type": "object", "dependentSchemas": {"a": below()}}),
            "/dependentSchemas/a/properties/p",
        ),
    ];
    for (schema, place) in cases {
        assert_eq!(
            paths(schema),
            Err(format!(
                "tool \"run\": inputSchema: x-mcp-header at \"{place}\" stands where nothing but a \
                 chain of properties may lead"
            )),
        );
    }
}
