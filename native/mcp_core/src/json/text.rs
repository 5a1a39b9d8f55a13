//! A JSON string's text.

use std::borrow::Cow;

/// A JSON string's text: a slice of the input, or a copy if the string has escapes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    pub(super) const fn borrowed(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    pub(super) const fn owned(text: String) -> Self {
        Self(Cow::Owned(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text as a `Cow`.
    #[must_use]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }
}

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}
