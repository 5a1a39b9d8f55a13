//! `x-mcp-header`: which annotations a tool may have, and how headers are compared with arguments.

use mcp_core::catalog::Catalog;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::admission::{outcome_with, with_meta};
use super::head::{TestHead, stateless};
use crate::catalog::build;

fn definition(schema: Value) -> Value {
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

fn server() -> Catalog<SerdeJson> {
    build(&definition(json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "a": {"type": "object", "properties": {"b": {"type": "object", "properties": {"c": {
                "type": "object", "properties": {"d": {"type": "string", "x-mcp-header": "Deep"}}}}}}},
        },
    })))
    .expect("a catalogue")
}

/// What becomes of a call with these arguments: `work`, or the error's code.
fn called(head: TestHead, arguments: Value) -> String {
    let message = with_meta("tools/call", json!({"name": "run", "arguments": arguments}));
    outcome_with(&server(), &head, None, &message)
}

fn call(arguments: Value, headers: &[(&str, &str)]) -> String {
    let mut head = stateless("tools/call").with("mcp-name", "run");
    for (name, value) in headers {
        head = head.with(name, value);
    }
    called(head, arguments)
}

#[test]
fn m21_parameter_headers_repeat_their_arguments() {
    let region =
        |header: &str, value: &str| call(json!({"region": value}), &[("Mcp-Param-Region", header)]);
    for (header, value) in [
        ("us-west1", "us-west1"),
        ("  us-west1\t", "us-west1"),
        ("=?base64?SGVsbG8=?=", "Hello"),
        ("=?base64?SGVsbG8sIOS4lueVjA==?=", "Hello, 世界"),
        ("=?base64?IHBhZGRlZCA=?=", " padded "),
        ("=?base64?bGluZTEKbGluZTI=?=", "line1\nline2"),
        ("=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=", "=?base64?literal?="),
        ("=?base64??=", ""),
        // Without prefix or suffix a value stands for itself.
        ("SGVsbG8=", "SGVsbG8="),
        ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
        ("SGVsbG8=?=", "SGVsbG8=?="),
        ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
        ("=?base64?=", "=?base64?="),
        ("a b", "a b"),
    ] {
        assert_eq!(region(header, value), "work", "{header}");
    }
    for (header, value) in [
        ("us-west2", "us-west1"),
        ("US-WEST1", "us-west1"),
        ("", "us-west1"),
        ("=?base64?SGVsbG8?=", "Hello"),
        ("=?base64?SGVs!!!bG8=?=", "Hello"),
        ("=?base64?SGVsbG9=?=", "Hello"),
        ("=?base64?SGVs bG8=?=", "Hello"),
        ("=?base64?/w==?=", "\u{fffd}"),
        ("=?base64?SGVsbG8_?=", "Hello?"),
        ("=?base64?SGVsbG8=?=", "=?base64?SGVsbG8=?="),
        ("SGVsbG8=", "Hello"),
    ] {
        assert_eq!(region(header, value), "400 -32020", "{header}");
    }
    let raw = stateless("tools/call")
        .with("mcp-name", "run")
        .with("mcp-param-region", "Hello, 世界");
    assert_eq!(called(raw, json!({"region": "Hello, 世界"})), "400 -32020");
}

#[test]
fn m21_a_header_is_there_exactly_when_its_argument_is() {
    assert_eq!(call(json!({"region": "a"}), &[]), "400 -32020");
    assert_eq!(call(json!({"region": ""}), &[]), "400 -32020");
    assert_eq!(call(json!({}), &[]), "work");
    assert_eq!(call(json!({"region": null}), &[]), "work");
    assert_eq!(call(json!({}), &[("mcp-param-region", "a")]), "400 -32020");
    assert_eq!(call(json!({}), &[("mcp-param-region", "")]), "400 -32020");
    assert_eq!(
        call(json!({"region": null}), &[("mcp-param-region", "null")]),
        "400 -32020"
    );
    assert_eq!(
        call(
            json!({"region": "a"}),
            &[("MCP-PARAM-REGION", "a"), ("mcp-param-region", "a")]
        ),
        "400 -32020"
    );
    // No tool knows these.
    assert_eq!(
        call(
            json!({}),
            &[("mcp-param-other", "=?base64?!?="), ("mcp-param-", "x")]
        ),
        "work"
    );
    // What no header can repeat is the schema's business.
    assert_eq!(call(json!({"region": {}}), &[]), "work");
    assert_eq!(
        call(json!({"region": []}), &[("mcp-param-region", "[]")]),
        "400 -32020"
    );
    let without_arguments = with_meta("tools/call", json!({"name": "run"}));
    let head = stateless("tools/call").with("mcp-name", "run");
    assert_eq!(
        outcome_with(&server(), &head, None, &without_arguments),
        "work"
    );
}

#[test]
fn m21_numbers_are_compared_as_numbers() {
    let count = |argument: &str, header: &str| {
        let head = stateless("tools/call")
            .with("mcp-name", "run")
            .with("mcp-param-count", header);
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}},"name":"run","arguments":{{"count":{argument}}}}}}}"#
        );
        outcome_with(&server(), &head, None, &message)
    };
    for (argument, header) in [
        ("42", "42"),
        ("42", "42.0"),
        ("42.0", "42"),
        ("42", "4.2e1"),
        ("42", "420E-1"),
        ("-7", "-7"),
        ("0", "-0"),
        ("0", "0.000"),
        ("-0", "0"),
        ("100", "1e2"),
        ("1.5", "1.50"),
        ("9007199254740993", "9007199254740993.0"),
        (
            "123456789012345678901234567890",
            "123456789012345678901234567890",
        ),
    ] {
        assert_eq!(count(argument, header), "work", "{argument} {header}");
    }
    for (argument, header) in [
        ("42", "43"),
        ("42", "-42"),
        ("42", "042"),
        ("42", "+42"),
        ("42", "42."),
        ("42", ".42e2"),
        ("42", "0x2a"),
        ("42", "42 "),
        ("42", "4 2"),
        ("42", ""),
        ("42", "42e"),
        ("42", "NaN"),
        ("42", "42e99999999999999999999"),
        ("9007199254740993", "9007199254740992"),
        ("\"42\"", "42.0"),
    ] {
        let trimmed = header.trim() == argument;
        let expected = if trimmed { "work" } else { "400 -32020" };
        assert_eq!(count(argument, header), expected, "{argument} {header:?}");
    }
    assert_eq!(
        count("\"42\"", "42"),
        "work",
        "the schema decides what a text may be"
    );
}

#[test]
fn m21_booleans_are_lower_case() {
    let dry =
        |argument: bool, header: &str| call(json!({"dry": argument}), &[("mcp-param-dry", header)]);
    assert_eq!(dry(true, "true"), "work");
    assert_eq!(dry(false, "false"), "work");
    for header in ["True", "1", "false", "yes", ""] {
        assert_eq!(dry(true, header), "400 -32020", "{header}");
    }
}

#[test]
fn m21_nested_arguments_are_found_at_any_depth() {
    let deep = |value: Value| json!({"a": {"b": {"c": {"d": value, "e": 1}}}});
    assert_eq!(call(deep(json!("x")), &[("mcp-param-deep", "x")]), "work");
    assert_eq!(
        call(deep(json!("x")), &[("mcp-param-deep", "y")]),
        "400 -32020"
    );
    assert_eq!(call(deep(json!("x")), &[]), "400 -32020");
    assert_eq!(call(json!({"a": {"b": {"c": {}}}}), &[]), "work");
    assert_eq!(call(json!({"a": {"b": {}}}), &[]), "work");
    assert_eq!(call(json!({"a": {"b": 1}}), &[]), "work");
    assert_eq!(call(json!({"a": {"b": {"c": [{"d": "x"}]}}}), &[]), "work");
}

#[test]
fn sessions_know_no_parameter_headers() {
    use mcp_core::revision::Revision;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": "run", "arguments": {"region": "a"}}})
    .to_string();
    let head = super::head::post()
        .with("mcp-session-id", "s")
        .with("mcp-param-region", "b");
    let session = Some(Revision::V2025_11_25);
    assert_eq!(outcome_with(&server(), &head, session, &message), "work");
}
