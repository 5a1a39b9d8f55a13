//! Whether a schema refuses values only because of formats.

use jsonschema::Draft;
use serde_json::Value;

use super::{Answer, Containment, parts, samples, validator};
use mcp_core::schema::{
    Formats, SchemaError, SchemaLimits, SchemaOptions, SerdeJson, Validator, compile_with, dialect,
    rewritten, without_panic,
};

/// The schema with only its asserted `format`s.
pub(crate) fn asserted_only(schema: &Value, formats: &Formats) -> Value {
    let draft = dialect(schema, &[]).unwrap_or(Draft::Draft202012);
    rewritten(schema, &|members| {
        let format = members.get("format").and_then(Value::as_str);
        if format.is_some_and(|format| !formats.asserts(draft, format)) {
            members.shift_remove("format");
        }
    })
}

/// Whether `outer` with asserted formats accepts the same values of `inner` as with formats as
/// annotations. `contained` says whether the latter are all values of `inner`; all formats in both
/// schemas are asserted.
pub(crate) fn passes_formats(
    outer: &Value,
    inner: &Value,
    contained: Answer,
    limits: &SchemaLimits,
) -> Result<Containment, SchemaError> {
    let unformatted = validator(outer, limits)?;
    let [takes, took] = [outer, inner].map(|schema| asserting(schema, limits));
    let (takes, took) = (takes?, took?);
    let lost = |value: &Value| {
        took.is_valid(value) && unformatted.is_valid(value) && !takes.is_valid(value)
    };
    if let Some(witness) = samples::witness(outer, inner, lost) {
        return Ok(Containment {
            answer: Answer::No,
            witness: Some(witness),
        });
    }
    let answer =
        match without_panic(|| parts::covers(outer, inner, true)).unwrap_or(Answer::Unknown) {
            // Another keyword of `outer` may refuse the value.
            Answer::No if contained != Answer::Yes => Answer::Unknown,
            answer => answer,
        };
    Ok(Containment {
        answer,
        witness: None,
    })
}

fn asserting(schema: &Value, limits: &SchemaLimits) -> Result<Validator<SerdeJson>, SchemaError> {
    let options = SchemaOptions {
        limits: *limits,
        formats: Formats::Assert,
        ..SchemaOptions::default()
    };
    compile_with(schema.to_string().as_bytes(), &options)
}
