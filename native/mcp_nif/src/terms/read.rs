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
struct RecentKeys<'e, 'a>([Option<(&'a str, Term<'e>)>; KEY_SLOTS]);

const KEY_SLOTS: usize = 32;

impl<'e, 'a> RecentKeys<'e, 'a> {
    fn new() -> Self {
        Self([None; KEY_SLOTS])
    }

    #[inline]
    fn get(&self, text: &str) -> Option<Term<'e>> {
        let (known, key) = (*self.0.get(slot(text))?)?;
        (known == text).then_some(key)
    }

    #[inline]
    fn put(&mut self, text: &'a str, key: Term<'e>) {
        if let Some(slot) = self.0.get_mut(slot(text)) {
            *slot = Some((text, key));
        }
    }
}

/// From the length and both ends, where keys differ most.
#[inline]
fn slot(text: &str) -> usize {
    let bytes = text.as_bytes();
    let head = bytes
        .iter()
        .take(4)
        .fold(0, |word, byte| (word << 8) | usize::from(*byte));
    let tail = bytes
        .iter()
        .rev()
        .take(2)
        .fold(0, |word, byte| (word << 8) | usize::from(*byte));
    let word = head ^ tail.rotate_left(11) ^ bytes.len().rotate_left(3);
    (word ^ (word >> 9) ^ (word >> 18)) % KEY_SLOTS
}
