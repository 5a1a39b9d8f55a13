//! Strings: their quotes, their escapes, and the plain runs between them.

use super::plain::plain_run;
use super::{JsonError, JsonErrorKind, Text};

/// The bytes of the string whose opening quote is at `quote`, and the offset behind it, if it has
/// neither escape nor fault.
#[inline]
pub(super) fn plain(bytes: &[u8], quote: usize) -> Option<(&[u8], usize)> {
    let first = quote.wrapping_add(1);
    let rest = bytes.get(first..)?;
    let (plain, after) = rest.split_at_checked(plain_run(rest))?;
    let end = first.wrapping_add(plain.len()).wrapping_add(1);
    (after.first() == Some(&b'"')).then_some((plain, end))
}

/// Checks the string whose opening quote is at `quote`; returns the offset behind it.
#[inline]
pub(super) fn skip(text: &str, quote: usize) -> Result<usize, JsonError> {
    match plain(text.as_bytes(), quote) {
        Some((_, end)) => Ok(end),
        None => collect(text, quote, &mut Unread),
    }
}

/// Reads the string whose opening quote is at `quote`; returns its text and the offset behind it.
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
    let mut decoded = String::new();
    let end = collect(text, quote, &mut decoded)?;
    Ok((Text::owned(decoded), end))
}

/// What a string is collected into while its escapes are checked.
trait Collect {
    fn run(&mut self, run: &str);
    fn character(&mut self, character: char);
}

impl Collect for String {
    fn run(&mut self, run: &str) {
        self.push_str(run);
    }

    fn character(&mut self, character: char) {
        self.push(character);
    }
}

/// Nothing: the string is only checked.
struct Unread;

impl Collect for Unread {
    fn run(&mut self, _run: &str) {}

    fn character(&mut self, _character: char) {}
}

/// Reads the string whose opening quote is at `quote` piece by piece.
fn collect(text: &str, quote: usize, into: &mut impl Collect) -> Result<usize, JsonError> {
    let bytes = text.as_bytes();
    let mut from = quote.wrapping_add(1);
    loop {
        let at = from.wrapping_add(plain_run(bytes.get(from..).unwrap_or_default()));
        into.run(text.get(from..at).unwrap_or_default());
        match bytes.get(at) {
            Some(b'"') => return Ok(at.wrapping_add(1)),
            Some(b'\\') => {
                let (character, end) = escape(bytes, at)?;
                into.character(character);
                from = end;
            }
            Some(_) => return Err(JsonError::new(JsonErrorKind::ControlCharacter, at)),
            None => return Err(JsonError::new(JsonErrorKind::UnexpectedEnd, at)),
        }
    }
}

/// The character of the escape whose backslash is at `at`, and the offset behind it.
#[inline]
fn escape(bytes: &[u8], at: usize) -> Result<(char, usize), JsonError> {
    let letter = bytes.get(at.wrapping_add(1)).copied();
    match letter.and_then(short_escape) {
        Some(character) => Ok((character, at.wrapping_add(2))),
        None if letter == Some(b'u') => unicode_escape(bytes, at),
        None if letter.is_none() => Err(JsonError::new(JsonErrorKind::UnexpectedEnd, bytes.len())),
        None => Err(JsonError::new(JsonErrorKind::InvalidEscape, at)),
    }
}

/// The character that a backslash and this letter stand for.
#[inline]
const fn short_escape(letter: u8) -> Option<char> {
    Some(match letter {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        _ => return None,
    })
}

/// The character of `\uXXXX`, or of two of them that are a surrogate pair.
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
