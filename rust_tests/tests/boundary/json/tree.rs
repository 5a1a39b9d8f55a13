//! A sink that keeps everything it is told, a writer for it, and short ways to call them.

use mcp_core::json::{
    self, Document, Duplicate, JsonError, JsonErrorKind, Limits, Sink, Text, has_duplicate,
};

/// A JSON value; floats as bits, so that `-0.0` differs from `0.0`.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Tree {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Big(String),
    Float(u64),
    Text(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

/// Builds a [`Tree`]; says whether strings were borrowed.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// Keep duplicate keys, to see what the grammar alone accepts.
    pub(super) keep_duplicates: bool,
    /// Texts that were handed over as a part of the input.
    pub(super) borrowed: usize,
    /// Texts that were handed over as a copy.
    pub(super) owned: usize,
}

impl Builder {
    fn take(&mut self, text: Text<'_>) -> String {
        match text.into_cow() {
            std::borrow::Cow::Borrowed(text) => {
                self.borrowed += 1;
                text.to_owned()
            }
            std::borrow::Cow::Owned(text) => {
                self.owned += 1;
                text
            }
        }
    }
}

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
        Tree::Unsigned(value)
    }

    fn big_integer(&mut self, text: &'a str) -> Tree {
        Tree::Big(text.to_owned())
    }

    fn float(&mut self, value: f64) -> Tree {
        Tree::Float(value.to_bits())
    }

    fn string(&mut self, text: Text<'a>) -> Tree {
        Tree::Text(self.take(text))
    }

    fn key(&mut self, text: Text<'a>) -> String {
        self.take(text)
    }

    fn array(&mut self, items: &[Tree]) -> Tree {
        Tree::Array(items.to_vec())
    }

    fn object(&mut self, keys: &[String], values: &[Tree]) -> Result<Tree, Duplicate> {
        assert_eq!(keys.len(), values.len());
        if !self.keep_duplicates && has_duplicate(keys) {
            return Err(Duplicate);
        }
        Ok(Tree::Object(
            keys.iter().cloned().zip(values.iter().cloned()).collect(),
        ))
    }
}

impl Tree {
    /// The value as JSON text, without white space.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend(b"null"),
            Self::Boolean(value) => out.extend(value.to_string().bytes()),
            Self::Integer(value) => json::write_integer(out, *value),
            Self::Unsigned(value) => json::write_unsigned(out, *value),
            Self::Big(digits) => out.extend(digits.bytes()),
            Self::Float(bits) => json::write_float(out, f64::from_bits(*bits)).unwrap(),
            Self::Text(text) => json::write_string(out, text),
            Self::Array(items) => write_list(out, b"[]", items, Self::write),
            Self::Object(members) => write_list(out, b"{}", members, |(key, value), out| {
                json::write_string(out, key);
                out.push(b':');
                value.write(out);
            }),
        }
    }

    /// The value as JSON text, without white space.
    pub(super) fn to_json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

fn write_list<T>(out: &mut Vec<u8>, ends: &[u8; 2], items: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(ends[0]);
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(ends[1]);
}

/// Reads with the default limits; both doors of the module must agree on whether it is JSON.
#[track_caller]
pub(super) fn read(bytes: &[u8]) -> Result<Tree, JsonError> {
    read_within(bytes, &Limits::default())
}

/// Reads with these limits; both doors of the module must agree on whether it is JSON.
#[track_caller]
pub(super) fn read_within(bytes: &[u8], limits: &Limits) -> Result<Tree, JsonError> {
    let tree = json::read(bytes, limits, &mut Builder::default());
    let grammar = json::read(
        bytes,
        limits,
        &mut Builder {
            keep_duplicates: true,
            ..Builder::default()
        },
    );
    let scanned = Document::scan(bytes, limits);
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
    assert_eq!(grammar.as_ref().err(), scanned.as_ref().err(), "{shown}");
    if let Ok(document) = scanned {
        assert_eq!(tree.is_err(), document.duplicate().is_some(), "{shown}");
        assert_eq!(tree.is_err(), document.root().has_duplicate(), "{shown}");
    }
    tree
}

/// Refused for that reason at that offset, whichever door it comes in by.
#[track_caller]
pub(super) fn refuses(text: impl AsRef<[u8]>, kind: JsonErrorKind, offset: usize) {
    let bytes = text.as_ref();
    let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(300)]);
    assert_eq!(read(bytes), Err(JsonError { kind, offset }), "{shown}");
}

/// Read as that value.
#[track_caller]
pub(super) fn reads(text: &str, value: &Tree) {
    assert_eq!(read(text.as_bytes()).as_ref(), Ok(value), "{text}");
}

/// A string.
pub(super) fn text(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

/// A float.
pub(super) fn float(value: f64) -> Tree {
    Tree::Float(value.to_bits())
}

/// An integer of any size, as its digits.
pub(super) fn big(digits: &str) -> Tree {
    Tree::Big(digits.to_owned())
}
