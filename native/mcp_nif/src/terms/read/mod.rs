//! Parses JSON text into terms.

mod recent_keys;

use std::borrow::Cow;

use mcp_core::json::{Duplicate, JsonError, Limits, Sink, Text, read};
use rustler::{Atom, BigInt, Binary, Encoder, Env, NewBinary, Term};

use self::recent_keys::RecentKeys;
use super::raw::{self, Raw};
use crate::atoms;

/// Strings below this length are always copied.
const VIEW_BYTES: usize = 4096;
/// A string that fills less than this fraction (1/n) of the text is copied too: a view keeps the
/// whole text alive.
const VIEW_PART: usize = 4;

/// Parses a JSON text into a term.
///
/// # Errors
/// As [`mcp_core::json::read`].
pub(crate) fn read_term<'e>(
    env: Env<'e>,
    text: &[u8],
    source: Option<Binary<'e>>,
    limits: &Limits,
) -> Result<Term<'e>, JsonError> {
    read_term_with(env, text, source, limits, false)
}

/// As `read_term`; `keeps_last` says whether the last of equal keys wins. Otherwise equal keys
/// are refused.
///
/// # Errors
/// As [`mcp_core::json::read`].
pub(crate) fn read_term_with<'e>(
    env: Env<'e>,
    text: &[u8],
    source: Option<Binary<'e>>,
    limits: &Limits,
    keeps_last: bool,
) -> Result<Term<'e>, JsonError> {
    let mut sink = TermSink {
        env,
        source,
        keeps_last,
        keys: RecentKeys::new(),
        literals: Literals {
            null: atoms::nil(),
            booleans: [atoms::false_(), atoms::true_()],
        },
    };
    read(text, limits, &mut sink).map(|value| value.term(env))
}

/// Builds terms: maps with binary keys, lists, binaries, exact integers, floats, `true`, `false`
/// and `nil`. It creates no atoms.
struct TermSink<'e, 'a> {
    env: Env<'e>,
    /// The parsed binary, if large strings may be views of it.
    source: Option<Binary<'e>>,
    /// Whether the last of equal keys wins. Otherwise equal keys are refused.
    keeps_last: bool,
    keys: RecentKeys<'e, 'a>,
    literals: Literals,
}

impl<'e> TermSink<'e, '_> {
    #[inline]
    fn raw(&self, value: impl Encoder) -> Raw<'e> {
        value.encode(self.env).into()
    }

    fn copy(&self, text: &str) -> Raw<'e> {
        let copy: Term<'e> = NewBinary::from_slice(self.env, text.as_bytes()).into();
        copy.into()
    }

    #[cold]
    fn last_of_each(&self, keys: &[Raw<'e>], values: &[Raw<'e>]) -> Option<Raw<'e>> {
        if !self.keeps_last {
            return None;
        }
        let members = keys.iter().zip(values);
        let map = members.fold(Term::map_new(self.env), |map, (key, value)| {
            map.map_put(key.term(self.env), value.term(self.env))
                .unwrap_or(map)
        });
        Some(map.into())
    }

    fn view(&self, text: &str) -> Option<Raw<'e>> {
        if text.len() < VIEW_BYTES {
            return None;
        }
        let source = self.source?;
        if text.len() < source.len() / VIEW_PART {
            return None;
        }
        let offset = text.as_ptr().addr().checked_sub(source.as_ptr().addr())?;
        let view = source.make_subbinary(offset, text.len()).ok()?;
        Some(view.to_term(self.env).into())
    }
}

impl<'e, 'a> Sink<'a> for TermSink<'e, 'a> {
    type Value = Raw<'e>;
    type Key = Raw<'e>;

    #[inline]
    fn null(&mut self) -> Raw<'e> {
        self.literals.null.to_term(self.env).into()
    }

    #[inline]
    fn boolean(&mut self, value: bool) -> Raw<'e> {
        let [no, yes] = self.literals.booleans;
        let literal = if value { yes } else { no };
        literal.to_term(self.env).into()
    }

    #[inline]
    fn integer(&mut self, value: i64) -> Raw<'e> {
        self.raw(value)
    }

    #[inline]
    fn unsigned(&mut self, value: u64) -> Raw<'e> {
        self.raw(value)
    }

    fn big_integer(&mut self, text: &'a str) -> Raw<'e> {
        // The reader passes only digits, so the parse cannot fail.
        self.raw(text.parse::<BigInt>().unwrap_or_default())
    }

    #[inline]
    fn float(&mut self, value: f64) -> Raw<'e> {
        self.raw(value)
    }

    #[inline]
    fn string(&mut self, text: Text<'a>) -> Raw<'e> {
        match text.into_cow() {
            Cow::Borrowed(text) => self.view(text).unwrap_or_else(|| self.copy(text)),
            Cow::Owned(text) => self.copy(&text),
        }
    }

    fn decoded_string(&mut self, text: &str) -> Raw<'e> {
        self.copy(text)
    }

    #[inline]
    fn key(&mut self, text: Text<'a>) -> Raw<'e> {
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
    fn expected_key(&mut self, rest: &[u8]) -> Option<(Raw<'e>, usize)> {
        self.keys.expected(rest)
    }

    #[inline]
    fn array(&mut self, items: &[Raw<'e>]) -> Raw<'e> {
        raw::list(self.env, items)
    }

    #[inline]
    fn object(&mut self, keys: &[Raw<'e>], values: &[Raw<'e>]) -> Result<Raw<'e>, Duplicate> {
        // With equal keys the VM refuses a small map, but silently drops members of a large map.
        raw::map(self.env, keys, values)
            .filter(|map| map.size(self.env) == Some(keys.len()))
            .or_else(|| self.last_of_each(keys, values))
            .ok_or(Duplicate)
    }
}

/// The atoms of JSON, read once per text.
struct Literals {
    null: Atom,
    booleans: [Atom; 2],
}
