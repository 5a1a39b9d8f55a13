//! Finds the id of a request whose JSON text is refused, so that its sender need not wait for a
//! timeout.

use std::borrow::Cow;

use memchr::memchr2;

use super::{EnvelopeLimits, Id};
use crate::json::{Document, Limits};

/// The deepest member that is skipped. A flood of brackets must stay cheap to refuse, and no
/// client's data is as deep.
const MAX_DEPTH: usize = 4_096;

/// The longest key that matters, in its quotes: `method`, with each character escaped.
const MAX_KEY_BYTES: usize = r#""\u006d\u0065\u0074\u0068\u006f\u0064""#.len();

/// The id of a request whose JSON text [`Document::scan`] refuses, for example because of a lone
/// surrogate or of a limit.
///
/// The text must be one object with balanced brackets, at most 4,096 in each other, and complete
/// strings. Nothing else inside its members is checked, and the text is read once. A message without `method` has the form of a
/// response. Its id belongs to a request of the server, so it is not returned. `None` also if there
/// is no valid id, or more than one.
///
/// # Examples
/// ```
/// use mcp_core::jsonrpc::{EnvelopeLimits, Id, id_of_refused};
///
/// let limits = EnvelopeLimits::default();
/// let text = br#"{"method":"tools/call","params":{"name":"\ud83d"},"id":7}"#;
/// assert_eq!(id_of_refused(text, &limits), Some(Id::Number(7)));
/// assert_eq!(id_of_refused(br#"{"method":"ping","id":7"#, &limits), None);
/// ```
#[must_use]
pub fn id_of_refused(text: &[u8], limits: &EnvelopeLimits) -> Option<Id> {
    let mut id = None;
    let mut has_method = false;
    let mut rest = trim_start(text).strip_prefix(b"{")?;
    loop {
        let (key, after) = member_key(rest)?;
        let (value, after) = member_value(after)?;
        match key.as_ref() {
            "id" if id.replace(value).is_some() => return None,
            "method" => has_method = true,
            _ => {}
        }
        match after {
            [b',', more @ ..] => rest = more,
            [b'}', end @ ..] if has_method && trim_start(end).is_empty() => break,
            _ => return None,
        }
    }
    let value = Document::scan(id?, &Limits::default()).ok()?;
    Id::parse(value.root(), limits.max_id_bytes)
}

/// The key at the front, and the text after its colon. A key that cannot be read, or is longer
/// than those that matter, is empty.
fn member_key(text: &[u8]) -> Option<(Cow<'_, str>, &[u8])> {
    let (key, rest) = string(trim_start(text))?;
    let rest = trim_start(rest).strip_prefix(b":")?;
    Some((key_text(key).unwrap_or_default(), rest))
}

fn key_text(key: &[u8]) -> Option<Cow<'_, str>> {
    if key.len() > MAX_KEY_BYTES {
        return None;
    }
    // A document for each of many keys would cost more than all the rest.
    if let [b'"', plain @ .., b'"'] = key
        && !plain.contains(&b'\\')
    {
        return std::str::from_utf8(plain).ok().map(Cow::Borrowed);
    }
    let scanned = Document::scan(key, &Limits::default()).ok()?;
    scanned.root().text()
}

/// The value at the front, and the text from the comma or bracket after it.
fn member_value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut depth = 0_usize;
    let mut rest = text;
    loop {
        match rest {
            [b',' | b'}' | b']', ..] if depth == 0 => {
                let length = text.len().checked_sub(rest.len())?;
                return Some((text.get(..length)?, rest));
            }
            [b'"', ..] => (_, rest) = string(rest)?,
            [b'{' | b'[', after @ ..] => {
                depth = depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
                rest = after;
            }
            [b'}' | b']', after @ ..] => {
                depth = depth.checked_sub(1)?;
                rest = after;
            }
            [_, after @ ..] => rest = after,
            [] => return None,
        }
    }
}

/// The string at the front with its quotes, and the text after it.
fn string(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    loop {
        let special = memchr2(b'"', b'\\', rest)?;
        match rest.get(special..)? {
            [b'"', after @ ..] => {
                let length = text.len().checked_sub(after.len())?;
                return text.split_at_checked(length);
            }
            [_backslash, _escaped, after @ ..] => rest = after,
            _ => return None,
        }
    }
}

fn trim_start(text: &[u8]) -> &[u8] {
    let space = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t'))
        .count();
    text.get(space..).unwrap_or_default()
}
