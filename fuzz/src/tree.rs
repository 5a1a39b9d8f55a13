//! JSON values that keep all information of the reader, and a writer that uses the core's
//! functions.

use mcp_core::json::{
    Duplicate, JsonError, Limits, Sink, Text, has_duplicate, read, write_float, write_integer,
    write_string, write_unsigned,
};

/// A JSON value; floats as bits, because `-0.0` is not `0.0`.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    /// The digits, with the sign.
    Big(String),
    Float(u64),
    Text(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// The treatment of an object with duplicate keys.
#[derive(Clone, Copy, PartialEq)]
pub enum Repeated {
    Keep,
    Refuse,
}

/// Parses a text into a value.
pub fn parse(bytes: &[u8], limits: &Limits, repeated: Repeated) -> Result<Tree, JsonError> {
    read(bytes, limits, &mut Builder(repeated))
}

struct Builder(Repeated);

impl<'a> Sink<'a> for Builder {
    type Value = Tree;
    type Key = String;

    fn null(&mut self) -> Tree {
        Tree::Null
    }

    fn boolean(&mut self, value: bool) -> Tree {
        Tree::Boolean(value)
    }

    fn integer(&mut self, value: i64) -> Tree {
        Tree::Integer(value)
    }

    fn unsigned(&mut self, value: u64) -> Tree {
        assert!(i64::try_from(value).is_err(), "{value} has a sign's room");
        Tree::Unsigned(value)
    }

    fn big_integer(&mut self, text: &'a str) -> Tree {
        assert!(
            text.parse::<u64>().is_err() && text.parse::<i64>().is_err(),
            "{text} fits"
        );
        Tree::Big(text.to_owned())
    }

    fn float(&mut self, value: f64) -> Tree {
        assert!(value.is_finite());
        Tree::Float(value.to_bits())
    }

    fn string(&mut self, text: Text<'a>) -> Tree {
        Tree::Text(text.into_cow().into_owned())
    }

    fn key(&mut self, text: Text<'a>) -> String {
        text.into_cow().into_owned()
    }

    fn array(&mut self, items: &[Tree]) -> Tree {
        Tree::Array(items.to_vec())
    }

    fn object(&mut self, keys: &[String], values: &[Tree]) -> Result<Tree, Duplicate> {
        assert_eq!(keys.len(), values.len());
        if self.0 == Repeated::Refuse && has_duplicate(keys) {
            return Err(Duplicate);
        }
        Ok(Tree::Object(
            keys.iter().cloned().zip(values.iter().cloned()).collect(),
        ))
    }
}

impl Tree {
    /// The value as JSON text, without white space.
    pub fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend(b"null"),
            Self::Boolean(true) => out.extend(b"true"),
            Self::Boolean(false) => out.extend(b"false"),
            Self::Integer(value) => write_integer(out, *value),
            Self::Unsigned(value) => write_unsigned(out, *value),
            Self::Big(digits) => out.extend(digits.bytes()),
            Self::Float(bits) => write_float(out, f64::from_bits(*bits)).expect("finite"),
            Self::Text(text) => write_string(out, text),
            Self::Array(items) => {
                out.push(b'[');
                for (place, item) in items.iter().enumerate() {
                    separate(out, place);
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(members) => {
                out.push(b'{');
                for (place, (key, value)) in members.iter().enumerate() {
                    separate(out, place);
                    write_string(out, key);
                    out.push(b':');
                    value.write(out);
                }
                out.push(b'}');
            }
        }
    }

    /// The nesting depth of arrays and objects.
    pub fn depth(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Self::Object(members) => {
                1 + members
                    .iter()
                    .map(|(_, value)| value.depth())
                    .max()
                    .unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// The number of values, including this one; keys do not count.
    pub fn count(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::count).sum::<usize>(),
            Self::Object(members) => {
                1 + members
                    .iter()
                    .map(|(_, value)| value.count())
                    .sum::<usize>()
            }
            _ => 1,
        }
    }

    /// Whether an object anywhere inside has a key twice.
    pub fn repeats_a_key(&self) -> bool {
        match self {
            Self::Array(items) => items.iter().any(Self::repeats_a_key),
            Self::Object(members) => {
                let mut keys: Vec<_> = members.iter().map(|(key, _)| key).collect();
                keys.sort();
                keys.windows(2).any(|pair| pair[0] == pair[1])
                    || members.iter().any(|(_, value)| value.repeats_a_key())
            }
            _ => false,
        }
    }
}

fn separate(out: &mut Vec<u8>, place: usize) {
    if place > 0 {
        out.push(b',');
    }
}
