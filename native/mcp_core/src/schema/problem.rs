//! Describes an error in a value, in words that a model can act on.

use std::fmt;

/// Bytes of one property name in a pointer.
pub(super) const MAX_NAME: usize = 64;

/// Bytes of a pointer.
const MAX_POINTER: usize = 256;

/// Bytes of [`Problem::expected`].
const MAX_EXPECTED: usize = 512;

/// One error of a value against its schema.
///
/// `Display` writes one line of at most 1 KiB. All its text comes from the schema, except the names
/// of received properties in `pointer` and `nearest`. At most 64 printable bytes of a name are
/// shown. Received values never appear.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// JSON Pointer to the place in the value; empty for the value itself.
    pub pointer: String,
    /// The violated keyword.
    pub keyword: String,
    /// The expectation, in words: `a string`, `at least 1`.
    pub expected: String,
    /// The values that the schema lists as allowed, as JSON texts; only the first of a long list.
    /// For an unexpected property without a similar declared name: the declared names, with a final
    /// `…` if the list is cut.
    pub allowed: Vec<String>,
    /// For an unexpected property the most similar declared name. For a missing property the
    /// received name that looks like a misspelling of it.
    pub nearest: Option<String>,
}

impl Problem {
    pub(super) fn new(pointer: &str, keyword: &str, expected: &str) -> Self {
        Self {
            pointer: short_pointer(pointer),
            keyword: cut(keyword, MAX_NAME),
            expected: cut(expected, MAX_EXPECTED),
            allowed: Vec::new(),
            nearest: None,
        }
    }
}

impl Problem {
    /// The problem of a value whose check needs more steps than it may take.
    pub(super) fn too_long() -> Self {
        Self::new(
            "",
            "schema",
            "a value simple enough to be checked against the schema",
        )
    }

    /// An invalid string at that place; `expected` follows "must be".
    #[must_use]
    pub fn of_format(pointer: &str, expected: &str) -> Self {
        Self::new(pointer, "format", expected)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pointer,
            keyword,
            expected,
            nearest,
            ..
        } = self;
        let place = if pointer.is_empty() {
            "(root)"
        } else {
            pointer
        };
        write!(f, "{place}: must be {expected}")?;
        match nearest {
            Some(name) if keyword == "required" => write!(f, "; is \"{name}\" meant to be it?")?,
            Some(name) => write!(f, "; did you mean \"{name}\"?")?,
            None => {}
        }
        write!(f, " ({keyword})")
    }
}

/// The pointer with each name cut, and without the tail if it is long.
fn short_pointer(pointer: &str) -> String {
    let mut short = String::new();
    for segment in pointer.split('/').skip(1) {
        if short.len().saturating_add(segment.len().min(MAX_NAME)) > MAX_POINTER - MAX_NAME {
            short.push_str("/…");
            break;
        }
        short.push('/');
        short.push_str(&cut(segment, MAX_NAME));
    }
    short
}

/// At most `max` bytes of the printable part of `text`; an ellipsis marks the cut.
pub(super) fn cut(text: &str, max: usize) -> String {
    let printable = text.chars().filter(|&character| is_printable(character));
    let mut short = String::new();
    for character in printable {
        if short.len().saturating_add(character.len_utf8()) > max {
            short.push('…');
            break;
        }
        short.push(character);
    }
    short
}

/// Whether a received name can be shown unchanged.
pub(super) fn is_presentable(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_printable)
}

/// False for controls and for characters that invisibly break lines or reorder text.
fn is_printable(character: char) -> bool {
    !character.is_control()
        && !matches!(
            character,
            '\u{200B}'..='\u{200F}'
                | '\u{2028}'..='\u{202E}'
                | '\u{2060}'..='\u{206F}'
                | '\u{FEFF}'
        )
}
