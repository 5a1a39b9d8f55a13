//! A cache of written keys: rows repeat the same key terms, so an escaped key is copied instead of
//! escaped again.

/// The number of slots; a key's word modulo this number selects one.
const SLOTS: usize = 128;
/// The keys written before the slots are created: a term with fewer keys rarely repeats one.
const FEW_KEYS: usize = 12;
/// The bytes copied per key: copying a fixed size needs no call. Longer keys are not kept.
const BLOCK: usize = 32;

/// A comma and the key with its quotes and colon.
#[derive(Clone)]
struct Slot {
    /// The key's word; no term has the word 0.
    word: usize,
    length: usize,
    text: [u8; BLOCK + 8],
}

const EMPTY: Slot = Slot {
    word: 0,
    length: 0,
    text: [b','; BLOCK + 8],
};

/// The keys of one encoding.
#[derive(Default)]
pub(super) struct KeyReplay {
    slots: Vec<Slot>,
    few: usize,
}

impl KeyReplay {
    /// Appends the key with this word if it was written before, with a comma unless it is the first
    /// of its object.
    #[inline]
    pub(super) fn append(&self, word: usize, first: bool, out: &mut Vec<u8>) -> bool {
        let Some(slot) = self.slots.get(slot(word)).filter(|slot| slot.word == word) else {
            return false;
        };
        let skipped = usize::from(first);
        let Some(block) = slot
            .text
            .get(skipped..)
            .and_then(<[u8]>::first_chunk::<BLOCK>)
        else {
            return false;
        };
        let end = out.len().wrapping_add(slot.length).wrapping_sub(skipped);
        out.extend_from_slice(block);
        out.truncate(end);
        true
    }

    /// Remembers a written key, with its quotes and colon.
    #[inline]
    pub(super) fn remember(&mut self, word: usize, text: &[u8]) {
        if let Some(slot) = self.slots.get_mut(slot(word)) {
            if let Some(place) = slot.text.get_mut(1..=text.len())
                && text.len() < BLOCK
            {
                place.copy_from_slice(text);
                slot.length = text.len().wrapping_add(1);
                slot.word = word;
            }
        } else if self.few < FEW_KEYS {
            self.few = self.few.saturating_add(1);
        } else {
            self.slots = vec![EMPTY; SLOTS];
        }
    }
}

/// The keys of one map lie in memory a few words apart.
#[inline]
fn slot(word: usize) -> usize {
    (word ^ (word >> 7)) / 8 % SLOTS
}
