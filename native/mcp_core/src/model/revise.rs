//! Adapts an object to a revision: omits parts that the revision does not know, or writes them in
//! another form.

use serde_json::{Map, Value, json};

use super::form::fit_form;
use super::shape::{Field, Kind, Part, Presence, Shape};
use crate::revision::Revision;

/// The object in the form of that revision. A value that is not an object is unchanged.
pub(super) fn object(shape: &Shape, value: &Value, revision: Revision) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    if !shape.known_at(revision) && shape.fallback.is_some() {
        return fallback(shape, members, revision);
    }
    let mut revised = Map::new();
    if let Some((key, text)) = shape.tag {
        revised.insert(key.to_owned(), text.into());
    }
    for field in shape.fields.iter().filter(|field| field.known_at(revision)) {
        if let Some(value) = member(field, members, revision) {
            revised.insert(field.wire.to_owned(), value);
        }
    }
    // Keys without a table entry belong to the user; older clients never see them.
    if revision == Revision::NEWEST {
        let unknown = members.iter().filter(|(key, _)| !shape.has_key(key));
        revised.extend(unknown.map(|(key, value)| (key.clone(), value.clone())));
    }
    Value::Object(revised)
}

/// Whether the value is an object with the tag of that shape.
pub(super) fn bears_tag(value: &Value, shape: &Shape) -> bool {
    shape
        .tag
        .is_some_and(|(key, text)| value.get(key).and_then(Value::as_str) == Some(text))
}

fn member(field: &Field, members: &Map<String, Value>, revision: Revision) -> Option<Value> {
    let given = |wire: &str| members.get(wire).filter(|value| !value.is_null());
    match (
        given(field.wire).and_then(|value| of_kind(field.kind, value, revision)),
        field.presence,
    ) {
        (Some(Value::Object(members)), Presence::Filled) if members.is_empty() => None,
        (Some(value), _) => Some(value),
        (None, Presence::Always(text)) => serde_json::from_str(text).ok(),
        (None, Presence::NullBefore(since)) if revision < since => Some(Value::Null),
        (None, Presence::Unless(other, text)) if given(other).is_none() => {
            serde_json::from_str(text).ok()
        }
        (None, _) => None,
    }
}

fn of_kind(kind: Kind, value: &Value, revision: Revision) -> Option<Value> {
    let newest = revision >= Revision::V2026_07_28;
    match kind {
        Kind::One(shape) => Some(object(shape, value, revision)),
        Kind::OneOf(shapes) => Some(one_of(shapes, value, revision)),
        Kind::OneOrMany(shapes) => Some(one_or_many(shapes, value, revision)),
        Kind::AnyOf(shapes) => Some(any_of(shapes, value, revision)),
        Kind::List(kind) => Some(list(*kind, value, revision)),
        Kind::Grant => (*value != Value::Bool(false)).then(|| json!({})),
        Kind::Structured if !newest && !value.is_object() => None,
        Kind::OutputSchema if !newest && value.get("type") != Some(&"object".into()) => None,
        Kind::Form => Some(form(value, revision)),
        Kind::Schema | Kind::OutputSchema if !newest => Some(plain_properties(value)),
        _ => Some(value.clone()),
    }
}

fn one_of(shapes: &[&Shape], value: &Value, revision: Revision) -> Value {
    match shapes.iter().find(|shape| bears_tag(value, shape)) {
        Some(shape) => object(shape, value, revision),
        None => value.clone(),
    }
}

fn one_or_many(shapes: &[&Shape], value: &Value, revision: Revision) -> Value {
    match value {
        Value::Array(blocks) => blocks
            .iter()
            .map(|block| one_of(shapes, block, revision))
            .collect(),
        block => one_of(shapes, block, revision),
    }
}

fn any_of(shapes: &[&Shape], value: &Value, revision: Revision) -> Value {
    let fits = |shape: &&&Shape| {
        value
            .as_object()
            .is_some_and(|members| members.keys().any(|key| shape.has_key(key)))
    };
    match shapes.iter().find(fits).or(shapes.last()) {
        Some(shape) => object(shape, value, revision),
        None => value.clone(),
    }
}

fn list(kind: Kind, value: &Value, revision: Revision) -> Value {
    let Value::Array(items) = value else {
        return value.clone();
    };
    let revised = |item: &Value| of_kind(kind, item, revision);
    match kind {
        Kind::One(shape) if revision < Revision::V2025_11_25 => items
            .iter()
            .flat_map(|item| one_block_each(shape, item))
            .filter_map(|item| revised(&item))
            .collect(),
        _ => items.iter().filter_map(revised).collect(),
    }
}

/// Splits a message with an array of blocks into messages of one block each, for revisions without
/// arrays there. Consecutive messages of one role have the same meaning.
fn one_block_each(shape: &Shape, item: &Value) -> Vec<Value> {
    let many = shape
        .fields
        .iter()
        .find(|field| matches!(field.kind, Kind::OneOrMany(_)));
    let blocks = many.and_then(|field| Some((field.wire, item.get(field.wire)?.as_array()?)));
    let Some((wire, blocks)) = blocks else {
        return vec![item.clone()];
    };
    let with = |block: &Value| {
        let mut message = item.clone();
        if let Value::Object(members) = &mut message {
            members.insert(wire.to_owned(), block.clone());
        }
        message
    };
    blocks.iter().map(with).collect()
}

fn form(value: &Value, revision: Revision) -> Value {
    let fitted = fit_form(value.to_string().as_bytes(), revision);
    let fitted = fitted.ok().flatten();
    let fitted = fitted.and_then(|text| serde_json::from_slice(&text).ok());
    fitted.unwrap_or_else(|| value.clone())
}

/// Before 2026-07-28 the schema of a property is an object, so `true` and `false` are rewritten.
fn plain_properties(schema: &Value) -> Value {
    let mut schema = schema.clone();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for property in properties.values_mut() {
            match property {
                Value::Bool(true) => *property = json!({}),
                Value::Bool(false) => *property = json!({"not": {}}),
                _ => {}
            }
        }
    }
    schema
}

fn fallback(shape: &Shape, members: &Map<String, Value>, revision: Revision) -> Value {
    let said = |part: &Part| match part {
        Part::Literal(text) => text,
        Part::Member(wire) => members
            .get(*wire)
            .and_then(Value::as_str)
            .unwrap_or_default(),
    };
    let text: String = shape
        .fallback
        .unwrap_or_default()
        .iter()
        .map(said)
        .collect();
    let mut block = Map::new();
    block.insert("type".to_owned(), "text".into());
    block.insert("text".to_owned(), text.into());
    if let Some(value) = shape
        .field("annotations")
        .and_then(|field| member(field, members, revision))
    {
        block.insert("annotations".to_owned(), value);
    }
    Value::Object(block)
}
