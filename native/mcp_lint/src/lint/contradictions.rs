//! Schemas that no value satisfies.

use serde_json::{Map, Value};

use super::finding::{Code, Findings};
use crate::places::places;
use crate::relation::{Contradiction, contradictions};
use mcp_core::schema::SchemaLimits;

/// With one of these keywords, another part of the schema may allow a required property.
const COMPOSING: &[&str] = &[
    "$dynamicRef",
    "$recursiveRef",
    "$ref",
    "allOf",
    "anyOf",
    "oneOf",
    "patternProperties",
];

pub(super) fn check(member: &str, schema: &Value, limits: &SchemaLimits, found: &mut Findings) {
    let contradicting = contradictions(schema, limits).unwrap_or_default();
    let is_hopeless = contradicting.iter().any(|place| place.pointer.is_empty());
    let consequence = match member {
        _ if !is_hopeless => "",
        "inputSchema" => "; no arguments are valid",
        _ => "; no result is valid",
    };
    for place in places(schema) {
        if let Some(object) = place.schema.as_object() {
            let at = format!("/{member}{}", place.pointer);
            check_required(object, &at, consequence, found);
        }
    }
    for place in &contradicting {
        let at = format!("/{member}{}", place.pointer);
        let is_told = found.has(Code::RequiredUndeclared, &at)
            || contradicting
                .iter()
                .any(|other| is_below(&other.pointer, &place.pointer));
        if !is_told {
            found.add(
                Code::Unsatisfiable,
                &at,
                format!(
                    "no value satisfies this schema{}{consequence}",
                    reason(place)
                ),
                "Change one of the keywords, or remove it.",
            );
        }
    }
}

fn is_below(pointer: &str, above: &str) -> bool {
    pointer
        .strip_prefix(above)
        .is_some_and(|rest| rest.starts_with('/'))
}

fn reason(place: &Contradiction) -> String {
    let keywords: Vec<String> = place
        .keywords
        .iter()
        .map(|keyword| format!("`{keyword}`"))
        .collect();
    match keywords.as_slice() {
        [] => String::new(),
        [one] => format!(": its {one} leaves nothing"),
        [most @ .., last] => format!(": {} and {last} contradict each other", most.join(", ")),
    }
}

fn check_required(object: &Map<String, Value>, at: &str, consequence: &str, found: &mut Findings) {
    let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
    if !is_closed
        || COMPOSING
            .iter()
            .any(|keyword| object.contains_key(*keyword))
    {
        return;
    }
    let required = object.get("required").and_then(Value::as_array);
    let properties = object.get("properties").and_then(Value::as_object);
    let is_declared =
        |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
    for name in required.into_iter().flatten().filter_map(Value::as_str) {
        if !is_declared(name) && !found.has(Code::RequiredUndeclared, at) {
            found.add(
                Code::RequiredUndeclared,
                at,
                format!(
                    "the property {name:?} is required, but not one of `properties`, and `additionalProperties` is false{consequence}"
                ),
                &format!("Declare {name:?}, or do not require it."),
            );
        }
    }
}
