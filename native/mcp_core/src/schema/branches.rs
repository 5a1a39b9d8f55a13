//! Explains a value that fits no alternative: by their common demand, or by the closest
//! alternative.

use std::collections::BTreeSet;

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use serde_json::Value;

use super::Problem;
use super::describe::quoted;
use super::words::{NULL, one_of, type_names, types};

/// The errors of one alternative.
type Alternative = Vec<ValidationError<'static>>;

/// Alternatives that are looked at. A longer list has no short explanation.
const MAX_ALTERNATIVES: usize = 256;

/// The single problem of a place where every alternative asks for a type or for certain values:
/// `a string or null`, or the values of the property that tells the alternatives apart.
pub(super) fn common(keyword: &str, alternatives: &[Alternative]) -> Option<Problem> {
    if alternatives.len() > MAX_ALTERNATIVES {
        return None;
    }
    if let Some(problem) = missing(keyword, alternatives) {
        return Some(problem);
    }
    let first = alternatives.first()?;
    let mut places = first.iter().filter(|error| names_values(error)).map(place);
    let place = places.find(|&place| {
        alternatives
            .iter()
            .all(|errors| errors.iter().any(|error| is_at(error, place)))
    })?;
    let at_place = alternatives
        .iter()
        .flatten()
        .filter(|error| is_at(error, place));
    Some(union(place, keyword, at_place))
}

/// The single problem of an object whose only fault, in every alternative, is a missing property.
fn missing(keyword: &str, alternatives: &[Alternative]) -> Option<Problem> {
    let place = alternatives.first()?.first()?.instance_path();
    let mut sets: Vec<String> = Vec::new();
    for errors in alternatives {
        let names: Option<Vec<&str>> = errors
            .iter()
            .map(|error| match error.kind() {
                Kind::Required { property } if error.instance_path() == place => property.as_str(),
                _ => None,
            })
            .collect();
        let set = quoted(&names.filter(|names| !names.is_empty())?, "and");
        if !sets.contains(&set) {
            sets.push(set);
        }
    }
    let words = format!("an object with the property {}", sets.join(", or with "));
    Some(Problem::new(place.as_str(), keyword, &words))
}

fn union<'e>(
    place: &str,
    keyword: &str,
    errors: impl Iterator<Item = &'e ValidationError<'static>>,
) -> Problem {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    let mut values: Vec<&Value> = Vec::new();
    for error in errors {
        match error.kind() {
            Kind::Type { kind } => names.extend(type_names(kind)),
            Kind::Constant { expected_value } => values.push(expected_value),
            Kind::Enum { options } => values.extend(options.as_array().into_iter().flatten()),
            _ => {}
        }
    }
    let null = names.remove(NULL).then_some(NULL);
    let names: Vec<&str> = names.into_iter().chain(null).collect();
    let (listed, allowed) = one_of(values.iter().copied());
    let expected = match (names.is_empty(), values.is_empty()) {
        (false, true) => types(&names),
        (true, _) => listed,
        (false, false) => format!("{}, or {listed}", types(&names)),
    };
    let mut problem = Problem::new(place, keyword, &expected);
    problem.allowed = allowed;
    problem
}

/// The alternative closest to the value: the right type, matching properties with fixed values, and
/// the fewest errors.
pub(super) fn closest<'e>(
    place: &Location,
    alternatives: &'e [Alternative],
) -> Option<&'e [ValidationError<'static>]> {
    let rated = alternatives.iter().filter(|errors| !errors.is_empty());
    let best = rated.min_by_key(|errors| {
        let other_type = errors.iter().any(|error| is_at(error, place.as_str()));
        let other_kind = errors.iter().filter(|error| is_fixed(error)).count();
        (other_type, other_kind, errors.len())
    });
    best.map(Vec::as_slice)
}

fn place<'e>(error: &'e ValidationError<'_>) -> &'e str {
    error.instance_path().as_str()
}

fn is_at(error: &ValidationError<'_>, at: &str) -> bool {
    place(error) == at && names_values(error)
}

/// Whether the error lists the allowed types or values.
fn names_values(error: &ValidationError<'_>) -> bool {
    matches!(
        error.kind(),
        Kind::Type { .. } | Kind::Constant { .. } | Kind::Enum { .. }
    )
}

fn is_fixed(error: &ValidationError<'_>) -> bool {
    matches!(error.kind(), Kind::Constant { .. } | Kind::Enum { .. })
}
