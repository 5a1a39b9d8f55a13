//! JSON text for people: one member a line, two spaces a level.

/// Spreads compact JSON text over lines. The text is ours, so nothing in it is checked.
pub(crate) fn pretty(compact: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(compact.len().saturating_mul(2));
    let mut level = 0_usize;
    let mut rest = compact;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'"' => {
                let (string, after) = rest
                    .split_at_checked(string_end(rest))
                    .unwrap_or((rest, &[]));
                out.push(b'"');
                out.extend_from_slice(string);
                rest = after;
            }
            b'{' | b'[' => {
                out.push(*byte);
                if let Some((close @ (b'}' | b']'), after)) = rest.split_first() {
                    out.push(*close);
                    rest = after;
                } else {
                    level = level.saturating_add(1);
                    new_line(&mut out, level);
                }
            }
            b'}' | b']' => {
                level = level.saturating_sub(1);
                new_line(&mut out, level);
                out.push(*byte);
            }
            b',' => {
                out.push(b',');
                new_line(&mut out, level);
            }
            b':' => out.extend_from_slice(b": "),
            byte => out.push(*byte),
        }
    }
    out
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

fn new_line(out: &mut Vec<u8>, level: usize) {
    out.push(b'\n');
    out.resize(out.len().saturating_add(level.saturating_mul(2)), b' ');
}
