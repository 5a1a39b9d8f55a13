//! Writes JSON strings and numbers.

use super::plain::{Ascii, Checked, SHORT, copy_plain_run, write_short};

/// Bytes that are not UTF-8: JSON text cannot contain them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not UTF-8")]
pub struct NotUtf8;

/// A float without a JSON form: an infinity or NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a finite number")]
pub struct NotFinite;

/// Appends `text` as a JSON string with quotes.
///
/// The quote, the backslash and the controls below U+0020 are escaped, with the short escape if
/// there is one. All other characters are unchanged, so the output never contains a line break.
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_string(&mut out, "a \"b\"\n\u{1}é");
/// assert_eq!(out, "\"a \\\"b\\\"\\n\\u0001é\"".as_bytes());
/// ```
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    write_json_text(out, text.as_bytes());
}

/// Appends a JSON text as a JSON string, for JSON inside JSON.
///
/// As [`write_string`]; `text` must be UTF-8.
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_json_text(&mut out, br#"{"a":"\n"}"#);
/// assert_eq!(out, br#""{\"a\":\"\\n\"}""#);
/// ```
pub fn write_json_text(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len().saturating_add(ROOM));
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

/// Appends the text between the quotes of [`write_json_text`].
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_escaped(&mut out, br#""a""#);
/// assert_eq!(out, br#"\"a\""#);
/// ```
pub fn write_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = copy_plain_run::<Checked>(text, out);
    while let Some((byte, after)) = rest.split_first() {
        write_escape(out, *byte);
        rest = copy_plain_run::<Checked>(after, out);
    }
}

/// Appends `text` as [`write_string`] does, if it is UTF-8.
///
/// ASCII text is read once: copying plain bytes proves that they are UTF-8.
///
/// # Errors
/// [`NotUtf8`]; nothing is appended.
///
/// # Examples
/// ```
/// use mcp_core::json::{NotUtf8, write_utf8};
///
/// let mut out = Vec::new();
/// assert_eq!(write_utf8(&mut out, b"caf\xe9"), Err(NotUtf8));
/// assert_eq!(write_utf8(&mut out, "café".as_bytes()), Ok(()));
/// assert_eq!(out, "\"café\"".as_bytes());
/// ```
#[inline]
pub fn write_utf8(out: &mut Vec<u8>, text: &[u8]) -> Result<(), NotUtf8> {
    if text.len() <= SHORT && write_short(out, text) {
        return Ok(());
    }
    write_bytes(out, text)
}

fn write_bytes(out: &mut Vec<u8>, text: &[u8]) -> Result<(), NotUtf8> {
    let start = out.len();
    out.reserve(text.len().saturating_add(ROOM));
    out.push(b'"');
    let mut rest = copy_plain_run::<Ascii>(text, out);
    while let Some((byte, after)) = rest.split_first() {
        if !byte.is_ascii() {
            // Everything before is ASCII, so a character begins here.
            if simdutf8::basic::from_utf8(rest).is_err() {
                out.truncate(start);
                return Err(NotUtf8);
            }
            write_escaped(out, rest);
            break;
        }
        write_escape(out, *byte);
        rest = copy_plain_run::<Ascii>(after, out);
    }
    out.push(b'"');
    Ok(())
}

/// Appends `text` as [`write_utf8`] does, but only ASCII without escapes. Returns whether it did.
///
/// This is the fastest form by far, for callers with little time.
///
/// # Examples
/// ```
/// use mcp_core::json::write_plain;
///
/// let mut out = Vec::new();
/// assert!(!write_plain(&mut out, b"two\nlines"));
/// assert!(write_plain(&mut out, b"one line"));
/// assert_eq!(out, br#""one line""#);
/// ```
pub fn write_plain(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let start = out.len();
    out.reserve(text.len().saturating_add(ROOM));
    out.push(b'"');
    if !copy_plain_run::<Ascii>(text, out).is_empty() {
        out.truncate(start);
        return false;
    }
    out.push(b'"');
    true
}

/// Room for two quotes and for the last word, which is written in full and then cut.
const ROOM: usize = 10;

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    let short = match byte {
        b'"' => b'"',
        b'\\' => b'\\',
        8 => b'b',
        9 => b't',
        10 => b'n',
        12 => b'f',
        13 => b'r',
        _ => {
            let hex = |digit: u8| {
                if digit < 10 {
                    digit.wrapping_add(b'0')
                } else {
                    digit.wrapping_add(b'a' - 10)
                }
            };
            out.extend_from_slice(&[b'\\', b'u', b'0', b'0', hex(byte >> 4), hex(byte & 15)]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', short]);
}

/// Appends the shortest decimal text that reads back as `value`; always as a float: `1.0`, `-0.0`.
///
/// # Errors
/// [`NotFinite`] for infinities and NaN; nothing is appended.
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_float(&mut out, 0.1 + 0.2)?;
/// assert_eq!(out, b"0.30000000000000004");
/// # Ok::<(), mcp_core::json::NotFinite>(())
/// ```
pub fn write_float(out: &mut Vec<u8>, value: f64) -> Result<(), NotFinite> {
    if !value.is_finite() {
        return Err(NotFinite);
    }
    append_short(out, zmij::Buffer::new().format_finite(value));
    Ok(())
}

/// Appends an integer.
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    append_short(out, itoa::Buffer::new().format(value));
}

/// Appends an unsigned integer, also above `i64::MAX`.
pub fn write_unsigned(out: &mut Vec<u8>, value: u64) {
    append_short(out, itoa::Buffer::new().format(value));
}

/// Appends `text`. Up to 32 bytes are written as two overlapping blocks, without a call of
/// `memcpy`.
#[inline]
pub fn append_short(out: &mut Vec<u8>, text: &str) {
    let text = text.as_bytes();
    match text.len() {
        0..4 => {
            for byte in text {
                out.push(*byte);
            }
        }
        4..8 => append_ends::<4>(out, text),
        8..16 => append_ends::<8>(out, text),
        16..=32 => append_ends::<16>(out, text),
        _ => out.extend_from_slice(text),
    }
}

/// Appends a text of `N` to `2 * N` bytes.
#[inline]
fn append_ends<const N: usize>(out: &mut Vec<u8>, text: &[u8]) {
    if let (Some(head), Some(tail)) = (text.first_chunk::<N>(), text.last_chunk::<N>()) {
        let tail_start = out.len().wrapping_add(text.len()).wrapping_sub(N);
        out.extend_from_slice(head);
        out.truncate(tail_start);
        out.extend_from_slice(tail);
    }
}
