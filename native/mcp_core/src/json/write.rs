//! Writing JSON scalars.

use serde_json::ser::{CompactFormatter, Formatter};

use super::plain::copy_plain_run;

/// A float that JSON cannot spell: infinite, or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a finite number")]
pub struct NotFinite;

/// Appends `text` as a JSON string, quotes included.
///
/// Escaped are the quote, the backslash and the controls below U+0020, the latter in their short
/// form where there is one. Everything else stays as it is, so the output never holds a line end.
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

/// Appends a JSON text as a JSON string, for JSON that travels inside of JSON.
///
/// Like [`write_string`], of a text that is UTF-8 because it was just written.
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_json_text(&mut out, br#"{"a":"\n"}"#);
/// assert_eq!(out, br#""{\"a\":\"\\n\"}""#);
/// ```
pub fn write_json_text(out: &mut Vec<u8>, text: &[u8]) {
    out.reserve(text.len().saturating_add(2));
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

/// Appends what stands between the quotes of [`write_json_text`].
///
/// # Examples
/// ```
/// let mut out = Vec::new();
/// mcp_core::json::write_escaped(&mut out, br#""a""#);
/// assert_eq!(out, br#"\"a\""#);
/// ```
pub fn write_escaped(out: &mut Vec<u8>, text: &[u8]) {
    let mut rest = text;
    while let Some((byte, after)) = copy_plain_run(rest, out).split_first() {
        write_escape(out, *byte);
        rest = after;
    }
}

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

/// Appends the shortest decimal text that reads back as `value`; always a float: `1.0`, `-0.0`.
///
/// # Errors
/// [`NotFinite`] for infinities and NaN; nothing is appended then.
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
    // Writing to a Vec cannot fail.
    CompactFormatter
        .write_f64(out, value)
        .map_err(|_| NotFinite)
}

/// Appends an integer.
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    // Writing to a Vec cannot fail.
    let _written = CompactFormatter.write_i64(out, value);
}

/// Appends an integer that may lie above `i64::MAX`.
pub fn write_unsigned(out: &mut Vec<u8>, value: u64) {
    // Writing to a Vec cannot fail.
    let _written = CompactFormatter.write_u64(out, value);
}
