//! Keys that were written before: rows repeat theirs, as the very same terms. What was escaped once
//! is copied from the output itself.

use std::ops::Range;

/// Slots, one for each key word modulo their number.
const SLOTS: usize = 256;
/// Keys that are written before there are slots: a term with fewer has hardly one twice.
const FEW_KEYS: usize = 12;

/// Where in the output a key stands, with its quotes and colon.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// The key's word; 0 is no term's.
    word: usize,
    start: usize,
    end: usize,
}

/// The keys of one encoding.
#[derive(Default)]
pub(super) struct KeyReplay {
    slots: Vec<Slot>,
    few: usize,
}

impl KeyReplay {
    #[inline]
    pub(super) fn find(&self, word: usize) -> Option<Range<usize>> {
        let slot = self.slots.get(slot(word))?;
        (slot.word == word).then_some(slot.start..slot.end)
    }

    #[inline]
    pub(super) fn remember(&mut self, word: usize, place: Range<usize>) {
        if let Some(slot) = self.slots.get_mut(slot(word)) {
            *slot = Slot {
                word,
                start: place.start,
                end: place.end,
            };
        } else if self.few < FEW_KEYS {
            self.few = self.few.saturating_add(1);
        } else {
            self.slots = vec![Slot::default(); SLOTS];
        }
    }

    /// Forgets what stood behind `length`, because the output was cut there.
    pub(super) fn cut(&mut self, length: usize) {
        for slot in &mut self.slots {
            if slot.end > length {
                *slot = Slot::default();
            }
        }
    }
}

/// Keys of one map lie close to each other, some words apart.
#[inline]
fn slot(word: usize) -> usize {
    (word ^ (word >> 8)) / 8 % SLOTS
}
