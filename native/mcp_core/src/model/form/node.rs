//! A form as a tree. Numbers are exact, and members keep their order.

use std::borrow::Cow;
use std::rc::Rc;

use crate::json::{
    Duplicate, Limits, Sink, Text, UNLIMITED, read, write_float, write_integer, write_string,
    write_unsigned,
};

/// Deeper texts are no forms.
const LIMITS: Limits = Limits {
    max_depth: 128,
    ..UNLIMITED
};

/// A JSON value. Containers are shared, because the reader copies finished values.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    BigInteger(&'a str),
    Float(f64),
    Text(Cow<'a, str>),
    Array(Rc<[Node<'a>]>),
    Object(Rc<[(Cow<'a, str>, Node<'a>)]>),
}

impl<'a> Node<'a> {
    pub(super) fn read(text: &'a [u8]) -> Option<Self> {
        read(text, &LIMITS, &mut Tree).ok()
    }

    pub(super) fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    pub(super) fn members(&self) -> Option<&[(Cow<'a, str>, Self)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member with that name, if the value is an object.
    pub(super) fn get(&self, name: &str) -> Option<&Self> {
        let mut members = self.members()?.iter();
        members.find(|(key, _)| key == name).map(|(_, value)| value)
    }

    pub(super) fn is_number(&self) -> bool {
        self.is_integer() || matches!(self, Self::Float(_))
    }

    /// In JSON Schema `3.0` is an integer too.
    pub(super) fn is_integer(&self) -> bool {
        match self {
            Self::Integer(_) | Self::Unsigned(_) | Self::BigInteger(_) => true,
            Self::Float(value) => value.fract() == 0.0,
            _ => false,
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Boolean(true) => out.extend_from_slice(b"true"),
            Self::Boolean(false) => out.extend_from_slice(b"false"),
            Self::Integer(value) => write_integer(out, *value),
            Self::Unsigned(value) => write_unsigned(out, *value),
            Self::BigInteger(digits) => out.extend_from_slice(digits.as_bytes()),
            // A float that was read is finite.
            Self::Float(value) => write_float(out, *value).unwrap_or_default(),
            Self::Text(text) => write_string(out, text),
            Self::Array(elements) => write_array(out, elements.iter()),
            Self::Object(members) => {
                let mut object = ObjectWriter::open(out);
                for (key, value) in members.iter() {
                    value.write(object.member(key));
                }
                object.close();
            }
        }
    }
}

/// Appends the nodes as an array.
pub(super) fn write_array<'n, 'a: 'n>(
    out: &mut Vec<u8>,
    elements: impl Iterator<Item = &'n Node<'a>>,
) {
    out.push(b'[');
    for (index, element) in elements.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        element.write(out);
    }
    out.push(b']');
}

/// Appends an object, member by member.
pub(super) struct ObjectWriter<'o> {
    out: &'o mut Vec<u8>,
    is_empty: bool,
}

impl<'o> ObjectWriter<'o> {
    pub(super) fn open(out: &'o mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            is_empty: true,
        }
    }

    /// Appends a key. The caller appends the value to the returned text.
    pub(super) fn member(&mut self, key: &str) -> &mut Vec<u8> {
        if !self.is_empty {
            self.out.push(b',');
        }
        self.is_empty = false;
        write_string(self.out, key);
        self.out.push(b':');
        self.out
    }

    pub(super) fn close(self) {
        self.out.push(b'}');
    }
}

/// Builds the tree.
struct Tree;

impl<'a> Sink<'a> for Tree {
    type Value = Node<'a>;
    type Key = Cow<'a, str>;

    fn null(&mut self) -> Node<'a> {
        Node::Null
    }

    fn boolean(&mut self, value: bool) -> Node<'a> {
        Node::Boolean(value)
    }

    fn integer(&mut self, value: i64) -> Node<'a> {
        Node::Integer(value)
    }

    fn unsigned(&mut self, value: u64) -> Node<'a> {
        Node::Unsigned(value)
    }

    fn big_integer(&mut self, text: &'a str) -> Node<'a> {
        Node::BigInteger(text)
    }

    fn float(&mut self, value: f64) -> Node<'a> {
        Node::Float(value)
    }

    fn string(&mut self, text: Text<'a>) -> Node<'a> {
        Node::Text(text.into_cow())
    }

    fn key(&mut self, text: Text<'a>) -> Cow<'a, str> {
        text.into_cow()
    }

    fn array(&mut self, items: &[Node<'a>]) -> Node<'a> {
        Node::Array(items.into())
    }

    fn object(
        &mut self,
        keys: &[Cow<'a, str>],
        values: &[Node<'a>],
    ) -> Result<Node<'a>, Duplicate> {
        let members = keys.iter().cloned().zip(values.iter().cloned());
        Ok(Node::Object(members.collect()))
    }
}
