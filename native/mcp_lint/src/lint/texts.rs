//! Missing descriptions and annotations: models and clients choose tools only by these.

use serde_json::{Map, Value};

use super::finding::{Code, Findings};
use crate::places::{Role, places};

/// Hints whose absence clients treat as the worst case.
const HINTS: &[&str] = &["readOnlyHint", "destructiveHint"];

pub(super) fn check_tool(tool: &Value, found: &mut Findings) {
    check_description(tool, "", found);
    if let Some(schema) = tool.get("inputSchema") {
        let properties = places(schema).into_iter();
        for place in properties.filter(|place| place.role == Role::Property) {
            // The target of a reference may have the description.
            if place.schema.get("$ref").is_none() {
                check_description(
                    place.schema,
                    &format!("/inputSchema{}", place.pointer),
                    found,
                );
            }
        }
    }
    let annotations = tool.get("annotations").and_then(Value::as_object);
    let missing = missing_hints(annotations);
    if !missing.is_empty() {
        found.add(
            Code::MissingAnnotations,
            "/annotations",
            format!("the tool has no {}: clients take it for one that destroys", missing.join(" and no ")),
            "Declare `hints:`, such as `hints: [:read_only]`, `[:non_destructive]` or, for one that destroys, `[]`.",
        );
    }
}

/// The missing hints; a read-only tool needs no other hint.
fn missing_hints(annotations: Option<&Map<String, Value>>) -> Vec<&'static str> {
    let hint = |name: &str| annotations.and_then(|hints| hints.get(name)?.as_bool());
    if hint("readOnlyHint") == Some(true) {
        return Vec::new();
    }
    let missing = HINTS.iter().copied().filter(|name| hint(name).is_none());
    missing.collect()
}

pub(super) fn check_prompt(prompt: &Value, found: &mut Findings) {
    check_description(prompt, "", found);
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    for (index, argument) in arguments.into_iter().flatten().enumerate() {
        check_description(argument, &format!("/arguments/{index}"), found);
    }
}

pub(super) fn check_description(object: &Value, at: &str, found: &mut Findings) {
    let text = object.get("description").and_then(Value::as_str);
    if text.is_none_or(|text| text.trim().is_empty()) {
        found.add(
            Code::MissingDescription,
            at,
            "there is no description".to_owned(),
            "Say in a sentence what it is for.",
        );
    }
}
