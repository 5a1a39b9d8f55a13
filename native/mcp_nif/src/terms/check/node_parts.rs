//! Objects and arrays for [`super::node`].

use std::borrow::Cow;
use std::slice;

use jsonschema::json::{Array, Object};
use rustler::{Atom, Env, NewBinary, Term};

use super::term_node::{PropertyName, TermJson, TermNode};
use super::values::{Entry, member};
use crate::terms::atom_text;
use crate::terms::raw::{Raw, RawMembers};

/// A map whose keys are all binaries or all atoms.
pub(crate) enum TermObject<'a> {
    Term(Term<'a>),
    /// The members, and all values.
    Known(&'a [Entry<'a>], &'a [Entry<'a>]),
}

fn by_binary<'a>(map: Term<'a>, key: &PropertyName) -> Option<Term<'a>> {
    let key: Term<'a> = NewBinary::from_slice(map.get_env(), key.text.as_bytes()).into();
    map.map_get(key).ok()
}

/// Looks up an existing atom and never creates one. An atom that was found is cached, because it
/// never goes away.
fn by_atom<'a>(map: Term<'a>, key: &PropertyName) -> Option<Term<'a>> {
    if let Some(atom) = key.atom.get() {
        return map.map_get(*atom).ok();
    }
    let atom = Atom::existing_from_str(map.get_env(), &key.text).ok()?;
    map.map_get(key.atom.get_or_init(|| atom)).ok()
}

impl<'a> Object<'a, TermJson> for TermObject<'a> {
    type Node = TermNode<'a>;
    type MemberName = Cow<'a, str>;
    type MembersIter = TermMembers<'a>;

    fn len(&self) -> usize {
        match self {
            Self::Term(map) => map.map_size().unwrap_or_default(),
            Self::Known(members, _) => members.len(),
        }
    }

    fn get(&self, key: &PropertyName) -> Option<TermNode<'a>> {
        match *self {
            Self::Term(map) => by_binary(map, key)
                .or_else(|| by_atom(map, key))
                .map(TermNode::new),
            Self::Known(members, all) => {
                member(members, &key.text).map(|entry| TermNode::known(entry, all))
            }
        }
    }

    fn members(&self) -> TermMembers<'a> {
        match *self {
            Self::Term(map) => {
                let env = map.get_env();
                TermMembers::Term(env, Box::new(RawMembers::of(map.into(), env)))
            }
            Self::Known(members, all) => TermMembers::Known(members.iter(), all),
        }
    }
}

/// A map's members.
pub(crate) enum TermMembers<'a> {
    /// Boxed, because it is large and moves between calls.
    Term(Env<'a>, Box<RawMembers<'a>>),
    Known(slice::Iter<'a, Entry<'a>>, &'a [Entry<'a>]),
}

impl<'a> Iterator for TermMembers<'a> {
    type Item = (Cow<'a, str>, TermNode<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Known(members, all) => {
                let entry = members.next()?;
                Some((Cow::Borrowed(entry.name), TermNode::known(entry, all)))
            }
            Self::Term(env, members) => {
                let (key, value) = members.next()?;
                let name = match key.bytes(*env) {
                    Some(name) => simdutf8::basic::from_utf8(name).unwrap_or_default(),
                    None => atom_text::of(key.term(*env)),
                };
                Some((Cow::Borrowed(name), TermNode::new(value.term(*env))))
            }
        }
    }
}

/// A list.
pub(crate) enum TermArray<'a> {
    Term(Term<'a>),
    /// The elements, and all values.
    Known(&'a [Entry<'a>], &'a [Entry<'a>]),
}

impl<'a> Array<'a, TermJson> for TermArray<'a> {
    type Node = TermNode<'a>;
    type ElementsIter = TermElements<'a>;

    fn len(&self) -> usize {
        match self {
            Self::Term(list) => list.list_length().unwrap_or_default(),
            Self::Known(elements, _) => elements.len(),
        }
    }

    fn elements(&self) -> TermElements<'a> {
        match *self {
            Self::Term(list) => TermElements::Term(list),
            Self::Known(elements, all) => TermElements::Known(elements.iter(), all),
        }
    }
}

/// A list's elements.
pub(crate) enum TermElements<'a> {
    Term(Term<'a>),
    Known(slice::Iter<'a, Entry<'a>>, &'a [Entry<'a>]),
}

impl<'a> Iterator for TermElements<'a> {
    type Item = TermNode<'a>;

    #[inline]
    fn next(&mut self) -> Option<TermNode<'a>> {
        match self {
            Self::Known(elements, all) => elements.next().map(|entry| TermNode::known(entry, all)),
            Self::Term(list) => {
                let env = list.get_env();
                let (element, rest) = Raw::from(*list).cell(env)?;
                *list = rest.term(env);
                Some(TermNode::new(element.term(env)))
            }
        }
    }
}
