//! Calls the canonical-schema algebra of the `jsonschema` crate.

use jsonschema::PatternOptions;
use jsonschema::canonical::{
    CanonicalizationError, CanonicalizeOptions, Cause, PreparedDocument, Satisfiability,
    UnsatisfiableReason, options,
};
use serde_json::Value;

use super::Answer;
use super::caps::{MAX_COMPARED, MAX_READ, refers, within};

/// An unsatisfiable place of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// JSON Pointer of the place.
    pub pointer: String,
    /// The keywords at or below the place that no value satisfies together, sorted. With more than
    /// two keywords, `type` is left out.
    pub keywords: Vec<String>,
}

/// The options of validation: nothing is fetched, patterns take linear time.
fn canonical(asserts_formats: bool) -> CanonicalizeOptions<'static> {
    options()
        .offline()
        .should_validate_formats(asserts_formats)
        .with_pattern_options(PatternOptions::regex())
}

pub(super) fn satisfiable(schema: &Value) -> Answer {
    if !within(schema, MAX_READ) {
        return Answer::Unknown;
    }
    match canonical(false)
        .canonicalize(schema)
        .map(|known| known.satisfiability())
    {
        Ok(Satisfiability::Yes) => Answer::Yes,
        Ok(Satisfiability::No) => Answer::No,
        _ => Answer::Unknown,
    }
}

/// A document whose parts can be compared.
pub(super) struct Document<'s> {
    root: &'s Value,
    prepared: PreparedDocument<'s>,
}

impl<'s> Document<'s> {
    pub(super) fn new(
        root: &'s Value,
        asserts_formats: bool,
    ) -> Result<Self, CanonicalizationError> {
        let prepared = canonical(asserts_formats).prepare(root)?;
        Ok(Self { root, prepared })
    }

    pub(super) fn root(&self) -> &'s Value {
        self.root
    }

    fn is_small(&self, part: &Value) -> bool {
        let read = if refers(part) { self.root } else { part };
        within(read, MAX_COMPARED)
    }

    /// Whether the part of this document at `pointer` accepts every value of the other part.
    pub(super) fn covers(
        &self,
        pointer: &str,
        other: &Document<'_>,
        other_pointer: &str,
    ) -> Answer {
        let parts = self
            .root
            .pointer(pointer)
            .zip(other.root.pointer(other_pointer));
        let Some((part, other_part)) = parts else {
            return Answer::Unknown;
        };
        if !self.is_small(part) || !other.is_small(other_part) {
            return Answer::Unknown;
        }
        let asked = self.prepared.canonicalize_at(pointer).and_then(|outer| {
            let inner = other.prepared.canonicalize_at(other_pointer)?;
            outer.covers(&inner)
        });
        match asked {
            Ok(jsonschema::canonical::Containment::Yes) => Answer::Yes,
            Ok(jsonschema::canonical::Containment::No) => Answer::No,
            _ => Answer::Unknown,
        }
    }
}

pub(super) fn contradictions(schema: &Value) -> Vec<Contradiction> {
    if !within(schema, MAX_READ) {
        return Vec::new();
    }
    let found = canonical(false)
        .prepare(schema)
        .and_then(|document| document.unsatisfiable());
    let mut found: Vec<Contradiction> = found
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(pointer, reason)| contradiction(schema, pointer, &reason))
        .collect();
    // A cycle that requires endless nesting has no single place.
    if found.is_empty()
        && schema.is_object()
        && satisfiable(schema) == Answer::No
        && !is_never(schema)
    {
        found.push(Contradiction {
            pointer: String::new(),
            keywords: Vec::new(),
        });
    }
    found
}

fn contradiction(
    schema: &Value,
    pointer: String,
    reason: &UnsatisfiableReason,
) -> Option<Contradiction> {
    if schema.pointer(&pointer).is_none_or(is_never) {
        return None;
    }
    let causes: &[Cause] = match reason {
        UnsatisfiableReason::Literal => return None,
        // The part is reported with its own reason and pointer.
        UnsatisfiableReason::Empty(cause) if cause.keywords.is_empty() => return None,
        UnsatisfiableReason::Empty(cause) => std::slice::from_ref(cause),
        UnsatisfiableReason::Conflict(causes) => causes,
    };
    let mut keywords: Vec<String> = causes
        .iter()
        .flat_map(|cause| cause.keywords.clone())
        .collect();
    keywords.sort();
    keywords.dedup();
    // `type` is part of every conflict, but explains nothing if other keywords conflict.
    if keywords.len() > 2 {
        keywords.retain(|keyword| keyword != "type");
    }
    Some(Contradiction { pointer, keywords })
}

/// Whether the schema is a spelling of "no value": `false`, `{"not": {}}` or `{"not": true}`.
fn is_never(schema: &Value) -> bool {
    match schema {
        Value::Bool(allowed) => !allowed,
        Value::Object(object) => object.get("not").is_some_and(|inner| {
            inner == &Value::Bool(true) || inner.as_object().is_some_and(serde_json::Map::is_empty)
        }),
        _ => false,
    }
}
