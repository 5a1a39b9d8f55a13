//! Contract markers: comments that say what a Markdown text holds, so that it can be checked.
//!
//! A marker counts where it is alone on its line and the line is no code. Text that users wrote may hold
//! the same comment: [`escape`] keeps it from counting.

use super::fence::{Fences, outdented};

/// The comment itself.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markers::marker;
/// assert_eq!(marker("pattern-card", "v1"), "<!-- kind:pattern-card:v1 -->");
/// ```
#[must_use]
pub fn marker(name: &str, version: &str) -> String {
    format!("<!-- kind:{name}:{version} -->")
}

/// Whether this can be the name or the version of a marker: letters, digits, `.`, `_`, `-`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// How often each of the markers counts in a text.
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

/// The text with every comment that could be a marker turned into text.
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

/// What a result says of its own Markdown, and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// Index markers counted.
    pub index: usize,
    /// Card markers counted.
    pub cards: usize,
    /// Cards the result says it rendered.
    pub rendered: usize,
}

/// How a text breaks its contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Mismatch {
    /// The cards are not those announced.
    #[error("{cards} card markers for {rendered} rendered cards")]
    Cards {
        /// Markers counted.
        cards: usize,
        /// Cards announced.
        rendered: usize,
    },
    /// There is more than one index.
    #[error("{0} index markers, of which there may be one")]
    Index(usize),
}

impl Contract {
    /// Checks a text against what its result says.
    ///
    /// # Errors
    /// The first [`Mismatch`].
    pub const fn check(self) -> Result<(), Mismatch> {
        if self.cards != self.rendered {
            return Err(Mismatch::Cards {
                cards: self.cards,
                rendered: self.rendered,
            });
        }
        if self.index > 1 {
            return Err(Mismatch::Index(self.index));
        }
        Ok(())
    }
}
