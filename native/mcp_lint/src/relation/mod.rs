//! Relations of schemas: whether any value satisfies a schema, and whether a schema accepts every
//! value of another.
//!
//! No algorithm answers both questions for all schemas in reasonable time, so the answer is yes,
//! no or unknown. *No* to containment comes from a value that was checked against both schemas,
//! or from the canonical-schema algebra of the `jsonschema` crate. *Yes* comes from the algebra,
//! for a whole schema or for the properties of plain objects one by one. `caps` excludes questions
//! that would take the algebra seconds.

mod algebra;
mod caps;
mod formats;
mod hints;
mod parts;
mod samples;

pub use algebra::Contradiction;
pub(crate) use caps::refers;
pub(crate) use formats::{asserted_only, passes_formats};

use serde_json::Value;

use mcp_core::schema::{SchemaError, SchemaLimits, SerdeJson, Validator, compile, without_panic};

/// The answer to a question about schemas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The statement is true.
    Yes,
    /// The statement is false.
    No,
    /// The answer could not be determined.
    Unknown,
}

impl Answer {
    /// The answer's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether one schema accepts every value of another.
#[derive(Clone, Debug, PartialEq)]
pub struct Containment {
    /// The answer.
    pub answer: Answer,
    /// A value that the inner schema accepts and the outer schema refuses, if one was found.
    pub witness: Option<Value>,
}

/// Whether any value satisfies `schema`.
///
/// Like compiling, this wants a thread with 64 MiB of stack.
///
/// # Errors
/// [`SchemaError`] when it is not a schema within the limits.
///
/// # Examples
/// ```
/// use mcp_core::schema::SchemaLimits;
/// use mcp_lint::relation::{Answer, satisfiable};
/// use serde_json::json;
///
/// let limits = SchemaLimits::default();
/// let empty = json!({"type": "integer", "minimum": 2, "maximum": 1});
/// assert_eq!(satisfiable(&empty, &limits)?, Answer::No);
/// assert_eq!(satisfiable(&json!({"type": "integer"}), &limits)?, Answer::Yes);
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
pub fn satisfiable(schema: &Value, limits: &SchemaLimits) -> Result<Answer, SchemaError> {
    let validator = validator(schema, limits)?;
    let hints = hints::Hints::of([schema]);
    let found = samples::samples(schema, &hints);
    if found.iter().any(|value| validator.is_valid(value)) {
        return Ok(Answer::Yes);
    }
    Ok(without_panic(|| algebra::satisfiable(schema)).unwrap_or(Answer::Unknown))
}

/// Whether `outer` accepts every value of `inner`.
///
/// Like compiling, this wants a thread with 64 MiB of stack.
///
/// # Errors
/// [`SchemaError`] if one of them is not a schema within the limits.
///
/// # Examples
/// ```
/// use mcp_core::schema::SchemaLimits;
/// use mcp_lint::relation::{Answer, contains};
/// use serde_json::json;
///
/// let limits = SchemaLimits::default();
/// let [wide, narrow] = [10, 5].map(|most| json!({"type": "integer", "maximum": most}));
/// assert_eq!(contains(&wide, &narrow, &limits)?.answer, Answer::Yes);
///
/// let lost = contains(&narrow, &wide, &limits)?;
/// assert_eq!(lost.answer, Answer::No);
/// assert_eq!(lost.witness, Some(json!(10)));
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
pub fn contains(
    outer: &Value,
    inner: &Value,
    limits: &SchemaLimits,
) -> Result<Containment, SchemaError> {
    let takes = validator(outer, limits)?;
    let took = validator(inner, limits)?;
    let lost = |value: &Value| took.is_valid(value) && !takes.is_valid(value);
    if let Some(witness) = samples::witness(outer, inner, lost) {
        return Ok(Containment {
            answer: Answer::No,
            witness: Some(witness),
        });
    }
    Ok(Containment {
        answer: without_panic(|| parts::covers(outer, inner, false)).unwrap_or(Answer::Unknown),
        witness: None,
    })
}

/// The places of a schema that no value satisfies, each with its contradicting keywords. Places
/// written as `false` or `{"not": {}}` are intended and are left out.
///
/// The list may be incomplete: not every unsatisfiable place can be found.
///
/// # Errors
/// [`SchemaError`] when it is not a schema within the limits.
///
/// # Examples
/// ```
/// use mcp_core::schema::SchemaLimits;
/// use mcp_lint::relation::contradictions;
///
/// let schema = serde_json::json!({"properties": {"n": {"minimum": 2, "maximum": 1, "type": "integer"}}});
/// let found = contradictions(&schema, &SchemaLimits::default())?;
/// assert_eq!(found[0].pointer, "/properties/n");
/// assert_eq!(found[0].keywords, ["maximum", "minimum"]);
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
pub fn contradictions(
    schema: &Value,
    limits: &SchemaLimits,
) -> Result<Vec<Contradiction>, SchemaError> {
    drop(validator(schema, limits)?);
    Ok(without_panic(|| algebra::contradictions(schema)).unwrap_or_default())
}

fn validator(schema: &Value, limits: &SchemaLimits) -> Result<Validator<SerdeJson>, SchemaError> {
    compile(schema.to_string().as_bytes(), limits)
}
