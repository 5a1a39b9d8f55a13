//! Describes subschemas in words, if a short description exists.

use serde_json::{Map, Value};

use super::formats;
use super::keywords::is_annotation;
use super::words::{named_type, one_of, some, types};

/// `an integer of at least 1`, `one of 1, 2`, `an object with the property "x"`; `None` if the
/// words would not cover the whole schema.
pub(super) fn described(schema: &Value) -> Option<String> {
    let members = schema.as_object()?;
    let mut head = None;
    let mut tail = Vec::new();
    for (keyword, value) in members {
        match keyword.as_str() {
            "const" => head = Some(one_of(std::iter::once(value)).0),
            "enum" => head = Some(one_of(value.as_array()?.iter()).0),
            "type" => head = head.or(Some(type_words(value)?)),
            "format" => head = Some(formats::described(value.as_str()?)),
            keyword if is_annotation(keyword) => {}
            _ => tail.push(bound(keyword, value)?),
        }
    }
    let head = head.or_else(|| implied(members));
    if head.is_none() && tail.is_empty() {
        return None;
    }
    let head = head.unwrap_or_else(|| "a value".to_owned());
    let space = if tail.is_empty() { "" } else { " " };
    Some(format!("{head}{space}{}", tail.join(" and ")))
}

fn type_words(value: &Value) -> Option<String> {
    let one = std::slice::from_ref(value);
    let names = value.as_array().map_or(one, Vec::as_slice);
    let names: Option<Vec<&str>> = names
        .iter()
        .map(|name| named_type(name.as_str()?))
        .collect();
    names
        .filter(|names| !names.is_empty())
        .map(|names| types(&names))
}

/// The type that the keywords imply, for a schema without `type`.
fn implied(members: &Map<String, Value>) -> Option<String> {
    let has = |keyword: &str| members.contains_key(keyword);
    let words = if has("required") {
        "an object"
    } else if has("minLength") || has("maxLength") || has("pattern") {
        "a string"
    } else if has("minItems") || has("maxItems") {
        "an array"
    } else {
        return None;
    };
    Some(words.to_owned())
}

fn bound(keyword: &str, value: &Value) -> Option<String> {
    Some(match keyword {
        "minimum" => format!("of at least {value}"),
        "maximum" => format!("of at most {value}"),
        "exclusiveMinimum" if value.is_number() => format!("of more than {value}"),
        "exclusiveMaximum" if value.is_number() => format!("of less than {value}"),
        "multipleOf" => format!("that is a multiple of {value}"),
        "minLength" => format!("of at least {}", some(value.as_u64()?, "character")),
        "maxLength" => format!("of at most {}", some(value.as_u64()?, "character")),
        "minItems" => format!("of at least {}", some(value.as_u64()?, "item")),
        "maxItems" => format!("of at most {}", some(value.as_u64()?, "item")),
        "pattern" => format!("that matches the pattern {}", value.as_str()?),
        "required" => with_properties(&names(value)?),
        _ => return None,
    })
}

/// The names in a `required`, unless it is empty.
pub(super) fn names(value: &Value) -> Option<Vec<&str>> {
    let names: Option<Vec<&str>> = value.as_array()?.iter().map(Value::as_str).collect();
    names.filter(|names| !names.is_empty())
}

fn with_properties(names: &[&str]) -> String {
    let noun = if names.len() == 1 {
        "property"
    } else {
        "properties"
    };
    format!("with the {noun} {}", quoted(names, "and"))
}

/// `"a"`, `"a" and "b"`, `"a", "b" and "c"`.
pub(super) fn quoted(names: &[&str], last: &str) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| Value::from(*name).to_string())
        .collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}
