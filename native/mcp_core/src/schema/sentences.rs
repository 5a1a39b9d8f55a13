//! Problems that need the schema's text for an explanation, such as those of `contains` and `not`.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use serde_json::Value;

use super::describe::{described, names, quoted};
use super::sources::Sources;
use super::words::some;
use crate::json::pointer;

/// Keyword and words of an error that the schema's text explains better than the error does.
pub(super) fn explained(
    error: &ValidationError<'_>,
    sources: &Sources,
) -> Option<(String, String)> {
    let keyword = last_segment(error.schema_path().as_str());
    let value = sources.keyword(error);
    let words = match error.kind() {
        Kind::Contains => contains(keyword, sources.holder(error)?),
        Kind::Not { schema } => return negated(schema).map(|words| ("not".to_owned(), words)),
        Kind::OneOfMultipleValid { context } => several(value?, context.len(), context),
        Kind::FalseSchema => return Some(nothing(error)),
        _ => return None,
    };
    Some((keyword.to_owned(), words))
}

/// The number and kind of items that an array must contain, for `contains`, `minContains` and
/// `maxContains`.
fn contains(keyword: &str, holder: &serde_json::Map<String, Value>) -> String {
    let limit = |keyword: &str| holder.get(keyword).and_then(Value::as_u64);
    let (bound, count) = match (keyword, limit("maxContains")) {
        ("maxContains", Some(most)) => ("at most", most),
        _ => ("at least", limit("minContains").unwrap_or(1)),
    };
    let item = holder.get("contains").and_then(described);
    let item = item.map_or_else(
        || "as the schema's contains describes".to_owned(),
        |item| format!("like this: {item}"),
    );
    format!("an array with {bound} {} {item}", some(count, "item"))
}

fn negated(schema: &Value) -> Option<String> {
    if let Some(names) = only_required(schema) {
        let noun = if names.len() == 1 {
            "the property"
        } else {
            "all of the properties"
        };
        return Some(format!(
            "an object without {noun} {}",
            quoted(&names, "and")
        ));
    }
    described(schema).map(|words| format!("anything but {words}"))
}

/// The problem of a value that matches several alternatives of a `oneOf`.
fn several(alternatives: &Value, count: usize, context: &[Vec<ValidationError<'_>>]) -> String {
    let alternatives = alternatives
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let required: Option<Vec<String>> = alternatives
        .iter()
        .map(|alternative| only_required(alternative).map(|names| quoted(&names, "and")))
        .collect();
    match required {
        Some(sets) if !sets.is_empty() => {
            format!("an object with exactly one of these: {}", sets.join("; "))
        }
        _ => {
            let fitting = context.iter().filter(|errors| errors.is_empty()).count();
            format!("valid under exactly one of the {count} alternatives, not under {fitting}")
        }
    }
}

/// The names a schema requires, if it has no other constraint.
fn only_required(schema: &Value) -> Option<Vec<&str>> {
    let members = schema.as_object()?;
    let mut asking = members.iter().filter(|(keyword, _)| *keyword != "type");
    match (asking.next(), asking.next()) {
        (Some((keyword, value)), None) if keyword == "required" => names(value),
        _ => None,
    }
}

/// The problem of a `false` schema, named after the keyword that holds it.
fn nothing(error: &ValidationError<'_>) -> (String, String) {
    let path = error.schema_path().as_str();
    let mut segments = path.rsplit('/').filter(|segment| !segment.is_empty());
    let (last, before) = (segments.next(), segments.next());
    let keyword = match (before, last) {
        (Some("properties" | "patternProperties" | "dependentSchemas" | "dependencies"), _) => {
            before
        }
        (Some("prefixItems" | "items" | "allOf"), Some(index)) if is_index(index) => before,
        (_, last) => last,
    };
    let words = match keyword {
        Some("dependentSchemas" | "dependencies") => {
            let name = pointer::name(last.unwrap_or_default());
            format!("an object without the property {}", quoted(&[&name], "and"))
        }
        Some("propertyNames") => "an object without properties".to_owned(),
        Some("contains") => "an array without items".to_owned(),
        _ if error.instance_path().is_empty() => {
            "something else: the schema accepts no value here".to_owned()
        }
        _ => "absent".to_owned(),
    };
    (keyword.unwrap_or("false").to_owned(), words)
}

fn is_index(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn last_segment(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, last)| last)
}
