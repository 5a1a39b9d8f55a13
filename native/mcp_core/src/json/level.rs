//! Reads one level of a value without an index, for objects and arrays of any size.

use super::machine::{self, Events, Literal};
use super::nesting::Container;
use super::number::Number;
use super::{JsonError, JsonErrorKind, Text, UNLIMITED, string};

/// The bytes of the first member with that name, if `text` is an object.
///
/// # Examples
/// ```
/// use mcp_core::json::member;
///
/// let object = br#"{"a":[1,{"b":2}],"b":{"c":3}}"#;
/// assert_eq!(member(object, "b"), Some(br#"{"c":3}"#.as_slice()));
/// assert_eq!(member(object, "c"), None);
/// assert_eq!(member(br#"["b"]"#, "b"), None);
/// ```
#[must_use]
pub fn member<'a>(text: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut found = None;
    each(text, |key, value| {
        if found.is_none() && key.is_some_and(|key| key.as_str() == name) {
            found = Some(value);
        }
    });
    found
}

/// The bytes of the first `most` elements, if `text` is an array.
///
/// # Examples
/// ```
/// use mcp_core::json::elements;
///
/// assert_eq!(elements(b"[1, [2], 3]", 2), [b"1".as_slice(), b"[2]"]);
/// assert!(elements(b"{\"a\":1}", 2).is_empty());
/// ```
#[must_use]
pub fn elements(text: &[u8], most: usize) -> Vec<&[u8]> {
    let mut found = Vec::new();
    each(text, |key, value| {
        if key.is_none() && found.len() < most {
            found.push(value);
        }
    });
    found
}

/// The bytes of the values of all members of an object, or of all elements of an array.
///
/// # Examples
/// ```
/// use mcp_core::json::values;
///
/// assert_eq!(values(br#"{"a": [1], "b": null}"#), [b"[1]".as_slice(), b"null"]);
/// assert_eq!(values(b"[1, {}]"), [b"1".as_slice(), b"{}"]);
/// assert!(values(b"1").is_empty());
/// ```
#[must_use]
pub fn values(text: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    each(text, |_key, value| found.push(value));
    found
}

/// Passes each member or element of the value in `text` to `found`, up to the first invalid one.
fn each<'a>(text: &'a [u8], found: impl FnMut(Option<&Text<'a>>, &'a [u8])) {
    if let Ok(text) = machine::checked_text(text, &UNLIMITED) {
        let mut level = Level {
            text,
            depth: 0,
            start: 0,
            key: None,
            found,
        };
        // Members before an error were already passed on.
        let _ = machine::walk(text, &UNLIMITED, &mut level);
    }
}

struct Level<'a, F> {
    text: &'a str,
    depth: usize,
    /// The start of the nested container.
    start: usize,
    key: Option<Text<'a>>,
    found: F,
}

impl<'a, F: FnMut(Option<&Text<'a>>, &'a [u8])> Level<'a, F> {
    fn value(&mut self, start: usize, end: usize) {
        if self.depth == 1 {
            let value = self.text.as_bytes().get(start..end).unwrap_or_default();
            (self.found)(self.key.as_ref(), value);
        }
    }
}

impl<'a, F: FnMut(Option<&Text<'a>>, &'a [u8])> Events<'a> for Level<'a, F> {
    fn literal(&mut self, _literal: Literal, start: usize, end: usize) {
        self.value(start, end);
    }

    fn number(&mut self, _: Number<'a>, start: usize, end: usize) -> Result<(), JsonErrorKind> {
        self.value(start, end);
        Ok(())
    }

    fn string(&mut self, start: usize) -> Result<usize, JsonError> {
        let end = string::skip(self.text, start)?;
        self.value(start, end);
        Ok(end)
    }

    fn key(&mut self, start: usize) -> Result<usize, JsonError> {
        if self.depth > 1 {
            return string::skip(self.text, start);
        }
        let (key, end) = string::read(self.text, start)?;
        self.key = Some(key);
        Ok(end)
    }

    fn open(&mut self, _container: Container, start: usize) {
        if self.depth == 1 {
            self.start = start;
        }
        self.depth = self.depth.saturating_add(1);
    }

    fn close(&mut self, _container: Container, end: usize) -> Result<(), JsonError> {
        self.depth = self.depth.saturating_sub(1);
        self.value(self.start, end);
        Ok(())
    }
}
