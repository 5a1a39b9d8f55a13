//! Which terms the schema validator may look at as they are.

use mcp_core::json::{Limits, read};
use rustler::{Binary, Env, MapIterator, Term, TermType};

use super::error::{EncodeError, EncodeErrorKind};
use super::read::TermSink;
use super::write::{Context, MAX_DEPTH, write_value};
use crate::atoms;

/// A term that JSON text could have been read into, but that maps may have atoms for keys and atoms
/// may stand for strings: the term itself where it is one; else what is read back after writing it
/// (structs become what they are on the wire).
///
/// # Errors
/// Why the term cannot be written as JSON; [`EncodeErrorKind::OverBudget`] for one that is too large
/// to be looked at within the context's budget.
pub(crate) fn plain<'a>(
    env: Env<'a>,
    term: Term<'a>,
    context: &Context,
) -> Result<Term<'a>, EncodeError> {
    match look(term, context.budget) {
        Look::Plain => Ok(term),
        Look::Large => Err(EncodeError::new(EncodeErrorKind::OverBudget, "")),
        Look::Other => read_back(env, term, context),
    }
}

fn read_back<'a>(env: Env<'a>, term: Term<'a>, context: &Context) -> Result<Term<'a>, EncodeError> {
    let mut json = Vec::new();
    write_value(&mut json, term, context)?;
    let limits = Limits {
        max_bytes: usize::MAX,
        max_values: usize::MAX,
        max_digits: usize::MAX,
        ..Limits::default()
    };
    read(&json, &limits, &mut TermSink::new(env))
        .map_err(|error| EncodeError::new(EncodeErrorKind::Unsupported, error.to_string()))
}

enum Look {
    Plain,
    Other,
    Large,
}

/// Walks without recursion: nothing is known of the term yet, least of all its depth.
fn look(root: Term<'_>, budget: usize) -> Look {
    let mut open = Vec::with_capacity(32);
    open.push((root, 0_usize));
    let mut spent = 0_usize;
    while let Some((term, depth)) = open.pop() {
        let before = open.len();
        let deeper = depth.saturating_add(1);
        let fits = match term.get_type() {
            TermType::Binary => utf8_length(term)
                .inspect(|length| spent = spent.saturating_add(*length))
                .is_some(),
            TermType::Atom | TermType::Integer | TermType::Float => true,
            TermType::List => depth < MAX_DEPTH && push_elements(&mut open, term, deeper),
            TermType::Map => depth < MAX_DEPTH && push_members(&mut open, term, deeper),
            _ => false,
        };
        if !fits {
            return Look::Other;
        }
        // A value is worth about as much as eight bytes of text.
        spent = spent.saturating_add(open.len().saturating_sub(before).saturating_mul(8));
        if spent > budget {
            return Look::Large;
        }
    }
    Look::Plain
}

fn utf8_length(term: Term<'_>) -> Option<usize> {
    let binary = Binary::from_term(term).ok()?;
    simdutf8::basic::from_utf8(binary.as_slice())
        .ok()
        .map(str::len)
}

fn push_elements<'a>(open: &mut Vec<(Term<'a>, usize)>, list: Term<'a>, depth: usize) -> bool {
    let mut rest = list;
    while let Ok((element, tail)) = rest.list_get_cell() {
        open.push((element, depth));
        rest = tail;
    }
    rest.is_empty_list()
}

/// Keys of both kinds could be the same text, and a struct has a form of its own.
fn push_members<'a>(open: &mut Vec<(Term<'a>, usize)>, map: Term<'a>, depth: usize) -> bool {
    let (mut atoms, mut binaries) = (false, false);
    for (key, value) in MapIterator::new(map).into_iter().flatten() {
        if key.is_atom() {
            atoms = true;
        } else if utf8_length(key).is_some() {
            binaries = true;
        } else {
            return false;
        }
        if atoms && (binaries || atoms::struct_() == key) {
            return false;
        }
        open.push((value, depth));
    }
    true
}
