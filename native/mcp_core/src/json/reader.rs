//! Reads JSON text into the values of a [`Sink`].

use super::machine::{self, Events, Literal};
use super::nesting::Container;
use super::number::Number;
use super::{JsonError, JsonErrorKind, Limits, Text, string};

/// Builds values from the parts that [`read`] finds, innermost first.
///
/// # Examples
/// ```
/// use mcp_core::json::{Duplicate, Limits, Sink, Text, read};
///
/// /// Adds up the integers anywhere in a text.
/// struct Sum;
///
/// impl<'a> Sink<'a> for Sum {
///     type Value = i64;
///     type Key = ();
///     fn null(&mut self) -> i64 { 0 }
///     fn boolean(&mut self, _: bool) -> i64 { 0 }
///     fn integer(&mut self, value: i64) -> i64 { value }
///     fn unsigned(&mut self, _: u64) -> i64 { 0 }
///     fn big_integer(&mut self, _: &'a str) -> i64 { 0 }
///     fn float(&mut self, _: f64) -> i64 { 0 }
///     fn string(&mut self, _: Text<'a>) -> i64 { 0 }
///     fn key(&mut self, _: Text<'a>) {}
///     fn array(&mut self, items: &[i64]) -> i64 { items.iter().sum() }
///     fn object(&mut self, _: &[()], values: &[i64]) -> Result<i64, Duplicate> {
///         Ok(values.iter().sum())
///     }
/// }
///
/// assert_eq!(read(br#"{"a":1,"b":[2,3]}"#, &Limits::default(), &mut Sum), Ok(6));
/// ```
pub trait Sink<'a> {
    /// A finished value.
    type Value: Clone;
    /// A finished object key.
    type Key: Clone;

    /// `null`.
    fn null(&mut self) -> Self::Value;
    /// `true` or `false`.
    fn boolean(&mut self, value: bool) -> Self::Value;
    /// A signed 64-bit integer; `-0` is 0.
    fn integer(&mut self, value: i64) -> Self::Value;
    /// An integer above `i64::MAX` that fits in 64 bits.
    fn unsigned(&mut self, value: u64) -> Self::Value;
    /// Any other integer: its exact decimal text with the sign.
    fn big_integer(&mut self, text: &'a str) -> Self::Value;
    /// A number with a fraction or an exponent; always finite.
    fn float(&mut self, value: f64) -> Self::Value;
    /// A string.
    fn string(&mut self, text: Text<'a>) -> Self::Value;
    /// A string with escapes, for a sink that copies every text: `text` is only valid during the
    /// call.
    fn decoded_string(&mut self, text: &str) -> Self::Value {
        self.string(Text::owned(text.to_owned()))
    }
    /// An object key.
    fn key(&mut self, text: Text<'a>) -> Self::Key;
    /// Returns the key that the sink expects next, with its length, if `rest` starts with that key
    /// and a closing quote. `rest` is the text after an opening quote. The key must have been
    /// passed to [`key`](Self::key) before, as a borrowed text. By default the sink expects no key.
    fn expected_key(&mut self, rest: &[u8]) -> Option<(Self::Key, usize)> {
        let _ = rest;
        None
    }
    /// A finished array.
    fn array(&mut self, items: &[Self::Value]) -> Self::Value;
    /// A finished object; both slices have the same length and the order of the text.
    ///
    /// # Errors
    /// [`Duplicate`] when two keys are equal. The sink checks this, because building a map often
    /// finds duplicates anyway. Other sinks can call [`has_duplicate`](super::has_duplicate).
    fn object(
        &mut self,
        keys: &[Self::Key],
        values: &[Self::Value],
    ) -> Result<Self::Value, Duplicate>;
}

/// An object has two equal keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate;

/// Reads `bytes` as one JSON value.
///
/// # Errors
/// [`JsonError`] when `bytes` is not UTF-8, not JSON, beyond one of the limits, or has an object
/// that the sink refuses. For a [`Duplicate`] the offset is the start of that object.
pub fn read<'a, S: Sink<'a>>(
    bytes: &'a [u8],
    limits: &Limits,
    sink: &mut S,
) -> Result<S::Value, JsonError> {
    let text = machine::checked_text(bytes, limits)?;
    // A member of a message has about this length. Growing the stacks from empty would take a tenth
    // of the read time.
    let members = (bytes.len() / 8).min(64);
    let mut builder = Builder {
        text,
        sink,
        values: Vec::with_capacity(members),
        keys: Vec::with_capacity(members),
        frames: Vec::with_capacity(members / 4),
        decoded: Vec::new(),
    };
    machine::walk(text, limits, &mut builder)?;
    builder
        .values
        .pop()
        .ok_or(JsonError::new(JsonErrorKind::UnexpectedEnd, bytes.len()))
}

/// Keeps the finished values of all open containers on one stack.
struct Builder<'a, 's, S: Sink<'a>> {
    text: &'a str,
    sink: &'s mut S,
    values: Vec<S::Value>,
    keys: Vec<S::Key>,
    frames: Vec<Frame>,
    /// The text of the last string with escapes.
    decoded: Vec<u8>,
}

/// The start of an open container's parts on the stacks, and its start in the text.
struct Frame {
    values: usize,
    keys: usize,
    start: usize,
}

impl<'a, S: Sink<'a>> Builder<'a, '_, S> {
    fn decoded_string(&mut self, start: usize) -> Result<usize, JsonError> {
        let (text, end) = string::decode(self.text, start, &mut self.decoded)?;
        let value = self.sink.decoded_string(text);
        self.values.push(value);
        Ok(end)
    }
}

impl<'a, S: Sink<'a>> Events<'a> for Builder<'a, '_, S> {
    #[inline]
    fn literal(&mut self, literal: Literal, _start: usize, _end: usize) {
        let value = match literal {
            Literal::Null => self.sink.null(),
            Literal::True => self.sink.boolean(true),
            Literal::False => self.sink.boolean(false),
        };
        self.values.push(value);
    }

    #[inline]
    fn number(
        &mut self,
        number: Number<'a>,
        _start: usize,
        _end: usize,
    ) -> Result<(), JsonErrorKind> {
        let value = match number {
            Number::Integer(value) => self.sink.integer(value),
            Number::Unsigned(value) => self.sink.unsigned(value),
            Number::Big(text) => self.sink.big_integer(text),
            Number::Float(float) => self.sink.float(float.value()?),
        };
        self.values.push(value);
        Ok(())
    }

    #[inline]
    fn string(&mut self, start: usize) -> Result<usize, JsonError> {
        if let Some((_, end)) = string::plain(self.text.as_bytes(), start) {
            let text = string::between_quotes(self.text, start, end);
            let value = self.sink.string(Text::borrowed(text));
            self.values.push(value);
            return Ok(end);
        }
        self.decoded_string(start)
    }

    #[inline]
    fn key(&mut self, start: usize) -> Result<usize, JsonError> {
        let first = start.wrapping_add(1);
        let rest = self.text.as_bytes().get(first..).unwrap_or_default();
        if let Some((key, length)) = self.sink.expected_key(rest) {
            self.keys.push(key);
            return Ok(first.wrapping_add(length).wrapping_add(1));
        }
        let (text, end) = string::read(self.text, start)?;
        let key = self.sink.key(text);
        self.keys.push(key);
        Ok(end)
    }

    #[inline]
    fn open(&mut self, _container: Container, start: usize) {
        self.frames.push(Frame {
            values: self.values.len(),
            keys: self.keys.len(),
            start,
        });
    }

    #[inline]
    fn close(&mut self, container: Container, end: usize) -> Result<(), JsonError> {
        let Some(frame) = self.frames.pop() else {
            return Err(JsonError::new(JsonErrorKind::Syntax, end));
        };
        let values = self.values.get(frame.values..).unwrap_or_default();
        let value = match container {
            Container::Array => self.sink.array(values),
            Container::Object => {
                let keys = self.keys.get(frame.keys..).unwrap_or_default();
                let made = self.sink.object(keys, values);
                self.keys.truncate(frame.keys);
                made.map_err(|Duplicate| JsonError::new(JsonErrorKind::DuplicateKey, frame.start))?
            }
        };
        self.values.truncate(frame.values);
        self.values.push(value);
        Ok(())
    }
}
