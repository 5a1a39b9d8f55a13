//! Contract markers: comments that name the parts of a Markdown text, so that the text can be
//! checked.
//!
//! A marker counts if it is alone on its line and outside code. Text from users may contain the
//! same comment; [`escape`] turns it into text.

use super::fence::{Fences, outdented};

/// How often each marker counts in a text.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markers::count;
/// let text = "<!-- a -->\n```\n<!-- a -->\n```\nnot alone: <!-- a -->\n  <!-- b -->\r\n";
/// assert_eq!(count(text, &["<!-- a -->", "<!-- b -->"]), [1, 1]);
/// ```
#[must_use]
pub fn count(text: &str, markers: &[&str]) -> Vec<usize> {
    let mut counts = vec![0_usize; markers.len()];
    let mut fences = Fences::default();
    for line in text.split('\n') {
        if fences.takes(line) {
            continue;
        }
        let Some(line) = outdented(line) else {
            continue;
        };
        let line = line.trim_end();
        for (count, marker) in counts.iter_mut().zip(markers) {
            if line == *marker {
                *count = count.saturating_add(1);
            }
        }
    }
    counts
}

/// The text with every possible marker escaped.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markers::escape;
/// assert_eq!(escape("a <!-- kind:x:v1 --> b"), "a &lt;!-- kind:x:v1 --> b");
/// assert_eq!(escape("<!-- another comment -->"), "<!-- another comment -->");
/// ```
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("<!--") {
        out.push_str(before);
        let is_marker = after.trim_start().starts_with("kind:");
        out.push_str(if is_marker { "&lt;!--" } else { "<!--" });
        rest = after;
    }
    out.push_str(rest);
    out
}
