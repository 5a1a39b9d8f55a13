//! A cache of keys: objects of one kind repeat their keys in the same order, and share the terms.

use crate::terms::raw::Raw;

const SLOTS: usize = 256;
/// A text with fewer keys rarely repeats one.
const FEW_KEYS: usize = 12;
/// The number of contexts. The slots of the last keys form a context.
const CONTEXTS: usize = 1024;

/// The keys of one text. Each fingerprint has one slot and no chain, so that no choice of keys
/// makes lookups slow.
pub(super) struct RecentKeys<'e, 'a> {
    slots: Vec<Option<(&'a str, Raw<'e>)>>,
    /// The number of keys read before the slots were created.
    few: usize,
    /// The slot of the key that followed, by context.
    followers: Vec<u8>,
    /// The slots of the last keys; older keys are shifted out.
    context: usize,
}

impl<'e, 'a> RecentKeys<'e, 'a> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            few: 0,
            followers: Vec::new(),
            context: 0,
        }
    }

    /// The key that followed the last keys before, with its length, if `rest` starts with it and
    /// `"`.
    #[inline]
    pub(super) fn expected(&mut self, rest: &[u8]) -> Option<(Raw<'e>, usize)> {
        let slot = *self.followers.get(self.context)?;
        let (known, key) = (*self.slots.get(usize::from(slot))?)?;
        let (text, after) = rest.split_at_checked(known.len())?;
        if after.first() != Some(&b'"') || !same(known.as_bytes(), text) {
            return None;
        }
        self.step(slot);
        Some((key, known.len()))
    }

    /// The term of a key in the cache.
    #[inline]
    pub(super) fn get(&mut self, text: &str) -> Option<Raw<'e>> {
        let slot = slot(text);
        let (known, key) = (*self.slots.get(usize::from(slot))?)?;
        if !same(known.as_bytes(), text.as_bytes()) {
            return None;
        }
        self.follow(slot);
        Some(key)
    }

    /// Remembers a key.
    #[inline]
    pub(super) fn put(&mut self, text: &'a str, key: Raw<'e>) {
        let slot = slot(text);
        if let Some(place) = self.slots.get_mut(usize::from(slot)) {
            *place = Some((text, key));
            self.follow(slot);
        } else if self.few < FEW_KEYS {
            self.few = self.few.saturating_add(1);
        } else {
            self.slots = vec![None; SLOTS];
            self.followers = vec![0; CONTEXTS];
        }
    }

    #[inline]
    fn follow(&mut self, slot: u8) {
        if let Some(follower) = self.followers.get_mut(self.context) {
            *follower = slot;
        }
        self.step(slot);
    }

    #[inline]
    fn step(&mut self, slot: u8) {
        self.context = ((self.context << 4) ^ usize::from(slot)) % CONTEXTS;
    }
}

/// Whether two keys are equal. Keys of up to 16 bytes need no call.
#[inline]
fn same(known: &[u8], key: &[u8]) -> bool {
    if known.len() != key.len() {
        return false;
    }
    match key.len() {
        4..8 => same_ends::<4>(known, key),
        8..=16 => same_ends::<8>(known, key),
        _ => known == key,
    }
}

/// Whether two texts of `N` to twice `N` bytes are equal.
#[inline]
fn same_ends<const N: usize>(known: &[u8], key: &[u8]) -> bool {
    known.first_chunk::<N>() == key.first_chunk::<N>()
        && known.last_chunk::<N>() == key.last_chunk::<N>()
}

/// Computes the slot from the length and both ends, where keys differ most.
#[inline]
fn slot(text: &str) -> u8 {
    let bytes = text.as_bytes();
    let (head, tail) = match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(head), Some(tail)) => (u32::from_le_bytes(*head), u32::from_le_bytes(*tail)),
        _ => (
            bytes
                .iter()
                .fold(0, |word, byte| (word << 8) | u32::from(*byte)),
            0,
        ),
    };
    let word = u64::from(head) ^ (u64::from(tail) << 32) ^ ((bytes.len() as u64) << 20);
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8
}
