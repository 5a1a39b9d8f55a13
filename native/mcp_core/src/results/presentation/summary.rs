//! A long text made short.

/// The longest summary, in characters, without the dots.
pub const LENGTH: usize = 200;

/// A space beyond this is a good place to cut: 80 % of [`LENGTH`].
const EARLIEST_CUT: usize = 160;

/// The text itself where it is short; else its beginning, cut at a space where there is one late enough,
/// and `...`.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::summary::summarize;
/// assert_eq!(summarize("short"), "short");
/// let cut = summarize(&"word ".repeat(50));
/// assert!(cut.ends_with("word..."));
/// ```
#[must_use]
pub fn summarize(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LENGTH) else {
        return text.to_owned();
    };
    let head = text.get(..end).unwrap_or_default();
    let cut = head
        .rfind(' ')
        .and_then(|space| head.get(..space))
        .filter(|cut| cut.chars().count() > EARLIEST_CUT);
    format!("{}...", cut.unwrap_or(head))
}
