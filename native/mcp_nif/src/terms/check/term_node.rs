//! The types that represent terms to the schema validator.

use std::sync::OnceLock;

use rustler::{Atom, Term};

use super::values::{Entry, Values};

/// The representation for which schemas are compiled to check terms.
pub(crate) enum TermJson {}

/// A property's name, with its atom once it was found.
pub(crate) struct PropertyName {
    pub(super) text: String,
    pub(super) atom: OnceLock<Atom>,
}

/// One value.
#[derive(Clone)]
pub(crate) struct TermNode<'a>(pub(super) Inner<'a>);

#[derive(Clone)]
pub(super) enum Inner<'a> {
    Term(Term<'a>),
    /// A property's name as a value.
    Name(&'a str),
    /// One of the collected values of a term, and all of them.
    Known(&'a Entry<'a>, &'a [Entry<'a>]),
}

impl<'a> TermNode<'a> {
    pub(crate) fn new(term: Term<'a>) -> Self {
        Self(Inner::Term(term))
    }

    /// The root of values.
    pub(crate) fn of(values: &'a Values<'_>) -> Option<Self> {
        let all = values.all();
        all.first().map(|root| Self::known(root, all))
    }

    #[inline]
    pub(super) fn known(entry: &'a Entry<'a>, all: &'a [Entry<'a>]) -> Self {
        Self(Inner::Known(entry, all))
    }
}
