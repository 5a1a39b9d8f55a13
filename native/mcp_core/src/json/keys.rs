//! Finds equal keys of one object without a hash table. A random seed would need randomness, and a
//! fixed seed would invite collision attacks.

use std::borrow::Cow;

use super::string;

/// Up to this many keys are compared pairwise; more are sorted.
const FEW: usize = 16;

/// Whether two of an object's keys are equal.
///
/// Deterministic, with at most `n log n` comparisons for any keys.
///
/// # Examples
/// ```
/// use mcp_core::json::has_duplicate;
/// assert!(has_duplicate(&["a", "b", "a"]));
/// assert!(!has_duplicate(&["a", "b", "A"]));
/// ```
#[must_use]
pub fn has_duplicate<K: AsRef<str>>(keys: &[K]) -> bool {
    if keys.len() > FEW {
        let mut sorted: Vec<&str> = keys.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        return sorted
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a == b));
    }
    let mut rest = keys;
    while let [key, others @ ..] = rest {
        if others.iter().any(|other| other.as_ref() == key.as_ref()) {
            return true;
        }
        rest = others;
    }
    false
}

/// The offset of a key's opening quote, and a fingerprint of its text. Most comparisons compare two
/// fingerprints. The text is read again only for equal fingerprints.
///
/// A key takes eight bytes, because a message can have one key for every eight bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    fingerprint: u32,
    offset: u32,
}

impl Key {
    #[inline]
    pub(super) fn new(key: &[u8], offset: usize) -> Self {
        Self {
            fingerprint: fingerprint(key),
            // `checked_text` refuses texts with larger offsets.
            offset: u32::try_from(offset).unwrap_or(u32::MAX),
        }
    }

    /// A total order: by fingerprint, then by offset.
    const fn rank(self) -> u64 {
        ((self.fingerprint as u64) << 32) | self.offset as u64
    }

    fn read(self, text: &str) -> Cow<'_, str> {
        // The key was already read without an error.
        string::read(text, self.offset())
            .map(|(key, _)| key.into_cow())
            .unwrap_or_default()
    }

    const fn offset(self) -> usize {
        self.offset as usize
    }
}

/// The offset of a repeated key of an object in `text`, if there is one. May reorder the keys.
#[inline]
pub(super) fn repeated(keys: &mut [Key], text: &str) -> Option<usize> {
    if keys.len() > FEW {
        return repeated_among_many(keys, text);
    }
    let mut rest = &*keys;
    while let [key, others @ ..] = rest {
        if others
            .iter()
            .any(|other| key.fingerprint == other.fingerprint)
        {
            return repeated_among_many(keys, text);
        }
        rest = others;
    }
    None
}

/// Sorts the keys in place: copies could take more memory than the message.
#[cold]
fn repeated_among_many(keys: &mut [Key], text: &str) -> Option<usize> {
    let alike = alike(keys);
    alike
        .filter_map(|keys| repeated_among_alike(keys, text))
        .min()
}

/// Compares keys with equal cheap fingerprints by all their bytes, reading each key once. Many or
/// long keys of this kind are an attack. Restores the cheap fingerprints afterwards, because more
/// keys may follow.
fn repeated_among_alike(keys: &mut [Key], text: &str) -> Option<usize> {
    let cheap = keys.first()?.fingerprint;
    for key in &mut *keys {
        key.fingerprint = thorough(key.read(text).as_bytes());
    }
    let found = alike(keys)
        .filter_map(|keys| repeated_by_text(keys, text))
        .min();
    for key in keys {
        key.fingerprint = cheap;
    }
    found
}

fn repeated_by_text(keys: &[Key], text: &str) -> Option<usize> {
    let mut read: Vec<(Cow<'_, str>, usize)> = keys
        .iter()
        .map(|key| (key.read(text), key.offset()))
        .collect();
    read.sort_unstable();
    let pairs = read.windows(2).filter_map(|pair| match pair {
        [(a, _), (b, again)] if a == b => Some(*again),
        _ => None,
    });
    pairs.min()
}

/// Groups of two or more keys with equal fingerprints.
fn alike(keys: &mut [Key]) -> impl Iterator<Item = &mut [Key]> {
    keys.sort_unstable_by_key(|key| key.rank());
    let groups = keys.chunk_by_mut(|a, b| a.fingerprint == b.fingerprint);
    groups.filter(|group| group.len() > 1)
}

/// A fingerprint of all bytes of a key.
fn thorough(key: &[u8]) -> u32 {
    let mixed = key.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    folded(mixed)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the upper half is mixed into the lower"
)]
const fn folded(mixed: u64) -> u32 {
    (mixed ^ (mixed >> 32)) as u32
}

/// A cheap fingerprint, equal for equal keys: the first and last eight bytes and the length.
#[inline]
fn fingerprint(key: &[u8]) -> u32 {
    let (head, tail) = match (key.first_chunk::<8>(), key.last_chunk::<8>()) {
        (Some(head), Some(tail)) => (u64::from_le_bytes(*head), u64::from_le_bytes(*tail)),
        _ => short_ends(key),
    };
    let mixed =
        head.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ tail.rotate_left(32) ^ (key.len() as u64);
    folded(mixed)
}

/// Both ends of a key of fewer than eight bytes.
#[inline]
fn short_ends(key: &[u8]) -> (u64, u64) {
    if let (Some(head), Some(tail)) = (key.first_chunk::<4>(), key.last_chunk::<4>()) {
        return (
            u32::from_le_bytes(*head).into(),
            u32::from_le_bytes(*tail).into(),
        );
    }
    let fold = |word: u64, byte: &u8| (word << 8) | u64::from(*byte);
    (key.iter().fold(0, fold), 0)
}
