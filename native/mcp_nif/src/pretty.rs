//! JSON text for people: one member a line, two spaces a level.

use mcp_core::json::write_escaped;

/// Spreads compact JSON text over lines. The text is ours, so nothing in it is checked.
pub(crate) fn pretty(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len().saturating_mul(2));
    spread(compact, &mut Plain(&mut out));
    out
}

/// Appends the same as a JSON string, in one go.
pub(crate) fn write_pretty_text(out: &mut Vec<u8>, compact: &[u8]) {
    out.reserve(compact.len().saturating_mul(2));
    out.push(b'"');
    spread(compact, &mut Quoted(out));
    out.push(b'"');
}

/// Where the text goes.
trait Page {
    /// A string, quotes included.
    fn string(&mut self, string: &[u8]);
    /// Bytes that need no escape.
    fn bytes(&mut self, bytes: &[u8]);
    fn new_line(&mut self, level: usize);
}

fn spread(compact: &[u8], page: &mut impl Page) {
    let mut level = 0_usize;
    let mut rest = compact;
    while let Some((byte, after)) = rest.split_first() {
        match byte {
            b'"' => {
                let length = string_end(after).saturating_add(1);
                let (string, after) = rest.split_at_checked(length).unwrap_or((rest, &[]));
                page.string(string);
                rest = after;
                continue;
            }
            b'{' | b'[' => {
                if let Some((close @ (b'}' | b']'), after)) = after.split_first() {
                    page.bytes(&[*byte, *close]);
                    rest = after;
                    continue;
                }
                page.bytes(&[*byte]);
                level = level.saturating_add(1);
                page.new_line(level);
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                page.new_line(level);
                page.bytes(&[*byte]);
            }
            b',' => {
                page.bytes(b",");
                page.new_line(level);
            }
            b':' => page.bytes(b": "),
            byte => page.bytes(&[*byte]),
        }
        rest = after;
    }
}

/// How long the rest of a string is, its closing quote included.
fn string_end(rest: &[u8]) -> usize {
    let mut from = 0_usize;
    while let Some(found) = memchr::memchr2(b'"', b'\\', rest.get(from..).unwrap_or_default()) {
        let at = from.saturating_add(found);
        if rest.get(at) == Some(&b'"') {
            return at.saturating_add(1);
        }
        // The backslash and what it escapes.
        from = at.saturating_add(2);
    }
    rest.len()
}

/// The text itself.
struct Plain<'o>(&'o mut Vec<u8>);

impl Page for Plain<'_> {
    #[inline]
    fn string(&mut self, string: &[u8]) {
        self.0.extend_from_slice(string);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    #[inline]
    fn new_line(&mut self, level: usize) {
        self.0.push(b'\n');
        indent(self.0, level);
    }
}

/// The text inside of a JSON string.
struct Quoted<'o>(&'o mut Vec<u8>);

impl Page for Quoted<'_> {
    #[inline]
    fn string(&mut self, string: &[u8]) {
        write_escaped(self.0, string);
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    #[inline]
    fn new_line(&mut self, level: usize) {
        self.0.extend_from_slice(b"\\n");
        indent(self.0, level);
    }
}

#[inline]
fn indent(out: &mut Vec<u8>, level: usize) {
    const SPACES: [u8; 32] = [b' '; 32];
    let width = level.saturating_mul(2);
    match SPACES.get(..width) {
        Some(spaces) => out.extend_from_slice(spaces),
        None => out.resize(out.len().saturating_add(width), b' '),
    }
}
