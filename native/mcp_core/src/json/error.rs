//! Errors in JSON text.

use std::fmt;

/// The reason for refusing JSON text, and the place.
///
/// It contains nothing of the text, so it can be shown to a peer or logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind} at byte {offset}")]
pub struct JsonError {
    /// The kind of error.
    pub kind: JsonErrorKind,
    /// The place, in bytes from the start of the text.
    pub offset: usize,
}

impl JsonError {
    pub(super) const fn new(kind: JsonErrorKind, offset: usize) -> Self {
        Self { kind, offset }
    }
}

/// The kinds of error in JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JsonErrorKind {
    /// A byte that JSON does not allow at this place, such as a byte order mark.
    Syntax,
    /// The text ends inside a value.
    UnexpectedEnd,
    /// Something other than white space follows the value.
    TrailingBytes,
    /// The text is not UTF-8.
    InvalidUtf8,
    /// A raw control character inside a string.
    ControlCharacter,
    /// A backslash without a valid escape after it.
    InvalidEscape,
    /// An escaped surrogate without its other half.
    LoneSurrogate,
    /// An invalid number: `01`, `1.`, `-`, `1e`.
    InvalidNumber,
    /// A float beyond the range of 64 bits.
    NumberOutOfRange,
    /// A number with more digits than [`Limits::max_digits`](super::Limits::max_digits).
    TooManyDigits,
    /// More bytes than [`Limits::max_bytes`](super::Limits::max_bytes).
    TooLarge,
    /// More levels than [`Limits::max_depth`](super::Limits::max_depth).
    TooDeep,
    /// More values than [`Limits::max_values`](super::Limits::max_values).
    TooManyValues,
    /// Two members of one object have the same name, compared after unescaping.
    DuplicateKey,
}

impl JsonErrorKind {
    /// The kind's name for programs, in `snake_case`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UnexpectedEnd => "unexpected_end",
            Self::TrailingBytes => "trailing_bytes",
            Self::InvalidUtf8 => "invalid_utf8",
            Self::ControlCharacter => "control_character",
            Self::InvalidEscape => "invalid_escape",
            Self::LoneSurrogate => "lone_surrogate",
            Self::InvalidNumber => "invalid_number",
            Self::NumberOutOfRange => "number_out_of_range",
            Self::TooManyDigits => "too_many_digits",
            Self::TooLarge => "too_large",
            Self::TooDeep => "too_deep",
            Self::TooManyValues => "too_many_values",
            Self::DuplicateKey => "duplicate_key",
        }
    }
}

impl fmt::Display for JsonErrorKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Syntax => "unexpected byte",
            Self::UnexpectedEnd => "unexpected end of text",
            Self::TrailingBytes => "more text after the value",
            Self::InvalidUtf8 => "invalid UTF-8",
            Self::ControlCharacter => "control character in a string",
            Self::InvalidEscape => "invalid escape in a string",
            Self::LoneSurrogate => "lone surrogate in a string",
            Self::InvalidNumber => "invalid number",
            Self::NumberOutOfRange => "number out of range",
            Self::TooManyDigits => "number with too many digits",
            Self::TooLarge => "text too large",
            Self::TooDeep => "values nested too deeply",
            Self::TooManyValues => "too many values",
            Self::DuplicateKey => "duplicate object key",
        })
    }
}
