//! Decides which terms the schema validator can check directly.

use mcp_core::json::Limits;
use rustler::{Env, Term};

use super::values::Values;
use crate::atoms;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::number;
use crate::terms::raw::{Raw, RawMembers};
use crate::terms::read::read_term;
use crate::terms::term_kind::TermKind;
use crate::terms::write::{Context, MAX_DEPTH, write_value};

/// The normal form of a term: the terms of parsed JSON, with atoms allowed as keys and as strings.
/// A term in this form is returned unchanged; other terms are encoded and parsed again, so that
/// structs have their wire form.
///
/// # Errors
/// Why the term cannot be written as JSON; [`EncodeErrorKind::OverBudget`] if the term is too large
/// for the context's budget.
pub(crate) fn normalize<'a>(
    env: Env<'a>,
    term: Term<'a>,
    context: &Context,
) -> Result<Term<'a>, EncodeError> {
    let mut look = Looking {
        env,
        left: context.budget,
    };
    match look.at(term.into(), 0) {
        Look::Normal => Ok(term),
        Look::Large => Err(EncodeError::new(EncodeErrorKind::OverBudget, "")),
        Look::Other => read_back(env, term, context),
    }
}

/// The values of a term in its normal form.
///
/// # Errors
/// Those of [`normalize`].
pub(crate) fn normal_values<'a>(
    env: Env<'a>,
    term: Term<'a>,
    context: &Context,
) -> Result<Values<'a>, EncodeError> {
    if let Some(values) = Values::of(term, context.budget) {
        return Ok(values);
    }
    let term = normalize(env, term, context)?;
    Values::of(term, usize::MAX)
        .ok_or_else(|| EncodeError::new(EncodeErrorKind::Unsupported, "a term of unknown form"))
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
    read_term(env, &json, None, &limits)
        .map_err(|error| EncodeError::new(EncodeErrorKind::Unsupported, error.to_string()))
}

#[derive(PartialEq)]
enum Look {
    Normal,
    Other,
    Large,
}

struct Looking<'a> {
    env: Env<'a>,
    /// The rest of the budget, in bytes of text.
    left: usize,
}

impl<'a> Looking<'a> {
    /// Checks a value at this depth.
    fn at(&mut self, term: Raw<'a>, depth: usize) -> Look {
        if let Some(text) = term.bytes(self.env) {
            return if is_utf8(text) {
                self.spend(text.len())
            } else {
                Look::Other
            };
        }
        match term.kind(self.env) {
            TermKind::Atom | TermKind::Float => Look::Normal,
            TermKind::Integer => self.at_integer(term),
            TermKind::List if depth < MAX_DEPTH => self.at_elements(term, depth.saturating_add(1)),
            TermKind::Map if depth < MAX_DEPTH => self.at_members(term, depth.saturating_add(1)),
            _ => Look::Other,
        }
    }

    /// The writer refuses an integer that is too long.
    fn at_integer(&mut self, term: Raw<'a>) -> Look {
        if term.integer(self.env).is_some() {
            return Look::Normal;
        }
        number::cost(term.term(self.env)).map_or(Look::Other, |cost| self.spend(cost))
    }

    fn spend(&mut self, bytes: usize) -> Look {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Look::Normal
            }
            None => Look::Large,
        }
    }

    /// A value costs about as much as eight bytes of text.
    fn inside(&mut self, term: Raw<'a>, depth: usize) -> Look {
        match self.spend(8) {
            Look::Normal => self.at(term, depth),
            look => look,
        }
    }

    fn at_elements(&mut self, list: Raw<'a>, depth: usize) -> Look {
        let mut rest = list;
        while let Some((element, tail)) = rest.cell(self.env) {
            let look = self.inside(element, depth);
            if look != Look::Normal {
                return look;
            }
            rest = tail;
        }
        if rest.term(self.env).is_empty_list() {
            Look::Normal
        } else {
            Look::Other
        }
    }

    /// Refuses mixed keys, because an atom and a binary may be the same text, and structs, which
    /// have another wire form.
    fn at_members(&mut self, map: Raw<'a>, depth: usize) -> Look {
        let (mut atoms, mut binaries) = (false, false);
        for (key, value) in RawMembers::of(map, self.env) {
            if let Some(text) = key.bytes(self.env) {
                if !is_utf8(text) {
                    return Look::Other;
                }
                binaries = true;
            } else if key.term(self.env).is_atom() {
                atoms = true;
            } else {
                return Look::Other;
            }
            if atoms && (binaries || key.is(atoms::struct_())) {
                return Look::Other;
            }
            let look = self.inside(value, depth);
            if look != Look::Normal {
                return look;
            }
        }
        Look::Normal
    }
}

#[inline]
fn is_utf8(text: &[u8]) -> bool {
    text.is_ascii() || simdutf8::basic::from_utf8(text).is_ok()
}
