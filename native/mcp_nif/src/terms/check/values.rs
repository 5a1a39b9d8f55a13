//! The values of a term in normal form, collected once: a validator reads each several times.
//!
//! Reading a term directly takes a VM call, reading a map's member takes three, and each checks the
//! text for UTF-8 again. With collected values the validation of rows takes 0.8 times as long.
//! Texts are not copied.

use std::cell::Cell;
use std::mem;
use std::sync::{Mutex, PoisonError};

use rustler::{Env, NewBinary, Term};

use crate::atoms;
use crate::terms::atom_text;
use crate::terms::number;
use crate::terms::raw::{Raw, RawMembers};
use crate::terms::term_kind::TermKind;
use crate::terms::write::MAX_DEPTH;

/// The values of a term: the root first, and the values of one container next to each other.
pub(crate) struct Values<'a>(Scratch<'a>);

/// A value, and its name in its object.
pub(crate) struct Entry<'a> {
    pub(super) name: &'a str,
    pub(super) value: Value<'a>,
}

#[derive(Clone, Copy)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    Signed(i64),
    Unsigned(u64),
    /// The digits of an integer beyond 64 bits, stored in a separate binary.
    Big(&'a str),
    Float(f64),
    Text(&'a str),
    Array(Span),
    Object(Span),
}

/// The position of a container's values.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    start: usize,
    end: usize,
}

/// From this size on the VM does not keep a map's keys sorted, so members are sorted here and found
/// by their names.
const SORTED_SIZE: usize = 33;

impl<'a> Values<'a> {
    /// The values of a term that [`super::normalize`] returns unchanged; `None` for other terms,
    /// and for terms that exceed the budget.
    pub(crate) fn of(term: Term<'a>, budget: usize) -> Option<Self> {
        let mut building = Building {
            env: term.get_env(),
            scratch: Scratch::take(),
            containers: emptied(KEPT_CONTAINERS.take()),
            left: budget,
        };
        building.push("", term.into())?;
        building.expand(0, 0)?;
        if building.containers.capacity() <= KEPT_ENTRIES {
            KEPT_CONTAINERS.set(emptied(building.containers));
        }
        Some(Self(building.scratch))
    }

    /// The root, and all values.
    pub(super) fn all(&self) -> &[Entry<'a>] {
        &self.0.entries
    }
}

/// Memory for values, which returns to its pool.
struct Scratch<'a> {
    entries: Vec<Entry<'a>>,
}

/// The entry of a container, and its term.
type Container<'a> = (usize, Raw<'a>);

/// The entries for which each thread keeps memory: 40 KiB.
const KEPT_ENTRIES: usize = 1024;
/// For more entries, mapping new pages takes a quarter of the time of validating 10,000 rows. So
/// the memory of two such terms is kept, up to 4 MiB each.
const LARGE_ENTRIES: usize = 100 * KEPT_ENTRIES;
const KEPT_LARGE: usize = 2;

thread_local! {
    static KEPT: Cell<Vec<Entry<'static>>> = const { Cell::new(Vec::new()) };
    static KEPT_CONTAINERS: Cell<Vec<Container<'static>>> = const { Cell::new(Vec::new()) };
}

static LARGE: Mutex<Vec<Vec<Entry<'static>>>> = Mutex::new(Vec::new());

impl Scratch<'_> {
    fn take() -> Self {
        let mut entries = emptied(KEPT.take());
        if entries.capacity() == 0 {
            entries.reserve(64);
        }
        Self { entries }
    }

    /// Moves to the memory for large terms, if it is available.
    #[cold]
    fn enlarge(&mut self) {
        let spare = LARGE.lock().unwrap_or_else(PoisonError::into_inner).pop();
        if let Some(entries) = spare {
            let mut entries = emptied(entries);
            entries.append(&mut self.entries);
            self.entries = entries;
        }
    }
}

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        let entries = emptied(mem::take(&mut self.entries));
        if entries.capacity() <= KEPT_ENTRIES {
            KEPT.set(entries);
        } else if entries.capacity() <= LARGE_ENTRIES {
            let mut large = LARGE.lock().unwrap_or_else(PoisonError::into_inner);
            if large.len() < KEPT_LARGE {
                large.push(entries);
            }
        }
    }
}

/// The same memory for another lifetime: collecting in place allocates no new vector.
fn emptied<T, U>(mut spare: Vec<T>) -> Vec<U> {
    spare.clear();
    spare.into_iter().filter_map(|_| None).collect()
}

impl Span {
    /// The container's values, out of all values.
    #[inline]
    pub(super) fn of<'v, 'a>(self, all: &'v [Entry<'a>]) -> &'v [Entry<'a>] {
        all.get(self.start..self.end).unwrap_or_default()
    }
}

/// The member of that name.
#[inline]
pub(super) fn member<'v, 'a>(members: &'v [Entry<'a>], name: &str) -> Option<&'v Entry<'a>> {
    if members.len() < SORTED_SIZE {
        return members.iter().find(|member| member.name == name);
    }
    let found = members.binary_search_by(|member| member.name.cmp(name));
    found.ok().and_then(|place| members.get(place))
}

struct Building<'a> {
    env: Env<'a>,
    scratch: Scratch<'a>,
    /// Containers whose contents are not collected yet.
    containers: Vec<Container<'a>>,
    /// The rest of the budget, in bytes of text.
    left: usize,
}

impl<'a> Building<'a> {
    /// A value costs about as much as eight bytes of text.
    #[inline]
    fn push(&mut self, name: &'a str, term: Raw<'a>) -> Option<()> {
        self.left = self.left.checked_sub(8)?;
        let value = if let Some(text) = term.bytes(self.env) {
            self.left = self.left.checked_sub(text.len())?;
            Value::Text(simdutf8::basic::from_utf8(text).ok()?)
        } else {
            self.other(term)?
        };
        if self.scratch.entries.len() == KEPT_ENTRIES {
            self.scratch.enlarge();
        }
        self.scratch.entries.push(Entry { name, value });
        Some(())
    }

    /// A value that is no binary. The contents of a container are collected later.
    #[inline]
    fn other(&mut self, term: Raw<'a>) -> Option<Value<'a>> {
        match term.kind(self.env) {
            TermKind::Integer => match term.integer(self.env) {
                Some(value) => Some(Value::Signed(value)),
                None => self.large(term.term(self.env)),
            },
            TermKind::Float => term.float(self.env).map(Value::Float),
            TermKind::Atom => Some(self.atom(term)),
            TermKind::List | TermKind::Map => {
                self.containers.push((self.scratch.entries.len(), term));
                Some(Value::Null)
            }
            _ => None,
        }
    }

    #[cold]
    fn large(&mut self, term: Term<'a>) -> Option<Value<'a>> {
        if let Ok(value) = term.decode() {
            return Some(Value::Unsigned(value));
        }
        let (digits, cost) = number::digits(term, self.left).ok()?;
        self.left = self.left.checked_sub(cost)?;
        let binary: Term<'a> = NewBinary::from_slice(self.env, digits.as_bytes()).into();
        let digits = Raw::from(binary).bytes(self.env)?;
        std::str::from_utf8(digits).ok().map(Value::Big)
    }

    fn atom(&self, term: Raw<'a>) -> Value<'a> {
        if term.is(atoms::nil()) {
            Value::Null
        } else if term.is(atoms::true_()) {
            Value::Boolean(true)
        } else if term.is(atoms::false_()) {
            Value::Boolean(false)
        } else {
            Value::Text(atom_text::of(term.term(self.env)))
        }
    }

    /// Collects the contents of the containers from `mark` on, which are `depth` levels deep.
    fn expand(&mut self, mark: usize, depth: usize) -> Option<()> {
        let end = self.containers.len();
        for index in mark..end {
            let (place, term) = self.containers.get(index).copied()?;
            if depth >= MAX_DEPTH {
                return None;
            }
            let value = match term.size(self.env) {
                Some(size) => Value::Object(self.members(term, size, depth)?),
                None => Value::Array(self.elements(term, depth)?),
            };
            self.scratch.entries.get_mut(place)?.value = value;
        }
        self.containers.truncate(mark);
        Some(())
    }

    fn elements(&mut self, list: Raw<'a>, depth: usize) -> Option<Span> {
        let (mark, start) = (self.containers.len(), self.scratch.entries.len());
        let mut rest = list;
        while let Some((element, tail)) = rest.cell(self.env) {
            self.push("", element)?;
            rest = tail;
        }
        if !rest.term(self.env).is_empty_list() {
            return None;
        }
        let end = self.scratch.entries.len();
        self.expand(mark, depth.saturating_add(1))?;
        Some(Span { start, end })
    }

    /// Refuses mixed keys, because an atom and a binary may be the same text, and structs, which
    /// have another wire form.
    fn members(&mut self, map: Raw<'a>, size: usize, depth: usize) -> Option<Span> {
        let (mark, start) = (self.containers.len(), self.scratch.entries.len());
        let mut has_atoms = None;
        for (key, value) in RawMembers::of(map, self.env) {
            let (name, is_atom) = match key.bytes(self.env) {
                Some(name) => (simdutf8::basic::from_utf8(name).ok()?, false),
                None => (self.atom_name(key)?, true),
            };
            if *has_atoms.get_or_insert(is_atom) != is_atom {
                return None;
            }
            self.push(name, value)?;
        }
        let end = self.scratch.entries.len();
        self.expand(mark, depth.saturating_add(1))?;
        if size >= SORTED_SIZE {
            let members = self.scratch.entries.get_mut(start..end)?;
            members.sort_unstable_by_key(|member| member.name);
        }
        Some(Span { start, end })
    }

    fn atom_name(&self, key: Raw<'a>) -> Option<&'static str> {
        let key_term = key.term(self.env);
        (key_term.is_atom() && !key.is(atoms::struct_())).then(|| atom_text::of(key_term))
    }
}
