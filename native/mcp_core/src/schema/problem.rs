//! What is wrong with a value, in words a model can act on.

use std::fmt;

/// Bytes of one property name in a pointer.
pub(super) const MAX_NAME: usize = 64;

/// Bytes of a pointer.
const MAX_POINTER: usize = 256;

/// Bytes of [`Problem::expected`].
const MAX_EXPECTED: usize = 512;

/// One way in which a value does not satisfy its schema.
///
/// `Display` says it in one line of at most 1 KiB. Everything in it comes from the schema, but for
/// the names of received properties in `pointer` and `nearest`, of which at most 64 printable bytes
/// are shown. Received values never appear.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// JSON Pointer to the place in the value; empty for the value itself.
    pub pointer: String,
    /// The keyword that is not satisfied.
    pub keyword: String,
    /// What was expected, in words: `a string`, `at least 1`.
    pub expected: String,
    /// The values the schema allows, as JSON texts, where it lists them; some, if they are many. For an unexpected
    /// property near to no declared one the declared names, with `…` behind them if there are more.
    pub allowed: Vec<String>,
    /// For an unexpected property the declared name nearest to it; for a missing one the received
    /// name that looks like a misspelling of it.
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
    /// A string at that place that is not what was expected, in words that follow "must be".
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

/// The pointer with each name cut, and with the tail left out where it is long.
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

/// At most `max` bytes of the printable part of `text`, with an ellipsis for the rest.
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

/// Whether a received name can be shown as it is.
pub(super) fn is_presentable(name: &str) -> bool {
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(is_printable)
}

/// Neither a control nor one of the characters that break lines or reorder text unseen.
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
