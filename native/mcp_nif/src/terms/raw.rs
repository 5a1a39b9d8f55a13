//! Terms without their environment, and a thin iterator over a map's members.
//!
//! A [`Term`] has three words. Rustler's `MapIterator` has two iterators, one for each end, of
//! eleven words each. Both pass from call to call through memory. Without them, reading and writing
//! rows is 1.2 times as fast.
#![expect(
    unsafe_code,
    reason = "measured: with rustler's own types the writer misses its targets"
)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::slice;

use rustler::sys::{
    ErlNifMapIterator, ErlNifMapIteratorEntry, ErlNifTerm, enif_get_double, enif_get_int64,
    enif_get_list_cell, enif_get_map_size, enif_get_map_value, enif_inspect_binary,
    enif_make_list_from_array, enif_make_map_from_arrays, enif_map_iterator_create,
    enif_map_iterator_destroy, enif_map_iterator_get_pair, enif_map_iterator_next,
};
use rustler::{Atom, Env, Term};

use super::term_kind::TermKind;
use super::word;

/// A term of the environment with the lifetime `'a`: no two environments share a lifetime.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Raw<'a> {
    term: ErlNifTerm,
    /// Invariant in `'a`, as [`Env`] is.
    env: PhantomData<Env<'a>>,
}

impl<'a> From<Term<'a>> for Raw<'a> {
    #[inline]
    fn from(term: Term<'a>) -> Self {
        Self {
            term: term.as_c_arg(),
            env: PhantomData,
        }
    }
}

impl<'a> Raw<'a> {
    /// The term in its environment.
    #[inline]
    pub(super) fn term(self, env: Env<'a>) -> Term<'a> {
        // SAFETY: the word belongs to the environment of `'a`, which is `env`.
        unsafe { Term::new(env, self.term) }
    }

    /// See [`word`].
    #[inline]
    pub(super) fn word(self) -> usize {
        word::of_raw(self.term)
    }

    /// Compares words: an atom has the same word everywhere.
    #[inline]
    pub(super) fn is(self, atom: Atom) -> bool {
        self.term == atom.as_c_arg()
    }

    #[inline]
    pub(super) fn kind(self, env: Env<'a>) -> TermKind {
        TermKind::of(self.term(env))
    }

    /// Whether it is a binary.
    #[inline]
    pub(super) fn is_binary(self, env: Env<'a>) -> bool {
        self.term(env).is_binary()
    }

    /// The bytes of a binary.
    #[inline]
    pub(super) fn bytes(self, env: Env<'a>) -> Option<&'a [u8]> {
        let mut binary = MaybeUninit::uninit();
        // SAFETY: the term belongs to `env`, and `binary` has the size of the struct to fill in.
        let found = unsafe { enif_inspect_binary(env.as_c_arg(), self.term, binary.as_mut_ptr()) };
        if found == 0 {
            return None;
        }
        // SAFETY: the call reported success, so it filled in the struct.
        let binary = unsafe { binary.assume_init() };
        // SAFETY: a binary's bytes stay unchanged and valid while its environment lives, and the
        // pointer is valid for its size, also for a size of 0.
        Some(unsafe { slice::from_raw_parts(binary.data, binary.size) })
    }

    /// An integer of 64 bits with a sign.
    #[inline]
    pub(super) fn integer(self, env: Env<'a>) -> Option<i64> {
        let mut value = 0;
        // SAFETY: the term is one of `env`.
        let found = unsafe { enif_get_int64(env.as_c_arg(), self.term, &raw mut value) };
        (found != 0).then_some(value)
    }

    /// A float.
    #[inline]
    pub(super) fn float(self, env: Env<'a>) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: the term is one of `env`.
        let found = unsafe { enif_get_double(env.as_c_arg(), self.term, &raw mut value) };
        (found != 0).then_some(value)
    }

    /// The first element of a list, and the rest.
    #[inline]
    pub(super) fn cell(self, env: Env<'a>) -> Option<(Self, Self)> {
        let (mut head, mut tail) = (self, self);
        // SAFETY: the term belongs to `env`, and so do the terms that the call fills in.
        let found = unsafe {
            enif_get_list_cell(
                env.as_c_arg(),
                self.term,
                &raw mut head.term,
                &raw mut tail.term,
            )
        };
        (found != 0).then_some((head, tail))
    }

    /// How many members a map has.
    #[inline]
    pub(super) fn size(self, env: Env<'a>) -> Option<usize> {
        let mut size = 0;
        // SAFETY: the term is one of `env`.
        let found = unsafe { enif_get_map_size(env.as_c_arg(), self.term, &raw mut size) };
        (found != 0).then_some(size)
    }

    /// The value of a key in a map.
    #[inline]
    pub(super) fn get(self, env: Env<'a>, key: Atom) -> Option<Self> {
        let mut value = self;
        // SAFETY: the term belongs to `env`, and so does the term that the call fills in; atoms
        // belong to all environments.
        let found = unsafe {
            enif_get_map_value(
                env.as_c_arg(),
                self.term,
                key.as_c_arg(),
                &raw mut value.term,
            )
        };
        (found != 0).then_some(value)
    }
}

/// The members of a map, in the VM's order; empty for other terms.
///
/// The VM's iterator is created with the first member, and is not moved afterwards. A move would
/// read it in other word sizes than it was written in, which stalls the processor.
pub(crate) struct RawMembers<'a> {
    env: Env<'a>,
    map: Raw<'a>,
    is_made: bool,
    iterator: MaybeUninit<ErlNifMapIterator>,
}

impl<'a> RawMembers<'a> {
    #[inline]
    pub(super) fn of(map: Raw<'a>, env: Env<'a>) -> Self {
        Self {
            env,
            map,
            is_made: false,
            iterator: MaybeUninit::uninit(),
        }
    }

    #[inline]
    fn make(&mut self) -> bool {
        if !self.is_made {
            // SAFETY: the map is a term of `env`, and `iterator` has the size of an iterator.
            let made = unsafe {
                enif_map_iterator_create(
                    self.env.as_c_arg(),
                    self.map.term,
                    self.iterator.as_mut_ptr(),
                    ErlNifMapIteratorEntry::ERL_NIF_MAP_ITERATOR_HEAD,
                )
            };
            self.is_made = made != 0;
        }
        self.is_made
    }
}

impl<'a> Iterator for RawMembers<'a> {
    type Item = (Raw<'a>, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if !self.make() {
            return None;
        }
        let (env, iterator) = (self.env.as_c_arg(), self.iterator.as_mut_ptr());
        let (mut key, mut value) = (ErlNifTerm::default(), ErlNifTerm::default());
        // SAFETY: the iterator was created in this environment, and only `drop` destroys it.
        let found =
            unsafe { enif_map_iterator_get_pair(env, iterator, &raw mut key, &raw mut value) };
        if found == 0 {
            return None;
        }
        // SAFETY: as above. After the last member the iterator does not move.
        unsafe { enif_map_iterator_next(env, iterator) };
        let raw = |term| Raw {
            term,
            env: PhantomData,
        };
        Some((raw(key), raw(value)))
    }
}

impl Drop for RawMembers<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.is_made {
            // SAFETY: the iterator was created in this environment, and is destroyed only here.
            unsafe {
                enif_map_iterator_destroy(self.env.as_c_arg(), self.iterator.as_mut_ptr());
            }
        }
    }
}

/// A list of these elements.
#[inline]
pub(super) fn list<'a>(env: Env<'a>, elements: &[Raw<'a>]) -> Raw<'a> {
    // The VM counts a list's elements in 32 bits; a text with more elements is refused long before.
    let length = u32::try_from(elements.len()).unwrap_or(u32::MAX);
    // SAFETY: a `Raw` is exactly the VM's word, and there are at least `length` elements.
    let list =
        unsafe { enif_make_list_from_array(env.as_c_arg(), elements.as_ptr().cast(), length) };
    Raw {
        term: list,
        env: PhantomData,
    }
}

/// A map of these keys and values; `None` if the VM refuses it (a small map with equal keys).
#[inline]
pub(super) fn map<'a>(env: Env<'a>, keys: &[Raw<'a>], values: &[Raw<'a>]) -> Option<Raw<'a>> {
    let size = keys.len().min(values.len());
    let mut map = ErlNifTerm::default();
    // SAFETY: a `Raw` is exactly the VM's word, and both slices have at least `size` elements.
    let made = unsafe {
        enif_make_map_from_arrays(
            env.as_c_arg(),
            keys.as_ptr().cast(),
            values.as_ptr().cast(),
            size,
            &raw mut map,
        )
    };
    (made != 0).then_some(Raw {
        term: map,
        env: PhantomData,
    })
}
