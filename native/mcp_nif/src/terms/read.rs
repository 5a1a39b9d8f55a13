//! JSON text into terms.

use std::borrow::Cow;

use mcp_core::json::{Duplicate, Sink, Text};
use rustler::{BigInt, Binary, Encoder, Env, NewBinary, Term};

use crate::atoms;

/// Strings below this length are always copied.
const VIEW_BYTES: usize = 4096;
/// A string that is a smaller part of the text than one in so many is copied too: a view keeps all
/// of the text alive.
const VIEW_PART: usize = 4;

/// Builds terms: maps with binary keys, lists, binaries, exact integers, floats, `true`, `false` and
/// `nil`. No atom is made.
pub(crate) struct TermSink<'e, 'a> {
    env: Env<'e>,
    /// The term whose bytes are read, when large strings may be views into it.
    source: Option<Binary<'e>>,
    keys: RecentKeys<'e, 'a>,
}

impl<'e> TermSink<'e, '_> {
    /// A sink that copies every string.
    pub(crate) fn new(env: Env<'e>) -> Self {
        Self {
            env,
            source: None,
            keys: RecentKeys::new(),
        }
    }

    /// A sink for reading `source` itself.
    pub(crate) fn of(env: Env<'e>, source: Binary<'e>) -> Self {
        Self {
            source: Some(source),
            ..Self::new(env)
        }
    }

    fn copy(&self, text: &str) -> Term<'e> {
        NewBinary::from_slice(self.env, text.as_bytes()).into()
    }

    fn view(&self, text: &str) -> Option<Term<'e>> {
        let source = self.source?;
        if text.len() < VIEW_BYTES || text.len() < source.len() / VIEW_PART {
            return None;
        }
        let offset = text.as_ptr().addr().checked_sub(source.as_ptr().addr())?;
        let view = source.make_subbinary(offset, text.len()).ok()?;
        Some(view.to_term(self.env))
    }
}

impl<'e, 'a> Sink<'a> for TermSink<'e, 'a> {
    type Value = Term<'e>;
    type Key = Term<'e>;

    #[inline]
    fn null(&mut self) -> Term<'e> {
        atoms::nil().to_term(self.env)
    }

    #[inline]
    fn boolean(&mut self, value: bool) -> Term<'e> {
        value.encode(self.env)
    }

    #[inline]
    fn integer(&mut self, value: i64) -> Term<'e> {
        value.encode(self.env)
    }

    #[inline]
    fn unsigned(&mut self, value: u64) -> Term<'e> {
        value.encode(self.env)
    }

    fn big_integer(&mut self, text: &'a str) -> Term<'e> {
        // The reader hands over digits only, so the parse cannot fail.
        text.parse::<BigInt>().unwrap_or_default().encode(self.env)
    }

    #[inline]
    fn float(&mut self, value: f64) -> Term<'e> {
        value.encode(self.env)
    }

    #[inline]
    fn string(&mut self, text: Text<'a>) -> Term<'e> {
        match text.into_cow() {
            Cow::Borrowed(text) => self.view(text).unwrap_or_else(|| self.copy(text)),
            Cow::Owned(text) => self.copy(&text),
        }
    }

    #[inline]
    fn key(&mut self, text: Text<'a>) -> Term<'e> {
        let text = match text.into_cow() {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => return self.copy(&text),
        };
        if let Some(key) = self.keys.get(text) {
            return key;
        }
        let key = self.copy(text);
        self.keys.put(text, key);
        key
    }

    #[inline]
    fn array(&mut self, items: &[Term<'e>]) -> Term<'e> {
        items.encode(self.env)
    }

    #[inline]
    fn object(&mut self, keys: &[Term<'e>], values: &[Term<'e>]) -> Result<Term<'e>, Duplicate> {
        // Of two equal keys the VM refuses a small map; of a large one it silently keeps one member.
        let map = Term::map_from_term_arrays(self.env, keys, values).map_err(|_| Duplicate)?;
        if map.map_size().ok() == Some(keys.len()) {
            Ok(map)
        } else {
            Err(Duplicate)
        }
    }
}

/// Keys met a moment ago: objects of one kind repeat theirs, and share the terms. One slot for each
/// fingerprint and no chains, so that no choice of keys makes it slow.
struct RecentKeys<'e, 'a> {
    slots: Vec<Option<(&'a str, Term<'e>)>>,
    /// Keys met before there were slots.
    few: usize,
}

const KEY_SLOTS: usize = 256;
/// A text with fewer keys has hardly one twice.
const FEW_KEYS: usize = 12;

impl<'e, 'a> RecentKeys<'e, 'a> {
    const fn new() -> Self {
        Self {
            slots: Vec::new(),
            few: 0,
        }
    }

    #[inline]
    fn get(&self, text: &str) -> Option<Term<'e>> {
        let (known, key) = (*self.slots.get(slot(text))?)?;
        (known == text).then_some(key)
    }

    #[inline]
    fn put(&mut self, text: &'a str, key: Term<'e>) {
        if let Some(slot) = self.slots.get_mut(slot(text)) {
            *slot = Some((text, key));
        } else if self.few < FEW_KEYS {
            self.few = self.few.saturating_add(1);
        } else {
            self.slots = vec![None; KEY_SLOTS];
        }
    }
}

/// From the length and both ends, where keys differ most.
#[inline]
fn slot(text: &str) -> usize {
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
    (word.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as usize
}
