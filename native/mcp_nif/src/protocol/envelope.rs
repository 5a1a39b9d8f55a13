//! Envelopes as the structured content of a tool's result.

use rustler::{Encoder, Env, Error, Term};

use crate::atoms;

/// An envelope's four members as a map; any other term as it is.
///
/// A struct has to be written before a schema can be asked about it, and its data may be large.
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
