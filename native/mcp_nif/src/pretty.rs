//! Indented JSON text: one member per line, two spaces per level.

use mcp_core::json::write_escaped;

/// Indents compact JSON text. This library wrote the text, so it is not checked.
pub(crate) fn pretty(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len().saturating_mul(2));
    spread(compact, &mut Plain(&mut out));
    out
}

/// Appends the indented text as a JSON string, in one pass.
pub(crate) fn write_pretty_text(out: &mut Vec<u8>, compact: &[u8]) {
    out.reserve(compact.len().saturating_mul(2));
    out.push(b'"');
    spread(compact, &mut Quoted(out));
    out.push(b'"');
}

/// The bytes copied at once: most pieces are short, and copying a fixed size needs no call.
const BLOCK: usize = 32;

/// The target of the text.
trait Page {
    /// A line break and the most common indentation.
    const LINE: [u8; BLOCK];
    /// The number of bytes of the line break alone.
    const BREAK: usize;

    fn out(&mut self) -> &mut Vec<u8>;

    /// Writes the string at the start of `rest`, with its quotes; a plain string has no escapes.
    fn string(&mut self, rest: &[u8], length: usize, is_plain: bool);

    #[inline]
    fn bytes<const N: usize>(&mut self, bytes: [u8; N]) {
        self.out().extend_from_slice(&bytes);
    }

    /// Writes the first bytes of `rest`, which need no escapes.
    #[inline]
    fn copy(&mut self, rest: &[u8], length: usize) {
        let out = self.out();
        match rest.first_chunk::<BLOCK>() {
            Some(block) if length <= BLOCK => {
                let end = out.len().saturating_add(length);
                out.extend_from_slice(block);
                out.truncate(end);
            }
            _ => out.extend_from_slice(rest.get(..length).unwrap_or_default()),
        }
    }

    #[inline]
    fn new_line(&mut self, level: usize) {
        let width = Self::BREAK.saturating_add(level.saturating_mul(2));
        let out = self.out();
        let end = out.len().saturating_add(width);
        out.extend_from_slice(&Self::LINE);
        if width <= BLOCK {
            out.truncate(end);
        } else {
            out.resize(end, b' ');
        }
    }
}

fn spread(compact: &[u8], page: &mut impl Page) {
    let mut level = 0_usize;
    let mut rest = compact;
    while let Some((byte, after)) = rest.split_first() {
        let mut length = 1_usize;
        match byte {
            b'"' => {
                let (inside, is_plain) = string_end(after);
                length = inside.saturating_add(1);
                page.string(rest, length, is_plain);
            }
            b'{' | b'[' => {
                if let Some(close @ (b'}' | b']')) = after.first() {
                    page.bytes([*byte, *close]);
                    length = 2;
                } else {
                    page.bytes([*byte]);
                    level = level.saturating_add(1);
                    page.new_line(level);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                page.new_line(level);
                page.bytes([*byte]);
            }
            b',' => {
                page.bytes([b',']);
                page.new_line(level);
            }
            b':' => page.bytes([b':', b' ']),
            _ => {
                length = scalar_end(rest);
                page.copy(rest, length);
            }
        }
        rest = rest.get(length..).unwrap_or_default();
    }
}

/// The length of a number, `true`, `false` or `null`.
fn scalar_end(rest: &[u8]) -> usize {
    rest.iter()
        .take_while(|byte| !matches!(byte, b',' | b'}' | b']'))
        .count()
}

/// The length of the rest of a string, with its closing quote, and whether it has no escapes.
fn string_end(rest: &[u8]) -> (usize, bool) {
    let mut from = 0_usize;
    while let Some(found) = memchr::memchr2(b'"', b'\\', rest.get(from..).unwrap_or_default()) {
        let at = from.saturating_add(found);
        if rest.get(at) == Some(&b'"') {
            return (at.saturating_add(1), from == 0);
        }
        // Skips the backslash and the escaped byte.
        from = at.saturating_add(2);
    }
    (rest.len(), false)
}

/// Writes the text as it is.
struct Plain<'o>(&'o mut Vec<u8>);

impl Page for Plain<'_> {
    const LINE: [u8; BLOCK] = *b"\n                               ";
    const BREAK: usize = 1;

    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        self.0
    }

    #[inline]
    fn string(&mut self, rest: &[u8], length: usize, _is_plain: bool) {
        self.copy(rest, length);
    }
}

/// Writes the text inside a JSON string.
struct Quoted<'o>(&'o mut Vec<u8>);

impl Page for Quoted<'_> {
    const LINE: [u8; BLOCK] = *b"\\n                              ";
    const BREAK: usize = 2;

    #[inline]
    fn out(&mut self) -> &mut Vec<u8> {
        self.0
    }

    #[inline]
    fn string(&mut self, rest: &[u8], length: usize, is_plain: bool) {
        if is_plain {
            self.bytes(*b"\\\"");
            self.copy(rest.get(1..).unwrap_or_default(), length.saturating_sub(2));
            self.bytes(*b"\\\"");
        } else {
            write_escaped(self.0, rest.get(..length).unwrap_or_default());
        }
    }
}
