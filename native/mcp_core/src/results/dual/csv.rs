//! Comma-separated values (RFC 4180), for programs that take some cells for formulas.

/// Appends a cell of text.
///
/// What a spreadsheet would run as a formula gets an apostrophe in front, which it shows as text: the rows may hold
/// what strangers wrote.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::write_csv_text;
/// let mut out = Vec::new();
/// write_csv_text(&mut out, "=HYPERLINK(\"x\")");
/// out.push(b',');
/// write_csv_text(&mut out, "a, b");
/// assert_eq!(out, b"\"'=HYPERLINK(\"\"x\"\")\",\"a, b\"");
/// ```
pub fn write_csv_text(out: &mut Vec<u8>, text: &str) {
    if text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']) {
        write_quoted(out, "'", text);
    } else {
        write_csv_value(out, text);
    }
}

/// Appends a cell that is no text: a number, `true`, a JSON text.
pub fn write_csv_value(out: &mut Vec<u8>, value: &str) {
    if value.contains(['"', ',', '\r', '\n']) || value.starts_with(' ') || value.ends_with(' ') {
        write_quoted(out, "", value);
    } else {
        out.extend_from_slice(value.as_bytes());
    }
}

fn write_quoted(out: &mut Vec<u8>, prefix: &str, text: &str) {
    out.push(b'"');
    out.extend_from_slice(prefix.as_bytes());
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}
