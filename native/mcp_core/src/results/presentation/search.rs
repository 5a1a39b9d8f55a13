//! When a search has to ask back, and what of its matches is shown.

use super::format::Format;

/// More matches than this without a filter are too many, unless the server says otherwise.
pub const TOO_BROAD: usize = 20;

/// How many cards are rendered, unless the server says otherwise, and the most it may say.
pub const CARDS: usize = 3;
/// The most cards a server may have rendered.
pub const MAX_CARDS: usize = 10;

/// Whether there is anything to search for.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::search::is_empty_query;
/// assert!(is_empty_query(None));
/// assert!(is_empty_query(Some(" \n")));
/// assert!(!is_empty_query(Some("x")));
/// ```
#[must_use]
pub fn is_empty_query(query: Option<&str>) -> bool {
    query.is_none_or(|query| query.trim().is_empty())
}

/// Whether a search has found so much that it had better be narrowed: whatever the caller's limit is, and
/// only where no filter was given.
#[must_use]
pub const fn is_too_broad(matches: usize, is_filtered: bool, threshold: usize) -> bool {
    !is_filtered && matches > threshold
}

/// How many of the listed items get a card: the first ones, `limit` at most; none without Markdown.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::{format::Format, search::rendered_cards};
/// assert_eq!(rendered_cards(5, 3, Format::Markdown), 3);
/// assert_eq!(rendered_cards(2, 3, Format::Both), 2);
/// assert_eq!(rendered_cards(50, 30, Format::Both), 10);
/// assert_eq!(rendered_cards(5, 3, Format::Json), 0);
/// ```
#[must_use]
pub fn rendered_cards(listed: usize, limit: usize, format: Format) -> usize {
    if format.has_markdown() {
        listed.min(limit).min(MAX_CARDS)
    } else {
        0
    }
}
