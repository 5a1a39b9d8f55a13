//! Walks JSON text: grammar, depth and counts. [`Events`] receives each value.
//!
//! It uses a loop and a stack of bits instead of recursion: the stacks of BEAM threads are small,
//! and the sender chooses the depth.

use super::nesting::{Container, Nesting};
use super::number::{self, Number};
use super::{JsonError, JsonErrorKind, Limits};

/// The events of a walk, in the order of the text.
///
/// The receiver reads strings, because only the receiver knows whether it needs their text.
pub(super) trait Events<'a> {
    /// `null`, `true` or `false`.
    fn literal(&mut self, literal: Literal, start: usize, end: usize);

    /// A number.
    fn number(&mut self, number: Number<'a>, start: usize, end: usize)
    -> Result<(), JsonErrorKind>;

    /// The string whose opening quote is at `start`; returns the offset after it.
    fn string(&mut self, start: usize) -> Result<usize, JsonError>;

    /// The object key whose opening quote is at `start`; returns the offset after it.
    fn key(&mut self, start: usize) -> Result<usize, JsonError>;

    /// An array or object begins.
    fn open(&mut self, container: Container, start: usize);

    /// The innermost open array or object ends; `end` is the offset after it.
    fn close(&mut self, container: Container, end: usize) -> Result<(), JsonError>;
}

/// A literal name of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Literal {
    Null,
    True,
    False,
}

/// The longest text, whatever the limits are: offsets are kept in 32 bits.
const LONGEST: usize = u32::MAX as usize - 1;

/// The text of `bytes`, if they are UTF-8 and within the limit.
pub(super) fn checked_text<'a>(bytes: &'a [u8], limits: &Limits) -> Result<&'a str, JsonError> {
    let most = limits.max_bytes.min(LONGEST);
    if bytes.len() > most {
        return Err(JsonError::new(JsonErrorKind::TooLarge, most));
    }
    simdutf8::basic::from_utf8(bytes).map_err(|_| {
        // The fast check does not tell the offset.
        let offset = str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
        JsonError::new(JsonErrorKind::InvalidUtf8, offset)
    })
}

/// Walks the single JSON value in `text` and returns its number of values.
pub(super) fn walk<'a, E: Events<'a>>(
    text: &'a str,
    limits: &Limits,
    events: &mut E,
) -> Result<usize, JsonError> {
    let machine = Machine {
        text,
        bytes: text.as_bytes(),
        at: 0,
        values_left: limits.max_values,
        nesting: Nesting::default(),
        limits,
        events,
    };
    machine.run()
}

struct Machine<'a, 'm, E> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    values_left: usize,
    nesting: Nesting,
    limits: &'m Limits,
    events: &'m mut E,
}

impl<'a, E: Events<'a>> Machine<'a, '_, E> {
    fn run(mut self) -> Result<usize, JsonError> {
        loop {
            let mut complete = self.value()?;
            while complete {
                let Some(container) = self.nesting.innermost() else {
                    self.end()?;
                    return Ok(self.limits.max_values.saturating_sub(self.values_left));
                };
                complete = self.after_value(container)?;
            }
        }
    }

    /// Takes a value or its beginning. Returns whether the value is complete; otherwise its first
    /// inner value follows.
    #[inline]
    fn value(&mut self) -> Result<bool, JsonError> {
        let byte = self.next_byte()?;
        let Some(left) = self.values_left.checked_sub(1) else {
            return Err(self.error(JsonErrorKind::TooManyValues));
        };
        self.values_left = left;
        match byte {
            b'"' => self.at = self.events.string(self.at)?,
            b'-' | b'0'..=b'9' => self.number()?,
            b'{' => return self.open(Container::Object, b'}'),
            b'[' => return self.open(Container::Array, b']'),
            b't' => self.literal(b"true", Literal::True)?,
            b'f' => self.literal(b"false", Literal::False)?,
            b'n' => self.literal(b"null", Literal::Null)?,
            _ => return Err(self.error(JsonErrorKind::Syntax)),
        }
        Ok(true)
    }

    /// Takes the text after a complete value inside `container`. Returns whether the container is
    /// complete; otherwise its next value follows.
    #[inline]
    fn after_value(&mut self, container: Container) -> Result<bool, JsonError> {
        match (self.next_byte()?, container) {
            (b',', Container::Object) => {
                self.advance(1);
                self.key()?;
                Ok(false)
            }
            (b',', Container::Array) => {
                self.advance(1);
                Ok(false)
            }
            (b'}', Container::Object) | (b']', Container::Array) => {
                self.close(container)?;
                Ok(true)
            }
            _ => Err(self.error(JsonErrorKind::Syntax)),
        }
    }

    /// Only white space may follow the outermost value.
    fn end(&mut self) -> Result<(), JsonError> {
        match self.next_byte() {
            Ok(_) => Err(self.error(JsonErrorKind::TrailingBytes)),
            Err(_) => Ok(()),
        }
    }

    /// Opens a container, and closes it if it is empty. Returns whether it is empty.
    #[inline]
    fn open(&mut self, container: Container, closing: u8) -> Result<bool, JsonError> {
        if self.nesting.depth() >= self.limits.max_depth {
            return Err(self.error(JsonErrorKind::TooDeep));
        }
        self.nesting.push(container);
        self.events.open(container, self.at);
        self.advance(1);
        let empty = self.next_byte()? == closing;
        if empty {
            self.close(container)?;
        } else if container == Container::Object {
            self.key()?;
        }
        Ok(empty)
    }

    #[inline]
    fn close(&mut self, container: Container) -> Result<(), JsonError> {
        self.advance(1);
        self.nesting.pop();
        self.events.close(container, self.at)
    }

    /// Takes a key and its colon.
    #[inline]
    fn key(&mut self) -> Result<(), JsonError> {
        if self.next_byte()? != b'"' {
            return Err(self.error(JsonErrorKind::Syntax));
        }
        self.at = self.events.key(self.at)?;
        if self.next_byte()? != b':' {
            return Err(self.error(JsonErrorKind::Syntax));
        }
        self.advance(1);
        Ok(())
    }

    #[inline]
    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        let (number, end) = number::scan(self.text, start, self.limits.max_digits)?;
        let taken = self.events.number(number, start, end);
        taken.map_err(|kind| JsonError::new(kind, start))?;
        self.at = end;
        Ok(())
    }

    #[inline]
    fn literal<const N: usize>(
        &mut self,
        word: &[u8; N],
        literal: Literal,
    ) -> Result<(), JsonError> {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        if rest.first_chunk::<N>() != Some(word) {
            return Err(self.not_a_word(word, rest));
        }
        self.advance(N);
        self.events.literal(literal, start, self.at);
        Ok(())
    }

    #[cold]
    fn not_a_word(&self, word: &[u8], rest: &[u8]) -> JsonError {
        if word.starts_with(rest) {
            return JsonError::new(JsonErrorKind::UnexpectedEnd, self.bytes.len());
        }
        self.error(JsonErrorKind::Syntax)
    }

    /// The next byte that is not white space; it is not consumed.
    #[inline]
    fn next_byte(&mut self) -> Result<u8, JsonError> {
        match self.bytes.get(self.at) {
            Some(byte) if *byte > b' ' => Ok(*byte),
            _ => self.next_byte_behind_space(),
        }
    }

    fn next_byte_behind_space(&mut self) -> Result<u8, JsonError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let space = rest
            .iter()
            .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
        let space = space.count();
        self.advance(space);
        rest.get(space)
            .copied()
            .ok_or(self.error(JsonErrorKind::UnexpectedEnd))
    }

    #[inline]
    const fn advance(&mut self, by: usize) {
        self.at = self.at.wrapping_add(by);
    }

    const fn error(&self, kind: JsonErrorKind) -> JsonError {
        JsonError::new(kind, self.at)
    }
}
