//! Comma-separated values (RFC 4180), safe for programs that evaluate formulas.
//!
//! The rows may contain foreign text. Depending on its locale, a program may split lines at
//! semicolons, tabs or bars instead of commas. The quotes of a cell are then inside another cell
//! and have no effect. So no text that could become the start of a cell may look like a formula.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The first characters of formulas. Spreadsheets treat the fullwidth forms like the others.
const OPERATORS: [char; 8] = [
    '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
];

/// Characters at which programs may split cells and lines, besides the comma.
const SEPARATORS: [char; 5] = [';', '\t', '|', '\r', '\n'];

/// Appends a text cell.
///
/// Text that a spreadsheet would run as a formula gets a leading apostrophe, so that it is shown as
/// text.
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

/// Appends a value that is not a string: a number, `true`, a JSON text.
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

/// The text with an apostrophe before each formula. Quotes after a separator are skipped: they are
/// doubled, and a pair of them is an empty text before the formula.
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

/// JSON text with each operator after a separator escaped. The value stays the same, because both
/// occur only in strings.
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
                // Writing to a string cannot fail.
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
