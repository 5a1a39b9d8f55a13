//! Presents terms as JSON to the schema validator, without a copy.
//!
//! Only terms that [`super::normalize`] accepts can be checked so, or [`Values`], which are built
//! from such terms.

use std::borrow::Cow;
use std::ptr;
use std::sync::OnceLock;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber as _, Node, NodeIdentity, Object};
use rustler::Term;
use serde_json::{Map, Value};

use super::node_number::TermNumber;
use super::node_parts::{TermArray, TermObject};
use super::term_node::{Inner, PropertyName, TermJson, TermNode};
use super::values::Value as Known;
use crate::atoms;
use crate::terms::raw::Raw;
use crate::terms::term_kind::TermKind;
use crate::terms::{atom_text, word};

impl Json for TermJson {
    type Node<'a> = TermNode<'a>;
    type PreparedKey = PropertyName;
    type StringBuffer = ();

    /// Reading a member costs about half of a lookup, because a lookup creates a term for the key.
    const KEYS_PER_LOOKUP: usize = 2;

    fn prepare_key(key: &str) -> PropertyName {
        PropertyName {
            text: key.to_owned(),
            atom: OnceLock::new(),
        }
    }

    fn with_string_node<T>((): &mut (), string: &str, f: impl FnOnce(TermNode<'_>) -> T) -> T {
        f(TermNode(Inner::Name(string)))
    }
}

impl<'a> Node<'a, TermJson> for TermNode<'a> {
    type Object = TermObject<'a>;
    type Array = TermArray<'a>;
    type Number = TermNumber<'a>;

    fn as_object(&self) -> Option<TermObject<'a>> {
        match self.0 {
            Inner::Term(term) if term.is_map() => Some(TermObject::Term(term)),
            Inner::Known(entry, all) => match entry.value {
                Known::Object(members) => Some(TermObject::Known(members.of(all), all)),
                _ => None,
            },
            _ => None,
        }
    }

    fn as_array(&self) -> Option<TermArray<'a>> {
        match self.0 {
            Inner::Term(term) if term.is_list() => Some(TermArray::Term(term)),
            Inner::Known(entry, all) => match entry.value {
                Known::Array(elements) => Some(TermArray::Known(elements.of(all), all)),
                _ => None,
            },
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.0 {
            Inner::Name(name) => Some(name.into()),
            Inner::Term(term) => string(term).map(Cow::Borrowed),
            Inner::Known(entry, _) => match entry.value {
                Known::Text(text) => Some(text.into()),
                _ => None,
            },
        }
    }

    fn as_number(&self) -> Option<TermNumber<'a>> {
        match self.0 {
            Inner::Name(_) => None,
            Inner::Term(term) => TermNumber::of(term),
            Inner::Known(entry, _) => TermNumber::of_known(entry.value),
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self.0 {
            Inner::Known(entry, _) => match entry.value {
                Known::Boolean(value) => Some(value),
                _ => None,
            },
            Inner::Term(term) if Raw::from(term).is(atoms::true_()) => Some(true),
            Inner::Term(term) if Raw::from(term).is(atoms::false_()) => Some(false),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        match self.0 {
            Inner::Term(term) => Raw::from(term).is(atoms::nil()),
            Inner::Known(entry, _) => matches!(entry.value, Known::Null),
            Inner::Name(_) => false,
        }
    }

    fn is_number(&self) -> bool {
        match self.0 {
            Inner::Term(term) => term.is_number(),
            _ => self.json_type() == JsonType::Number,
        }
    }

    fn is_string(&self) -> bool {
        match self.0 {
            Inner::Term(term) if term.is_binary() => true,
            _ => self.json_type() == JsonType::String,
        }
    }

    fn json_type(&self) -> JsonType {
        match self.0 {
            Inner::Name(_) => JsonType::String,
            Inner::Term(term) => term_type(term),
            Inner::Known(entry, _) => known_type(entry.value),
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match expected {
            Value::String(expected) => self.as_string().is_some_and(|string| string == *expected),
            Value::Null => self.is_null(),
            Value::Bool(expected) => self.as_boolean() == Some(*expected),
            _ => jsonschema::json::cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(value(self))
    }

    /// The term's word. A container and its contents never have the same word, and terms with the
    /// same word are the same value.
    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self.0 {
            Inner::Term(term) => NodeIdentity::new(word::of(term)),
            Inner::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), 1),
            Inner::Known(entry, _) => NodeIdentity::tagged(ptr::from_ref(entry).addr(), 2),
        })
    }
}

fn term_type(term: Term<'_>) -> JsonType {
    match TermKind::of(term) {
        TermKind::Map => JsonType::Object,
        TermKind::List => JsonType::Array,
        TermKind::Integer | TermKind::Float => JsonType::Number,
        TermKind::Atom => match atom_text::of(term) {
            "nil" => JsonType::Null,
            "true" | "false" => JsonType::Boolean,
            _ => JsonType::String,
        },
        _ => JsonType::String,
    }
}

#[inline]
fn known_type(value: Known<'_>) -> JsonType {
    match value {
        Known::Null => JsonType::Null,
        Known::Boolean(_) => JsonType::Boolean,
        Known::Signed(_) | Known::Unsigned(_) | Known::Big(_) | Known::Float(_) => JsonType::Number,
        Known::Text(_) => JsonType::String,
        Known::Array(_) => JsonType::Array,
        Known::Object(_) => JsonType::Object,
    }
}

fn string(term: Term<'_>) -> Option<&str> {
    if let Some(text) = Raw::from(term).bytes(term.get_env()) {
        return simdutf8::basic::from_utf8(text).ok();
    }
    if !term.is_atom() {
        return None;
    }
    match atom_text::of(term) {
        "nil" | "true" | "false" => None,
        text => Some(text),
    }
}

/// Builds a tree, for messages and for the rare keywords that compare whole values.
fn value(node: &TermNode<'_>) -> Value {
    match node.json_type() {
        JsonType::Null => Value::Null,
        JsonType::Boolean => Value::Bool(node.as_boolean().unwrap_or_default()),
        JsonType::Array => {
            let elements = node
                .as_array()
                .into_iter()
                .flat_map(|array| array.elements());
            Value::Array(elements.map(|element| value(&element)).collect())
        }
        JsonType::Object => {
            let members = node
                .as_object()
                .into_iter()
                .flat_map(|object| object.members());
            let members = members.map(|(name, member)| (name.into_owned(), value(&member)));
            Value::Object(members.collect::<Map<String, Value>>())
        }
        JsonType::Integer | JsonType::Number => node.as_number().map_or(Value::Null, |number| {
            Value::Number(number.to_number().into_owned())
        }),
        JsonType::String => Value::String(node.as_string().unwrap_or_default().into_owned()),
    }
}
