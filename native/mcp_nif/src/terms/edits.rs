//! Applies the edits of a repair to a term.

use mcp_core::json::UNLIMITED;
use mcp_core::schema::{Change, Edit, Step};
use rustler::{Atom, Encoder, Env, NewBinary, Term};

use super::read::read_term;

/// Applies the edits to `term`, which lies `depth` steps along their paths. The edits are sorted
/// by path and do not overlap, so the recursion is as deep as the term.
pub(crate) fn edited<'a>(
    env: Env<'a>,
    term: Term<'a>,
    edits: &[Edit],
    depth: usize,
) -> Option<Term<'a>> {
    match edits.first()?.path.get(depth) {
        None => changed(env, term, &edits.first()?.change),
        Some(Step::Name(_)) => members(env, term, edits, depth),
        Some(Step::Index(_)) => elements(env, term, edits, depth),
    }
}

fn members<'a>(env: Env<'a>, term: Term<'a>, edits: &[Edit], depth: usize) -> Option<Term<'a>> {
    let mut term = term;
    for inside in by_step(edits, depth) {
        let Some(Step::Name(name)) = inside.first()?.path.get(depth) else {
            return None;
        };
        let (key, value) = member(env, term, name)?;
        let below = depth.saturating_add(1);
        let edit = inside.first()?;
        if edit.change == Change::Absent && edit.path.len() == below {
            term = term.map_remove(key).ok()?;
            continue;
        }
        let value = edited(env, value, inside, below)?;
        term = term.map_put(key, value).ok()?;
    }
    Some(term)
}

fn elements<'a>(env: Env<'a>, term: Term<'a>, edits: &[Edit], depth: usize) -> Option<Term<'a>> {
    let mut elements: Vec<Term<'a>> = term.decode().ok()?;
    for inside in by_step(edits, depth) {
        let Some(Step::Index(index)) = inside.first()?.path.get(depth) else {
            return None;
        };
        let element = elements.get_mut(*index)?;
        *element = edited(env, *element, inside, depth.saturating_add(1))?;
    }
    Some(elements.encode(env))
}

/// The edits inside each member or element.
fn by_step(edits: &[Edit], depth: usize) -> impl Iterator<Item = &[Edit]> {
    edits.chunk_by(move |one, other| one.path.get(depth) == other.path.get(depth))
}

/// The key and the value of a member. The key may be an atom in terms outside of messages.
fn member<'a>(env: Env<'a>, map: Term<'a>, name: &str) -> Option<(Term<'a>, Term<'a>)> {
    let key: Term<'a> = NewBinary::from_slice(env, name.as_bytes()).into();
    if let Ok(value) = map.map_get(key) {
        return Some((key, value));
    }
    let key = Atom::existing_from_str(env, name).ok()?.to_term(env);
    Some((key, map.map_get(key).ok()?))
}

fn changed<'a>(env: Env<'a>, term: Term<'a>, change: &Change) -> Option<Term<'a>> {
    match change {
        Change::Number(text) | Change::Json(text) => {
            read_term(env, text.as_bytes(), None, &UNLIMITED).ok()
        }
        Change::Boolean(value) => Some(value.encode(env)),
        Change::List => Some(vec![term].encode(env)),
        _ => None,
    }
}
