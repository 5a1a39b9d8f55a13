//! Runs of plain bytes in strings: how long they are, and copying them while looking.

const ONES: u64 = u64::from_le_bytes([1; 8]);
const QUOTES: u64 = u64::from_le_bytes([b'"'; 8]);
const BACKSLASHES: u64 = u64::from_le_bytes([b'\\'; 8]);
const SPACES: u64 = u64::from_le_bytes([b' '; 8]);
const HIGHEST_BITS: u64 = u64::from_le_bytes([0x80; 8]);

/// How many bytes at the front are plain: no quote, no backslash, no control below 0x20.
///
/// Words first, because most strings are short; then blocks the compiler turns into vector code.
#[inline]
pub(super) fn plain_run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    for _ in 0..4 {
        let Some((word, after)) = rest.split_first_chunk::<8>() else {
            return plain_tail(bytes, rest);
        };
        let special = special_bytes(*word);
        if special != 0 {
            return distance(bytes, rest).wrapping_add(first_byte(special));
        }
        rest = after;
    }
    plain_long(bytes, rest)
}

/// The rest of [`plain_run`] for a run of more than four words; apart, to keep that one small.
#[inline(never)]
fn plain_long(bytes: &[u8], rest: &[u8]) -> usize {
    plain_tail(bytes, skip_plain_blocks(rest, |_| ()))
}

/// Appends the plain bytes at the front of `bytes` to `out`; returns what follows them.
///
/// Copied while they are looked at: a run is mostly too short to be worth a call of `memcpy`.
#[inline]
pub(super) fn copy_plain_run<'t>(bytes: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let mut rest = bytes;
    for _ in 0..8 {
        let Some((word, after)) = rest.split_first_chunk::<8>() else {
            return copy_plain_tail(rest, out);
        };
        out.extend_from_slice(word);
        let special = special_bytes(*word);
        if special != 0 {
            let plain = first_byte(special);
            out.truncate(out.len().wrapping_add(plain).wrapping_sub(8));
            return rest.get(plain..).unwrap_or_default();
        }
        rest = after;
    }
    let rest = skip_plain_blocks(rest, |plain| out.extend_from_slice(plain));
    copy_plain_tail(rest, out)
}

fn copy_plain_tail<'t>(rest: &'t [u8], out: &mut Vec<u8>) -> &'t [u8] {
    let (plain, after) = rest
        .split_at_checked(plain_tail(rest, rest))
        .unwrap_or((rest, &[]));
    out.extend_from_slice(plain);
    after
}

/// Passes blocks of plain bytes to `take`; what it returns begins with less than one.
fn skip_plain_blocks<'t>(bytes: &'t [u8], mut take: impl FnMut(&'t [u8])) -> &'t [u8] {
    let rest = skip_while::<64>(bytes, 8, has_no_special, &mut take);
    // Pages pay only for a run that has shown to be long.
    if distance(bytes, rest) < 8 * 64 {
        return rest;
    }
    let rest = skip_while::<1024>(rest, usize::MAX, is_plain_page, &mut take);
    skip_while::<64>(rest, usize::MAX, has_no_special, &mut take)
}

/// Passes at most `count` chunks that are plain to `take`, and returns what follows them.
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

/// The last part of [`plain_run`]: `rest` is a tail of `bytes` and the run ends soon.
fn plain_tail(bytes: &[u8], mut rest: &[u8]) -> usize {
    while let Some((word, after)) = rest.split_first_chunk::<8>() {
        let special = special_bytes(*word);
        if special != 0 {
            return distance(bytes, rest).wrapping_add(first_byte(special));
        }
        rest = after;
    }
    let run = rest.iter().take_while(|byte| !is_special(**byte)).count();
    distance(bytes, rest).wrapping_add(run)
}

/// How far `rest`, a tail of `bytes`, starts into it.
#[inline]
const fn distance(bytes: &[u8], rest: &[u8]) -> usize {
    bytes.len().wrapping_sub(rest.len())
}

#[inline]
const fn is_special(byte: u8) -> bool {
    byte == b'"' || byte == b'\\' || byte < 0x20
}

#[inline]
fn has_no_special(block: &[u8; 64]) -> bool {
    !block
        .iter()
        .fold(false, |found, byte| found | is_special(*byte))
}

/// Two passes, because the search for two bytes has wider vectors to its avail than the compiler
/// may assume.
#[inline]
fn is_plain_page(page: &[u8; 1024]) -> bool {
    page.iter().fold(u8::MAX, |least, byte| least.min(*byte)) >= 0x20
        && memchr::memchr2(b'"', b'\\', page).is_none()
}

/// A mask whose lowest set bit lies in the first special byte of the word; zero if there is none.
#[inline]
const fn special_bytes(word: [u8; 8]) -> u64 {
    let word = u64::from_le_bytes(word);
    let quote = (word ^ QUOTES).wrapping_sub(ONES);
    let backslash = (word ^ BACKSLASHES).wrapping_sub(ONES);
    let control = word.wrapping_sub(SPACES);
    // Below zero shows in a byte's highest bit, where the byte itself did not have it. A borrow can
    // only mark bytes above a true one, so the lowest mark is always true.
    (quote | backslash | control) & !word & HIGHEST_BITS
}

#[inline]
const fn first_byte(mask: u64) -> usize {
    (mask.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use super::{copy_plain_run, is_special, plain_run};

    /// Both functions against a plain loop.
    #[track_caller]
    fn agrees(bytes: &[u8]) {
        let expected = bytes.iter().take_while(|byte| !is_special(**byte)).count();
        assert_eq!(plain_run(bytes), expected, "of {}", bytes.len());
        let mut out = b"before".to_vec();
        let rest = copy_plain_run(bytes, &mut out);
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
