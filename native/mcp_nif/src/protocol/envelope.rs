//! Envelopes as the structured content of a tool's result.

use rustler::{Encoder, Env, Error, Term};

use crate::atoms;

/// The four members of an envelope as a map; other terms unchanged.
///
/// A validator would first encode a struct, and the envelope's data may be large.
pub(super) fn members<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
    let is_envelope = term
        .map_get(atoms::struct_())
        .is_ok_and(|module| atoms::envelope() == module);
    if !is_envelope {
        return term;
    }
    let fields = [
        ("success", atoms::success()),
        ("data", atoms::data()),
        ("error", atoms::error()),
        ("meta", atoms::meta()),
    ];
    let pairs: Result<Vec<(Term<'a>, Term<'a>)>, Error> = fields
        .iter()
        .map(|(name, field)| Ok((name.encode(env), term.map_get(*field)?)))
        .collect();
    pairs
        .and_then(|pairs| Term::map_from_pairs(env, &pairs))
        .unwrap_or(term)
}
