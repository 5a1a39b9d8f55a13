//! Terms as JSON for the schema validator: it looks at the very terms a handler gets or returns.
//!
//! Only terms that [`super::plain`] let through may be looked at so.

use std::borrow::Cow;
use std::sync::OnceLock;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, JsonNumber as _, Node, NodeIdentity, Object};
use rustler::{Atom, Env, NewBinary, Term, TermType};
use serde_json::{Map, Value};

use super::node_number::TermNumber;
use super::raw::{Raw, RawMembers};
use super::{atom_text, word};
use crate::atoms;

/// The representation: schemas compiled for it check terms.
pub(crate) enum TermJson {}

/// A property's name, with its atom once there is one.
pub(crate) struct PropertyName {
    text: String,
    atom: OnceLock<Atom>,
}

impl Json for TermJson {
    type Node<'a> = TermNode<'a>;
    type PreparedKey = PropertyName;
    type StringBuffer = ();

    /// A look at a member costs about half of a lookup, which makes a term of the key first.
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

/// One value.
#[derive(Clone)]
pub(crate) struct TermNode<'a>(Inner<'a>);

#[derive(Clone)]
enum Inner<'a> {
    Term(Term<'a>),
    /// A property's name, looked at as a value.
    Name(&'a str),
}

impl<'a> TermNode<'a> {
    pub(crate) fn new(term: Term<'a>) -> Self {
        Self(Inner::Term(term))
    }

    fn is(&self, atom: Atom) -> bool {
        matches!(self.0, Inner::Term(term) if Raw::from(term).is(atom))
    }
}

impl<'a> Node<'a, TermJson> for TermNode<'a> {
    type Object = TermObject<'a>;
    type Array = TermArray<'a>;
    type Number = TermNumber;

    fn as_object(&self) -> Option<TermObject<'a>> {
        match self.0 {
            Inner::Term(term) if term.is_map() => Some(TermObject(term)),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<TermArray<'a>> {
        match self.0 {
            Inner::Term(term) if term.is_list() => Some(TermArray(term)),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self.0 {
            Inner::Name(name) => Some(name.into()),
            Inner::Term(term) => string(term).map(Cow::Borrowed),
        }
    }

    fn as_number(&self) -> Option<TermNumber> {
        match self.0 {
            Inner::Name(_) => None,
            Inner::Term(term) => TermNumber::of(term),
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        if self.is(atoms::true_()) {
            Some(true)
        } else {
            self.is(atoms::false_()).then_some(false)
        }
    }

    fn is_null(&self) -> bool {
        self.is(atoms::nil())
    }

    fn is_number(&self) -> bool {
        matches!(self.0, Inner::Term(term) if term.is_number())
    }

    fn is_string(&self) -> bool {
        match self.0 {
            Inner::Term(term) if term.is_binary() => true,
            _ => self.json_type() == JsonType::String,
        }
    }

    fn json_type(&self) -> JsonType {
        let Inner::Term(term) = self.0 else {
            return JsonType::String;
        };
        match term.get_type() {
            TermType::Map => JsonType::Object,
            TermType::List => JsonType::Array,
            TermType::Integer | TermType::Float => JsonType::Number,
            TermType::Atom => match atom_text::of(term) {
                "nil" => JsonType::Null,
                "true" | "false" => JsonType::Boolean,
                _ => JsonType::String,
            },
            _ => JsonType::String,
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

    /// The term's word. A container and what it holds never share one, and terms that are one in
    /// memory are the same value.
    fn identity(&self) -> Option<NodeIdentity> {
        Some(match self.0 {
            Inner::Term(term) => NodeIdentity::new(word::of(term)),
            Inner::Name(name) => NodeIdentity::tagged(name.as_ptr().addr(), 1),
        })
    }
}

fn string(term: Term<'_>) -> Option<&str> {
    if let Some(text) = Raw::from(term).bytes(term.get_env()) {
        return simdutf8::basic::from_utf8(text).ok();
    }
    match term.get_type() {
        TermType::Atom => match atom_text::of(term) {
            "nil" | "true" | "false" => None,
            text => Some(text),
        },
        _ => None,
    }
}

/// A tree of its own: for messages and for the rare keywords that compare whole values.
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

/// A map, its keys all binaries or all atoms.
pub(crate) struct TermObject<'a>(Term<'a>);

impl<'a> TermObject<'a> {
    fn by_binary(&self, key: &PropertyName) -> Option<Term<'a>> {
        let key: Term<'a> = NewBinary::from_slice(self.0.get_env(), key.text.as_bytes()).into();
        self.0.map_get(key).ok()
    }

    /// Atoms are looked for, never made. Once found, an atom is there for good.
    fn by_atom(&self, key: &PropertyName) -> Option<Term<'a>> {
        if let Some(atom) = key.atom.get() {
            return self.0.map_get(*atom).ok();
        }
        let atom = Atom::existing_from_str(self.0.get_env(), &key.text).ok()?;
        self.0.map_get(key.atom.get_or_init(|| atom)).ok()
    }
}

impl<'a> Object<'a, TermJson> for TermObject<'a> {
    type Node = TermNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = TermMembers<'a>;

    fn len(&self) -> usize {
        self.0.map_size().unwrap_or_default()
    }

    fn get(&self, key: &PropertyName) -> Option<TermNode<'a>> {
        self.by_binary(key)
            .or_else(|| self.by_atom(key))
            .map(TermNode::new)
    }

    fn members(&self) -> TermMembers<'a> {
        let env = self.0.get_env();
        TermMembers {
            env,
            members: RawMembers::of(self.0.into(), env),
        }
    }
}

/// A map's members.
pub(crate) struct TermMembers<'a> {
    env: Env<'a>,
    members: RawMembers<'a>,
}

impl<'a> Iterator for TermMembers<'a> {
    type Item = (Cow<'a, str>, TermNode<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.members.next()?;
        let name = match key.bytes(self.env) {
            Some(name) => simdutf8::basic::from_utf8(name).unwrap_or_default(),
            None => atom_text::of(key.term(self.env)),
        };
        Some((Cow::Borrowed(name), TermNode::new(value.term(self.env))))
    }
}

/// A list.
pub(crate) struct TermArray<'a>(Term<'a>);

impl<'a> Array<'a, TermJson> for TermArray<'a> {
    type Node = TermNode<'a>;
    type ElementsIter = TermElements<'a>;

    fn len(&self) -> usize {
        self.0.list_length().unwrap_or_default()
    }

    fn elements(&self) -> TermElements<'a> {
        TermElements(self.0)
    }
}

/// A list's elements.
pub(crate) struct TermElements<'a>(Term<'a>);

impl<'a> Iterator for TermElements<'a> {
    type Item = TermNode<'a>;

    fn next(&mut self) -> Option<TermNode<'a>> {
        let env = self.0.get_env();
        let (element, rest) = Raw::from(self.0).cell(env)?;
        self.0 = rest.term(env);
        Some(TermNode::new(element.term(env)))
    }
}
