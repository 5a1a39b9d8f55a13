//! Comma-separated values (RFC 4180), for programs that take some cells for formulas.
//!
//! The rows may hold what strangers wrote. By the settings of the country a program may split lines at
//! semicolons, tabs or bars and not at commas; then the quotes of a cell stand in the middle of another
//! and mean nothing. So whatever could come to stand at the start of a cell must not begin as a formula.

use std::borrow::Cow;
use std::fmt::Write as _;

/// What a formula begins with. Spreadsheets read the fullwidth forms as the others.
const OPERATORS: [char; 8] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// Where a program that does not split at commas splits cells and lines.
const SEPARATORS: [char; 5] = [';', '\t', '|', '\r', '\n'];

/// Appends a cell of text.
///
/// What a spreadsheet would run as a formula gets an apostrophe in front, which it shows as text.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::write_csv_text;
/// let mut out = Vec::new();
/// for text in ["=HYPERLINK(\"x\")", "a, b", "a;=1+1"] {
///     write_csv_text(&mut out, text);
///     out.push(b'\n');
/// }
/// assert_eq!(out, b"\"'=HYPERLINK(\"\"x\"\")\"\n\"a, b\"\n\"a;'=1+1\"\n");
/// ```
pub fn write_csv_text(out: &mut Vec<u8>, text: &str) {
    let text = defused(text);
    if matches!(text, Cow::Owned(_)) || needs_quotes(&text) {
        write_quoted(out, &text);
    } else {
        out.extend_from_slice(text.as_bytes());
    }
}

/// Appends a cell that is no text: a number, `true`, a JSON text.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::write_csv_value;
/// let mut out = Vec::new();
/// write_csv_value(&mut out, "-1.5");
/// out.push(b',');
/// write_csv_value(&mut out, "[\"a;=1+1\"]");
/// assert_eq!(out, b"-1.5,\"[\"\"a;\\u003d1+1\"\"]\"");
/// ```
pub fn write_csv_value(out: &mut Vec<u8>, value: &str) {
    if needs_quotes(value) {
        write_quoted(out, &escaped(value));
    } else {
        out.extend_from_slice(value.as_bytes());
    }
}

fn needs_quotes(text: &str) -> bool {
    text.contains(['"', ','])
        || text.contains(SEPARATORS)
        || text.starts_with(' ')
        || text.ends_with(' ')
}

/// The text with an apostrophe before each formula. Quotes behind a separator are skipped: they are doubled,
/// and a pair of them is an empty text that the formula follows.
fn defused(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(OPERATORS) || text.starts_with(['\t', '\r', '\n']);
    if !is_formula && !text.contains(SEPARATORS) {
        return text.into();
    }
    let mut defused = String::from(if is_formula { "'" } else { "" });
    for part in text.split_inclusive(SEPARATORS) {
        let is_first = part.as_ptr() == text.as_ptr();
        if !is_first && part.trim_start_matches('"').starts_with(OPERATORS) {
            defused.push('\'');
        }
        defused.push_str(part);
    }
    defused.into()
}

/// A JSON text in which an operator behind a separator is an escape, so that it reads as the same value: both
/// stand in its strings only.
fn escaped(json: &str) -> Cow<'_, str> {
    if !json.contains(SEPARATORS) {
        return json.into();
    }
    let mut escaped = String::new();
    for part in json.split_inclusive(SEPARATORS) {
        let is_first = part.as_ptr() == json.as_ptr();
        let mut rest = part.chars();
        match rest.next() {
            Some(operator) if !is_first && OPERATORS.contains(&operator) => {
                // A string takes whatever is written to it.
                let _ = write!(escaped, "\\u{:04x}", u32::from(operator));
                escaped.push_str(rest.as_str());
            }
            _ => escaped.push_str(part),
        }
    }
    escaped.into()
}

fn write_quoted(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}
