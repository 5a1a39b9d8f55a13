//! Kinds: the discriminators of structured data, `patternDetails:v1`.
//!
//! A breaking change of what a kind holds gives it the next version, so that nobody reads the new form
//! for the old one.

/// A name and a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind<'a> {
    /// What it is: `patternDetails`.
    pub name: &'a str,
    /// Which form of it: 1 for `v1`.
    pub version: u32,
}

/// What is no kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a kind is a name and a version, such as patternDetails:v1")]
pub struct MalformedKind;

/// What a reader that knows some kinds says of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// It is one of them.
    Known,
    /// It is another version of this one.
    OtherVersion(&'a str),
    /// It is none of them.
    Unknown,
}

impl<'a> Kind<'a> {
    /// Reads a kind: a letter, then letters, digits, `_` and `-`; `:v`; a number from 1 on.
    ///
    /// # Errors
    /// [`MalformedKind`].
    ///
    /// # Examples
    /// ```
    /// use mcp_core::results::presentation::kind::{Kind, MalformedKind};
    /// assert_eq!(Kind::parse("toolError:v1"), Ok(Kind { name: "toolError", version: 1 }));
    /// assert_eq!(Kind::parse("toolError"), Err(MalformedKind));
    /// assert_eq!(Kind::parse("toolError:v01"), Err(MalformedKind));
    /// ```
    pub fn parse(text: &'a str) -> Result<Self, MalformedKind> {
        let (name, digits) = text.split_once(":v").ok_or(MalformedKind)?;
        let named = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let numbered = !digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        match digits.parse() {
            Ok(version) if named && numbered => Ok(Self { name, version }),
            _ => Err(MalformedKind),
        }
    }
}

/// What a reader of the `known` kinds says of this one.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::kind::{Verdict, judge};
/// let known = ["patternDetails:v1", "toolError:v1"];
/// assert_eq!(judge("toolError:v1", known), Verdict::Known);
/// assert_eq!(judge("patternDetails:v2", known), Verdict::OtherVersion("patternDetails:v1"));
/// assert_eq!(judge("weather:v1", known), Verdict::Unknown);
/// ```
#[must_use]
pub fn judge<'a>(kind: &str, known: impl IntoIterator<Item = &'a str>) -> Verdict<'a> {
    let read = Kind::parse(kind);
    let mut verdict = Verdict::Unknown;
    for candidate in known {
        if candidate == kind {
            return Verdict::Known;
        }
        if let (Ok(kind), Ok(candidate_kind)) = (read, Kind::parse(candidate))
            && kind.name == candidate_kind.name
        {
            verdict = Verdict::OtherVersion(candidate);
        }
    }
    verdict
}
