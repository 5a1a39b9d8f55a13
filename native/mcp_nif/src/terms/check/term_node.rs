//! What stands for a term where the schema validator looks at it.

use std::sync::OnceLock;

use rustler::{Atom, Term};

use super::values::{Entry, Values};

/// The representation: schemas compiled for it check terms.
pub(crate) enum TermJson {}

/// A property's name, with its atom once there is one.
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
    /// A property's name, looked at as a value.
    Name(&'a str),
    /// One of the values of a term that was gone through before, and all of them.
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
