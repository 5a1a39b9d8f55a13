//! What one value of the wrong type was meant to be.

use jsonschema::JsonType;
use jsonschema::json::{Json, Node};

use super::Change;
use crate::json::{Limits, check};

/// Changes to one value in all.
const MAX_EDITS: usize = 256;

/// Bytes of JSON in strings: fewer values than a message may have.
const MAX_JSON_BYTES: usize = 256 * 1024;

/// Bytes of a number in a string.
const MAX_NUMBER_BYTES: usize = 1_200;

/// What may still be changed.
pub(super) struct Allowance {
    edits: usize,
    bytes: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self {
            edits: MAX_EDITS,
            bytes: MAX_JSON_BYTES,
        }
    }
}

impl Allowance {
    /// Takes one change; `None` when there have been too many.
    pub(super) fn take(&mut self) -> Option<()> {
        self.edits = self.edits.checked_sub(1)?;
        Some(())
    }

    fn holds(&mut self, text: &str, depth: usize) -> bool {
        let Some(left) = self.bytes.checked_sub(text.len()) else {
            return false;
        };
        let limits = Limits::default();
        let limits = Limits {
            max_depth: limits.max_depth.saturating_sub(depth),
            ..limits
        };
        self.bytes = left;
        check(text.as_bytes(), &limits).is_ok()
    }
}

/// The change that gives `node`, `depth` levels down, the type `wanted`; none where it has that
/// type, or where it is not clear what was meant.
pub(super) fn change<J: Json>(
    wanted: &str,
    node: &J::Node<'_>,
    depth: usize,
    allowance: &mut Allowance,
) -> Option<Change> {
    let text = match node.json_type() {
        JsonType::String => node.as_string()?,
        JsonType::Number | JsonType::Integer | JsonType::Boolean if wanted == "array" => {
            return Some(Change::List);
        }
        _ => return None,
    };
    match (wanted, first(&text)) {
        ("integer", _) => is_integer(&text).then(|| Change::Number(text.into_owned())),
        ("number", _) => is_number(&text).then(|| Change::Number(text.into_owned())),
        ("boolean", _) => boolean(&text).map(Change::Boolean),
        ("array", Some('[')) | ("object", Some('{')) => allowance
            .holds(&text, depth)
            .then(|| Change::Json(text.into_owned())),
        ("array", _) => Some(Change::List),
        _ => None,
    }
}

fn first(text: &str) -> Option<char> {
    text.chars()
        .find(|character| !matches!(character, ' ' | '\t' | '\n' | '\r'))
}

fn boolean(text: &str) -> Option<bool> {
    match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.bytes().all(|byte| byte.is_ascii_digit()) && is_number(text)
}

/// Whether the text is a JSON number and nothing else, not even a space.
fn is_number(text: &str) -> bool {
    let may_be = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
    text.len() <= MAX_NUMBER_BYTES
        && text.bytes().all(may_be)
        && check(text.as_bytes(), &Limits::default()).is_ok()
}
