//! A JSON string's text.

use std::borrow::Cow;

/// A JSON string's text: a part of the input where it held no escape, a copy where it did.
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

    /// The text as the standard library's type.
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
