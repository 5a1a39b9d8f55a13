//! Containment of plain objects, one property at a time: the difference of two wide objects takes
//! the algebra longer than all their properties together.

use serde_json::{Map, Value};

use super::Answer;
use super::algebra::Document;
use mcp_core::json::pointer;
use mcp_core::schema::is_annotation;

/// Keywords of an outer schema, besides annotations, that the comparison understands.
const PLAIN: &[&str] = &[
    "$defs",
    "$schema",
    "additionalProperties",
    "definitions",
    "properties",
    "required",
    "type",
];

/// Keywords of an inner schema that make `properties` and `additionalProperties` insufficient to
/// decide a property's values. All other keywords only narrow them.
const OTHERWISE: &[&str] = &[
    "$dynamicRef",
    "$id",
    "$recursiveRef",
    "$ref",
    "patternProperties",
];

/// Whether `outer` accepts every value of `inner`; both assert formats, or neither does.
pub(super) fn covers(outer: &Value, inner: &Value, asserts_formats: bool) -> Answer {
    let document = |root| Document::new(root, asserts_formats);
    let (Ok(outer), Ok(inner)) = (document(outer), document(inner)) else {
        return Answer::Unknown;
    };
    // A keyword may have another meaning in another draft.
    if outer.root().get("$schema") == inner.root().get("$schema")
        && covers_at(&outer, "", &inner, "") == Answer::Yes
    {
        return Answer::Yes;
    }
    outer.covers("", &inner, "")
}

fn covers_at(outer: &Document<'_>, at: &str, inner: &Document<'_>, inner_at: &str) -> Answer {
    let schemas = outer.root().pointer(at).zip(inner.root().pointer(inner_at));
    let objects = schemas.and_then(|(wide, narrow)| wide.as_object().zip(narrow.as_object()));
    if let Some((wide, narrow)) = objects
        && is_plain_pair(wide, narrow)
        && required(wide).all(|name| required(narrow).any(|known| known == name))
        && pairs(wide, at, narrow, inner_at)
            .into_iter()
            .all(|pair| covers_pair(outer, inner, &pair))
    {
        return Answer::Yes;
    }
    outer.covers(at, inner, inner_at)
}

/// A value's schema on each side; `None` if any value is valid.
struct Pair {
    outer: Option<String>,
    inner: Option<String>,
}

fn covers_pair(outer: &Document<'_>, inner: &Document<'_>, pair: &Pair) -> bool {
    let is_false = |pointer: &String| inner.root().pointer(pointer) == Some(&Value::Bool(false));
    match (&pair.outer, &pair.inner) {
        (None, _) => true,
        (Some(_), Some(inner_at)) if is_false(inner_at) => true,
        (Some(at), Some(inner_at)) => covers_at(outer, at, inner, inner_at) == Answer::Yes,
        (Some(at), None) => outer
            .root()
            .pointer(at)
            .is_some_and(|wide| wide == &Value::Bool(true) || is_empty(wide)),
    }
}

fn is_empty(schema: &Value) -> bool {
    schema.as_object().is_some_and(Map::is_empty)
}

fn is_plain_pair(wide: &Map<String, Value>, narrow: &Map<String, Value>) -> bool {
    let is_object =
        |schema: &Map<String, Value>| schema.get("type").and_then(Value::as_str) == Some("object");
    is_object(narrow)
        && (is_object(wide) || !wide.contains_key("type"))
        && wide
            .keys()
            .all(|keyword| PLAIN.contains(&keyword.as_str()) || is_annotation(keyword))
        && !OTHERWISE
            .iter()
            .any(|keyword| narrow.contains_key(*keyword))
}

fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(Value::as_str)
}

/// Every declared property of both sides, and one pair for all other properties.
fn pairs(
    wide: &Map<String, Value>,
    at: &str,
    narrow: &Map<String, Value>,
    inner_at: &str,
) -> Vec<Pair> {
    let mut names: Vec<&String> = properties(wide).chain(properties(narrow)).collect();
    names.sort();
    names.dedup();
    let mut pairs: Vec<Pair> = names
        .into_iter()
        .map(|name| Pair {
            outer: place(wide, at, Some(name)),
            inner: place(narrow, inner_at, Some(name)),
        })
        .collect();
    pairs.push(Pair {
        outer: place(wide, at, None),
        inner: place(narrow, inner_at, None),
    });
    pairs
}

fn properties(schema: &Map<String, Value>) -> impl Iterator<Item = &String> {
    let members = schema.get("properties").and_then(Value::as_object);
    members.into_iter().flat_map(Map::keys)
}

/// The pointer to the schema of this property, or of undeclared properties for `None`.
fn place(schema: &Map<String, Value>, at: &str, name: Option<&String>) -> Option<String> {
    match name {
        Some(name) if properties(schema).any(|known| known == name) => {
            Some(format!("{at}/properties/{}", pointer::segment(name)))
        }
        _ => schema
            .contains_key("additionalProperties")
            .then(|| format!("{at}/additionalProperties")),
    }
}
