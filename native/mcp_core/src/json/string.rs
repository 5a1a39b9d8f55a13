//! Strings: quotes, escapes, and the plain runs between them.

use super::plain::{Checked, copy_plain_run, plain_run};
use super::{JsonError, JsonErrorKind, Text};

/// The bytes of the string whose opening quote is at `quote`, and the offset after it; `None` if
/// the string has an escape or an error.
#[inline]
pub(super) fn plain(bytes: &[u8], quote: usize) -> Option<(&[u8], usize)> {
    let first = quote.wrapping_add(1);
    let rest = bytes.get(first..)?;
    let (plain, after) = rest.split_at_checked(plain_run(rest))?;
    let end = first.wrapping_add(plain.len()).wrapping_add(1);
    (after.first() == Some(&b'"')).then_some((plain, end))
}

/// Checks the string whose opening quote is at `quote`; returns the offset after it.
#[inline]
pub(super) fn skip(text: &str, quote: usize) -> Result<usize, JsonError> {
    match plain(text.as_bytes(), quote) {
        Some((_, end)) => Ok(end),
        None => collect(text, quote, &mut Unread),
    }
}

/// Reads the string whose opening quote is at `quote`; returns its text and the offset after it.
#[inline]
pub(super) fn read(text: &str, quote: usize) -> Result<(Text<'_>, usize), JsonError> {
    match plain(text.as_bytes(), quote) {
        Some((_, end)) => Ok((Text::borrowed(between_quotes(text, quote, end)), end)),
        None => read_escaped(text, quote),
    }
}

/// The text of a plain string whose opening quote is at `quote` and that ends before `end`.
#[inline]
pub(super) fn between_quotes(text: &str, quote: usize, end: usize) -> &str {
    text.get(quote.wrapping_add(1)..end.wrapping_sub(1))
        .unwrap_or_default()
}

fn read_escaped(text: &str, quote: usize) -> Result<(Text<'_>, usize), JsonError> {
    let mut decoded = Vec::with_capacity(64);
    let (read, end) = decode(text, quote, &mut decoded)?;
    Ok((Text::owned(read.to_owned()), end))
}

/// Decodes the string whose opening quote is at `quote` into `decoded`; returns its text and the
/// offset after it.
pub(super) fn decode<'d>(
    text: &str,
    quote: usize,
    decoded: &'d mut Vec<u8>,
) -> Result<(&'d str, usize), JsonError> {
    decoded.clear();
    let end = collect(text, quote, decoded)?;
    // `decoded` has runs of the text and complete characters, so the check cannot fail.
    let read = simdutf8::basic::from_utf8(decoded).unwrap_or_default();
    Ok((read, end))
}

/// Receives the parts of a string while its escapes are checked.
trait Collect {
    /// Takes the plain bytes at the front; returns the rest.
    fn run<'t>(&mut self, bytes: &'t [u8]) -> &'t [u8];
    fn ascii(&mut self, byte: u8);
    fn character(&mut self, character: char);
}

impl Collect for Vec<u8> {
    #[inline]
    fn run<'t>(&mut self, bytes: &'t [u8]) -> &'t [u8] {
        copy_plain_run::<Checked>(bytes, self)
    }

    #[inline]
    fn ascii(&mut self, byte: u8) {
        self.push(byte);
    }

    fn character(&mut self, character: char) {
        self.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Collects nothing: the string is only checked.
struct Unread;

impl Collect for Unread {
    #[inline]
    fn run<'t>(&mut self, bytes: &'t [u8]) -> &'t [u8] {
        bytes.get(plain_run(bytes)..).unwrap_or_default()
    }

    fn ascii(&mut self, _byte: u8) {}

    fn character(&mut self, _character: char) {}
}

/// Passes the string whose opening quote is at `quote` to `into`, part by part.
fn collect(text: &str, quote: usize, into: &mut impl Collect) -> Result<usize, JsonError> {
    let bytes = text.as_bytes();
    let mut rest = bytes.get(quote.wrapping_add(1)..).unwrap_or_default();
    loop {
        rest = into.run(rest);
        let at = bytes.len().wrapping_sub(rest.len());
        match rest {
            [b'"', ..] => return Ok(at.wrapping_add(1)),
            [b'\\', b'u', ..] => {
                let (character, end) = unicode_escape(bytes, at)?;
                into.character(character);
                rest = bytes.get(end..).unwrap_or_default();
            }
            [b'\\', letter, after @ ..] => {
                let Some(byte) = short_escape(*letter) else {
                    return Err(JsonError::new(JsonErrorKind::InvalidEscape, at));
                };
                into.ascii(byte);
                rest = after;
            }
            [b'\\'] => return Err(JsonError::new(JsonErrorKind::UnexpectedEnd, bytes.len())),
            [_, ..] => return Err(JsonError::new(JsonErrorKind::ControlCharacter, at)),
            [] => return Err(JsonError::new(JsonErrorKind::UnexpectedEnd, at)),
        }
    }
}

/// The character of a two-letter escape.
#[inline]
const fn short_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'"' | b'\\' | b'/' => letter,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The character of `\uXXXX`, or of two such escapes that form a surrogate pair.
fn unicode_escape(bytes: &[u8], at: usize) -> Result<(char, usize), JsonError> {
    let unit = code_unit(bytes, at)?;
    let end = at.wrapping_add(6);
    if let Some(character) = char::from_u32(unit) {
        return Ok((character, end));
    }
    let lone = JsonError::new(JsonErrorKind::LoneSurrogate, at);
    if unit >= 0xdc00 || !bytes.get(end..).unwrap_or_default().starts_with(b"\\u") {
        return Err(lone);
    }
    let low = code_unit(bytes, end)?;
    if !(0xdc00..0xe000).contains(&low) {
        return Err(lone);
    }
    let code = (((unit & 0x3ff) << 10) | (low & 0x3ff)).wrapping_add(0x1_0000);
    char::from_u32(code)
        .map(|character| (character, end.wrapping_add(6)))
        .ok_or(lone)
}

/// The four hexadecimal digits of the `\u` at `at`.
fn code_unit(bytes: &[u8], at: usize) -> Result<u32, JsonError> {
    let first = at.wrapping_add(2);
    let mut unit = 0_u32;
    for offset in first..first.wrapping_add(4) {
        let Some(byte) = bytes.get(offset) else {
            return Err(JsonError::new(JsonErrorKind::UnexpectedEnd, bytes.len()));
        };
        let Some(digit) = char::from(*byte).to_digit(16) else {
            return Err(JsonError::new(JsonErrorKind::InvalidEscape, at));
        };
        unit = (unit << 4) | digit;
    }
    Ok(unit)
}
