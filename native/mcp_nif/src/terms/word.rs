//! A term's machine word: the identity of an atom, or the address of a boxed term.

use std::hash::{BuildHasherDefault, Hash, Hasher};

use rustler::Term;
use rustler::sys::ErlNifTerm;

/// The word of a term. Rustler shows it only to hashers.
#[inline]
pub(super) fn of(term: Term<'_>) -> usize {
    of_raw(term.as_c_arg())
}

/// As [`of`].
#[inline]
pub(super) fn of_raw(term: ErlNifTerm) -> usize {
    let mut word = WordHasher::default();
    term.hash(&mut word);
    word.0
}

/// The hasher for tables with the word ([`of`]) of an atom as key: the VM numbers atoms one after
/// the other, so their words spread well enough without a hash.
pub(super) type BuildWordHasher = BuildHasherDefault<WordHasher>;

/// Mixes one word a little.
#[derive(Default)]
pub(super) struct WordHasher(usize);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        (self.0 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ usize::from(*byte);
        }
    }

    fn write_usize(&mut self, word: usize) {
        self.0 = word;
    }
}
