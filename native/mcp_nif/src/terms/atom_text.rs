//! A cache of the texts of atoms. The VM needs a call and an allocation for each, and results
//! mostly repeat the same atoms.
//!
//! Atoms are never freed, and so their texts are never freed here. The atoms of encoded terms
//! bound the cache.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use rustler::Term;

use super::word::{self, BuildWordHasher};

/// The slots of a thread's cache, which is read before the shared table. The atom's word modulo
/// this number selects one.
const SLOTS: usize = 1024;

type Slot = Cell<(usize, &'static str)>;

static TEXTS: RwLock<Option<HashMap<usize, &'static str, BuildWordHasher>>> = RwLock::new(None);

thread_local! {
    // 0 is no atom's word.
    static RECENT: [Slot; SLOTS] = const { [const { Cell::new((0, "")) }; SLOTS] };
}

/// The text of an atom; empty for other terms.
pub(super) fn of(atom: Term<'_>) -> &'static str {
    let word = word::of(atom);
    // The low six bits say that the word is an atom.
    let slot = (word >> 6) % SLOTS;
    RECENT.with(|recent| match recent.get(slot).map(Cell::get) {
        Some((known, text)) if known == word => text,
        _ => {
            let text = shared(word, atom);
            if let Some(slot) = recent.get(slot) {
                slot.set((word, text));
            }
            text
        }
    })
}

fn shared(word: usize, atom: Term<'_>) -> &'static str {
    let known = TEXTS
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .as_ref()
        .and_then(|texts| texts.get(&word).copied());
    known.unwrap_or_else(|| {
        let mut texts = TEXTS.write().unwrap_or_else(PoisonError::into_inner);
        let texts = texts.get_or_insert_default();
        texts
            .entry(word)
            .or_insert_with(|| Box::leak(ask(atom).into_boxed_str()))
    })
}

/// Before OTP 26 the VM returns only the text of Latin-1 atoms; the text of other atoms is read
/// from their external form.
fn ask(atom: Term<'_>) -> String {
    atom.atom_to_string()
        .unwrap_or_else(|_| external(&atom.to_binary()).unwrap_or_default())
}

/// `131, SMALL_ATOM_UTF8_EXT, length, text` or `131, ATOM_UTF8_EXT, length (two bytes), text`.
fn external(bytes: &[u8]) -> Option<String> {
    let ([131, 119, _, text @ ..] | [131, 118, _, _, text @ ..]) = bytes else {
        return None;
    };
    std::str::from_utf8(text).ok().map(str::to_owned)
}
