//! Runs of plain bytes in strings: finds their length, and copies them during the search.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
const HIGHEST_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// The number of plain bytes at the front: no quote, no backslash, no control below 0x20.
///
/// Checks words first, because most strings are short, then blocks that the compiler vectorises.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    for _ in 0..4 {
        let Some((word, after)) = rest.split_first_chunk::<8>() else {
            return plain_tail(bytes, rest);
        };
        let special = special_bytes::<Checked>(*word);
        if special != 0 {
            return distance(bytes, rest).wrapping_add(first_byte(special));
        }
        rest = after;
    }
    plain_long(bytes, rest)
}

/// The rest of [`plain_run`] for a run of more than four words; separate to keep `plain_run` small.
#[inline(never)]
fn plain_long(bytes: &[u8], rest: &[u8]) -> usize {
    plain_tail(bytes, skip_plain_blocks::<Checked>(rest, |_| ()))
}

/// The bytes, besides the special ones, that end a run.
pub(super) trait Run {
    /// Whether a byte beyond ASCII ends the run.
    const ASCII: bool;
}

/// A run of text known to be UTF-8.
pub(super) struct Checked;

impl Run for Checked {
    const ASCII: bool = false;
}

/// A run of unchecked bytes. It contains ASCII only and therefore needs no UTF-8 check.
pub(super) struct Ascii;

impl Run for Ascii {
    const ASCII: bool = true;
}

/// Bytes of the longest text for [`write_short`].
pub(super) const SHORT: usize = 64;

/// Appends a short text between quotes if all of it is plain ASCII. Returns whether it did.
///
/// It checks all bytes and then copies them. It does not branch on the text, and the place of a
/// block does not depend on the block before it.
#[inline]
pub(super) fn write_short(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let Some(last) = text.last_chunk::<8>() else {
        return write_shorter(out, text);
    };
    let (words, _) = text.as_chunks::<8>();
    let look = |marks, word: &[u8; 8]| marks | special_bytes::<Ascii>(*word);
    if words.iter().fold(look(0, last), look) != 0 {
        return false;
    }
    let end = out.len().wrapping_add(text.len()).wrapping_add(1);
    out.reserve(SHORT + 10);
    out.push(b'"');
    for word in words {
        out.extend_from_slice(word);
    }
    // The last word overlaps the word before it.
    out.truncate(end.wrapping_sub(8));
    out.extend_from_slice(last);
    out.push(b'"');
    true
}

/// [`write_short`] for fewer than eight bytes.
#[inline]
fn write_shorter(out: &mut Vec<u8>, text: &[u8]) -> bool {
    let word = short_word(text);
    if first_byte(special_bytes::<Ascii>(word)) < text.len() {
        return false;
    }
    let end = out.len().wrapping_add(text.len()).wrapping_add(1);
    out.reserve(10);
    out.push(b'"');
    out.extend_from_slice(&word);
    out.truncate(end);
    out.push(b'"');
    true
}

/// Appends the plain bytes at the front of `bytes` to `out`; returns the rest.
///
/// Copies during the search: most runs are too short for a call of `memcpy`.
#[inline]
pub(super) fn copy_plain_run<'t, R: Run>(bytes: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let mut rest = bytes;
    for _ in 0..8 {
        let Some((word, after)) = rest.split_first_chunk::<8>() else {
            return copy_plain_tail::<R>(rest, out);
        };
        let plain = copy_plain_word::<R>(*word, out);
        if plain < 8 {
            return rest.get(plain..).unwrap_or_default();
        }
        rest = after;
    }
    copy_plain_long::<R>(rest, out)
}

/// The rest of [`copy_plain_run`] for a long run; separate to keep `copy_plain_run` small.
#[inline(never)]
fn copy_plain_long<'t, R: Run>(bytes: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let mut rest = skip_plain_blocks::<R>(bytes, |plain| out.extend_from_slice(plain));
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let plain = copy_plain_word::<R>(*word, out);
        if plain < 8 {
            return rest.get(plain..).unwrap_or_default();
        }
        rest = after;
    }
    copy_plain_tail::<R>(rest, out)
}

/// Appends the plain bytes at the front of a word; returns their number.
#[inline]
fn copy_plain_word<R: Run>(word: [u8; 8], out: &mut Vec<u8>) -> usize {
    let end = out.len().wrapping_add(8);
    out.extend_from_slice(&word);
    let special = special_bytes::<R>(word);
    if special == 0 {
        return 8;
    }
    let plain = first_byte(special);
    out.truncate(end.wrapping_add(plain).wrapping_sub(8));
    plain
}

/// The end of [`copy_plain_run`]: fewer than eight bytes, as a word padded with zeros, which are
/// special.
#[inline]
fn copy_plain_tail<'t, R: Run>(rest: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    if rest.is_empty() {
        return rest;
    }
    let plain = copy_plain_word::<R>(short_word(rest), out);
    rest.get(plain..).unwrap_or_default()
}

/// Fewer than eight bytes, padded with zeros. Overlapping loads need one check of the length
/// instead of one per byte.
#[inline]
fn short_word(bytes: &[u8]) -> [u8; 8] {
    let word = if let (Some(head), Some(tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>())
    {
        let shift = bytes.len().wrapping_sub(4).wrapping_mul(8);
        u64::from(u32::from_le_bytes(*head)) | (u64::from(u32::from_le_bytes(*tail)) << shift)
    } else if let (Some(head), Some(tail)) = (bytes.first_chunk::<2>(), bytes.last_chunk::<2>()) {
        let shift = bytes.len().wrapping_sub(2).wrapping_mul(8);
        u64::from(u16::from_le_bytes(*head)) | (u64::from(u16::from_le_bytes(*tail)) << shift)
    } else {
        bytes.first().copied().map_or(0, u64::from)
    };
    word.to_le_bytes()
}

/// Passes blocks of plain bytes to `take`; the returned rest begins with less than one plain block.
fn skip_plain_blocks<'t, R: Run>(bytes: &'t [u8], mut take: impl FnMut(&'t [u8])) -> &'t [u8] {
    let rest = skip_while::<64>(bytes, 8, has_no_special::<R>, &mut take);
    // Pages are faster only for a long run.
    if distance(bytes, rest) < 8 * 64 {
        return rest;
    }
    let rest = skip_while::<1024>(rest, usize::MAX, is_plain_page::<R>, &mut take);
    skip_while::<64>(rest, usize::MAX, has_no_special::<R>, &mut take)
}

/// Passes up to `count` plain chunks to `take`; returns the rest.
#[inline]
fn skip_while<'t, const N: usize>(
    mut rest: &'t [u8],
    count: usize,
    is_plain: impl Fn(&[u8; N]) -> bool,
    mut take: impl FnMut(&'t [u8]),
) -> &'t [u8] {
    for _ in 0..count {
        match rest.split_first_chunk::<N>() {
            Some((chunk, after)) if is_plain(chunk) => {
                take(chunk);
                rest = after;
            }
            _ => break,
        }
    }
    rest
}

/// The last part of [`plain_run`]: `rest` is a tail of `bytes`, and the run ends soon.
fn plain_tail(bytes: &[u8], mut rest: &[u8]) -> usize {
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let special = special_bytes::<Checked>(*word);
        if special != 0 {
            return distance(bytes, rest).wrapping_add(first_byte(special));
        }
        rest = after;
    }
    let run = rest.iter().take_while(|byte| !is_special(**byte)).count();
    distance(bytes, rest).wrapping_add(run)
}

/// The offset of `rest`, a tail of `bytes`.
#[inline]
const fn distance(bytes: &[u8], rest: &[u8]) -> usize {
    bytes.len().wrapping_sub(rest.len())
}

#[inline]
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

#[inline]
fn has_no_special<R: Run>(block: &[u8; 64]) -> bool {
    !block.iter().fold(false, |found, byte| {
        found | is_special(*byte) | (R::ASCII && !byte.is_ascii())
    })
}

/// Two passes: the search for two bytes uses wider vectors than the compiler may assume.
#[inline]
fn is_plain_page<R: Run>(page: &[u8; 1024]) -> bool {
    page.iter().fold(u8::MAX, |least, byte| least.min(*byte)) >= 0x20
        && !(R::ASCII && page.iter().fold(0, |all, byte| all | byte) >= 0x80)
        && memchr::memchr2(b'"', b'\\', page).is_none()
}

/// A mask whose lowest set bit lies in the first special byte of the word; zero without a special
/// byte.
#[inline]
const fn special_bytes<R: Run>(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    let quote = (word ^ QUOTES).wrapping_sub(ONES);
    let backslash = (word ^ BACKSLASHES).wrapping_sub(ONES);
    let control = word.wrapping_sub(SPACES);
    // A subtraction below zero sets the highest bit of a byte that had it clear. A borrow can only
    // mark bytes above a true match, so the lowest mark is always a true match.
    let below_zero = quote | backslash | control;
    if R::ASCII {
        (below_zero | word) & HIGHEST_BITS
    } else {
        below_zero & !word & HIGHEST_BITS
    }
}

#[inline]
const fn first_byte(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::{Ascii, Checked, Run, SHORT, copy_plain_run, is_special, plain_run, write_short};

    #[test]
    fn a_short_text_is_written_whole_or_not_at_all() {
        for length in 0..=SHORT {
            let plain = vec![b'x'; length];
            let mut out = b"before".to_vec();
            assert!(write_short(&mut out, &plain));
            assert_eq!(out, [b"before\"", &*plain, b"\""].concat());
            for place in 0..length {
                for special in [b'"', b'\\', 0x00, 0x1f, 0x80, 0xff] {
                    let mut text = plain.clone();
                    text.splice(place..=place, [special]);
                    let mut out = b"before".to_vec();
                    assert!(!write_short(&mut out, &text));
                    assert_eq!(out, b"before");
                }
            }
        }
    }

    /// Checks all functions against a simple loop.
    #[track_caller]
    fn agrees(bytes: &[u8]) {
        let expected = bytes.iter().take_while(|byte| !is_special(**byte)).count();
        assert_eq!(plain_run(bytes), expected, "of {}", bytes.len());
        copies::<Checked>(bytes, expected);
        let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
        copies::<Ascii>(bytes, expected.min(ascii));
    }

    #[track_caller]
    fn copies<R: Run>(bytes: &[u8], expected: usize) {
        let mut out = b"before".to_vec();
        let rest = copy_plain_run::<R>(bytes, &mut out);
        let (plain, after) = bytes.split_at(expected);
        assert_eq!((&*out, rest), (&*[b"before", plain].concat(), after));
    }

    #[test]
    fn every_special_byte_is_found_at_every_place_and_no_other_byte_is_special() {
        for special in (0..=u8::MAX).filter(|byte| is_special(*byte)) {
            for place in (0..200).chain([511, 512, 543, 544, 1_000, 1_567, 1_568, 2_591, 2_592]) {
                for filler in [b' ', b'!', b'#', b'[', b']', 0x7f, 0x80, 0xff] {
                    let mut bytes = vec![filler; place];
                    bytes.push(special);
                    bytes.extend([filler; 20]);
                    agrees(&bytes);
                }
            }
        }
    }

    #[test]
    fn runs_without_an_end_are_taken_whole() {
        let bytes: Vec<u8> = (0..=u8::MAX).filter(|byte| !is_special(*byte)).collect();
        let bytes = bytes.repeat(20);
        for length in (0..200)
            .chain(500..600)
            .chain(1_500..1_700)
            .chain(2_500..2_700)
        {
            agrees(bytes.get(..length).unwrap_or_default());
        }
    }

    #[test]
    fn a_special_byte_before_another_hides_it() {
        for (first, second) in [(b'"', 0), (0, b'"'), (b'\\', 0x1f), (0x1f, b'\\')] {
            for gap in 0..20 {
                let mut bytes = vec![b'x'; 3];
                bytes.push(first);
                bytes.extend(vec![0x21; gap]);
                bytes.push(second);
                bytes.extend([b'#'; 16]);
                agrees(&bytes);
            }
        }
    }
}
