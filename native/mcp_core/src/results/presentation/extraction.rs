//! Finding the data in a result of which a client kept only the texts.
//!
//! Blocks are looked at from the last to the first: in a result of both forms the JSON comes last. The
//! first that holds what is looked for is taken, whatever its media type; there may be none any more.

/// What is known of a block that was looked at and not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding<'a> {
    /// It is no text, no JSON, or JSON without a kind.
    Other,
    /// It is of a kind the reader does not know.
    UnknownKind(&'a str),
    /// It is of a known kind and not as that kind has to be.
    Mismatch(&'a str),
}

/// Why nothing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotFound<'a> {
    /// There is data, of a kind the reader does not know.
    #[error("The structured content is of an unknown kind.")]
    UnknownKind(&'a str),
    /// There is data of this kind, and it does not fit its schema.
    #[error("No structured JSON content block found (or schema mismatch).")]
    Mismatch(&'a str),
    /// There is none.
    #[error("No structured JSON content block found (or schema mismatch).")]
    Nothing,
}

/// Why nothing was found, from what was found instead, the last block first: of several reasons the
/// first one that says more than that there is nothing.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::extraction::{Finding, NotFound, reason};
/// let findings = [Finding::Other, Finding::UnknownKind("weather:v2")];
/// assert_eq!(reason(findings), NotFound::UnknownKind("weather:v2"));
/// assert_eq!(reason([]), NotFound::Nothing);
/// ```
#[must_use]
pub fn reason<'a>(findings: impl IntoIterator<Item = Finding<'a>>) -> NotFound<'a> {
    findings
        .into_iter()
        .find_map(|finding| match finding {
            Finding::Other => None,
            Finding::UnknownKind(kind) => Some(NotFound::UnknownKind(kind)),
            Finding::Mismatch(kind) => Some(NotFound::Mismatch(kind)),
        })
        .unwrap_or(NotFound::Nothing)
}
