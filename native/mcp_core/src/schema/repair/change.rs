//! Determines the intended value of one value with the wrong type.

use jsonschema::JsonType;
use jsonschema::json::{Json, Node};

use super::Change;
use crate::json::{Document, Limits};

/// Changes to one value in total.
const MAX_EDITS: usize = 256;

/// Total bytes of JSON in strings.
const MAX_JSON_BYTES: usize = 256 * 1024;

/// Characters of a number that are not digits: two signs, a point and an `e`.
const MAX_MARKS: usize = 4;

/// The remaining changes and the remaining room for additions.
#[derive(Clone, Copy)]
pub(super) struct Allowance {
    edits: usize,
    bytes: usize,
    room: Limits,
}

impl Allowance {
    pub(super) const fn new(room: Limits) -> Self {
        Self {
            edits: MAX_EDITS,
            bytes: MAX_JSON_BYTES,
            room,
        }
    }

    /// Takes one change; `None` if none is left.
    pub(super) fn take(&mut self) -> Option<()> {
        self.edits = self.edits.checked_sub(1)?;
        Some(())
    }

    /// Whether a string, `depth` levels down, may be replaced with the JSON in it.
    fn holds(&mut self, text: &str, depth: usize) -> bool {
        let Some(bytes) = self.bytes.checked_sub(text.len()) else {
            return false;
        };
        self.bytes = bytes;
        // The string itself is already counted as a value.
        let limits = Limits {
            max_depth: self.room.max_depth.saturating_sub(depth),
            max_values: self.room.max_values.saturating_add(1),
            ..self.room
        };
        let Ok(document) = Document::scan(text.as_bytes(), &limits) else {
            return false;
        };
        self.add(document.values().saturating_sub(1)) && document.duplicate().is_none()
    }

    /// Whether a value, `depth` levels down, may be wrapped in a list.
    fn wraps(&mut self, depth: usize) -> bool {
        depth < self.room.max_depth && self.add(1)
    }

    fn add(&mut self, values: usize) -> bool {
        let left = self.room.max_values.checked_sub(values);
        self.room.max_values = left.unwrap_or_default();
        left.is_some()
    }

    /// Whether the text is exactly a JSON number, without spaces.
    fn is_number(&self, text: &str) -> bool {
        let may_be = |byte: u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let limits = Limits {
            max_values: 1,
            ..self.room
        };
        text.len() <= self.room.max_digits.saturating_add(MAX_MARKS)
            && text.bytes().all(may_be)
            && Document::scan(text.as_bytes(), &limits).is_ok()
    }

    fn is_integer(&self, text: &str) -> bool {
        let digits = text.strip_prefix('-').unwrap_or(text);
        digits.bytes().all(|byte| byte.is_ascii_digit()) && self.is_number(text)
    }
}

/// The change that gives `node`, `depth` levels down, the type `wanted`. `None` if it already has
/// that type or the intention is unclear. `item` is the only type of a list's first item.
pub(super) fn change<J: Json>(
    wanted: &str,
    item: Option<&str>,
    node: &J::Node<'_>,
    depth: usize,
    allowance: &mut Allowance,
) -> Option<Change> {
    let text = match node.json_type() {
        JsonType::String => node.as_string()?,
        JsonType::Number | JsonType::Integer | JsonType::Boolean => {
            let is_meant = wanted == "array" && is_item::<J>(item?, node, depth, allowance);
            return is_meant.then_some(Change::List);
        }
        _ => return None,
    };
    match (wanted, first(&text)) {
        ("integer", _) if allowance.is_integer(&text) => Some(Change::Number(text.into_owned())),
        ("number", _) if allowance.is_number(&text) => Some(Change::Number(text.into_owned())),
        ("boolean", _) => boolean(&text).map(Change::Boolean),
        ("array", Some('[')) | ("object", Some('{')) => allowance
            .holds(&text, depth)
            .then(|| Change::Json(text.into_owned())),
        // A blank string stays: it may mean an empty list.
        ("array", Some(_)) => is_item::<J>(item?, node, depth, allowance).then_some(Change::List),
        _ => None,
    }
}

/// Whether a value already fits as the item of the list, or a further repair makes it fit.
fn is_item<J: Json>(
    item: &str,
    node: &J::Node<'_>,
    depth: usize,
    allowance: &mut Allowance,
) -> bool {
    let is_one = match node.json_type() {
        JsonType::String => item == "string",
        JsonType::Boolean => item == "boolean",
        JsonType::Number | JsonType::Integer => matches!(item, "integer" | "number"),
        _ => false,
    };
    // The next repair takes its own share of the allowance. A scalar never means a list of lists.
    let mut next = *allowance;
    let mut is_next = || {
        let depth = depth.saturating_add(1);
        item != "array" && change::<J>(item, None, node, depth, &mut next).is_some()
    };
    (is_one || is_next()) && allowance.wraps(depth)
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
