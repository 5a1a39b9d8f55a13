//! `Mcp-Param-*`: how headers are compared with the arguments they repeat.

use mcp_core::catalog::Catalog;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use super::admission::{outcome_with, with_meta};
use super::annotations::definition;
use super::head::{TestHead, stateless};
use crate::catalog::build;

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

// req: M21
#[test]
fn parameter_headers_repeat_their_arguments() {
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

// req: M21
#[test]
fn a_header_is_there_exactly_when_its_argument_is() {
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

// req: M21
#[test]
fn numbers_are_compared_as_numbers() {
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

// req: M21
#[test]
fn booleans_are_lower_case() {
    let dry =
        |argument: bool, header: &str| call(json!({"dry": argument}), &[("mcp-param-dry", header)]);
    assert_eq!(dry(true, "true"), "work");
    assert_eq!(dry(false, "false"), "work");
    for header in ["True", "1", "false", "yes", ""] {
        assert_eq!(dry(true, header), "400 -32020", "{header}");
    }
}

// req: M21
#[test]
fn nested_arguments_are_found_at_any_depth() {
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
