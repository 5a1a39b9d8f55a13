//! Embeds foreign text in Markdown without breaking the Markdown.

use super::fence::Fences;
use super::markers;

/// The text within one line: line breaks become spaces, markers become text.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markdown::line;
/// assert_eq!(line("one\n  two"), "one two");
/// ```
#[must_use]
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text
        .split(is_line_break)
        .map(|piece| piece.trim_matches([' ', '\t']))
        .filter(|piece| !piece.is_empty());
    if text.contains(is_line_break) {
        if let Some(first) = pieces.next() {
            out.push_str(first);
        }
        for piece in pieces {
            out.push(' ');
            out.push_str(piece);
        }
    } else {
        out.push_str(text);
    }
    markers::escape(&out)
}

const fn is_line_break(character: char) -> bool {
    matches!(
        character,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// The text as a table cell: a [`line()`] with `|` escaped.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markdown::cell;
/// assert_eq!(cell("a|b"), r"a\|b");
/// // The backslash that is there already must not escape ours.
/// assert_eq!(cell(r"a\|b"), r"a\\\|b");
/// ```
#[must_use]
pub fn cell(text: &str) -> String {
    let text = line(text);
    let mut out = String::with_capacity(text.len());
    let mut backslashes = 0_usize;
    for character in text.chars() {
        if character == '|' {
            out.extend(std::iter::repeat_n('\\', backslashes.saturating_add(1)));
        }
        backslashes = if character == '\\' {
            backslashes.saturating_add(1)
        } else {
            0
        };
        out.push(character);
    }
    // A final backslash would escape the space after the cell, and for some parsers the bar.
    out.extend(std::iter::repeat_n('\\', backslashes));
    out
}

/// The text as a code span.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markdown::code_span;
/// assert_eq!(code_span("Effect.match"), "`Effect.match`");
/// assert_eq!(code_span("a`b"), "``a`b``");
/// ```
#[must_use]
pub fn code_span(text: &str) -> String {
    let text = line(text);
    let marks = "`".repeat(longest_run(&text).saturating_add(1));
    let touches = text.starts_with('`') || text.ends_with('`');
    let space = if touches { " " } else { "" };
    format!("{marks}{space}{text}{space}{marks}")
}

/// The text as a code block with fences longer than any in the text.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markdown::code_block;
/// assert_eq!(code_block("1 + 1\n", "elixir"), "```elixir\n1 + 1\n```");
/// assert_eq!(code_block("```\n", ""), "````\n```\n````");
/// ```
#[must_use]
pub fn code_block(code: &str, language: &str) -> String {
    let fence = "`".repeat(longest_run(code).saturating_add(1).max(3));
    let language: String = language
        .chars()
        .filter(|character| character.is_alphanumeric() || "+#._-".contains(*character))
        .collect();
    let code = code.strip_suffix('\n').unwrap_or(code);
    format!("{fence}{language}\n{code}\n{fence}")
}

/// Foreign Markdown as a separate block: markers become text, and an open code block is closed.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::markdown::block;
/// assert_eq!(block("See:\n```\n<!-- kind:x:v1 -->"), "See:\n```\n<!-- kind:x:v1 -->\n```");
/// ```
#[must_use]
pub fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut fences = Fences::default();
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        if fences.takes(line) {
            out.push_str(line);
        } else {
            out.push_str(&markers::escape(line));
        }
    }
    if let Some(end) = fences.missing_end() {
        out.push('\n');
        out.push_str(&end);
    }
    out
}

/// The length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    let runs = text.split(|character| character != '`').map(str::len);
    runs.max().unwrap_or_default()
}
