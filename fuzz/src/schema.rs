//! Schemas as this library and as the `jsonschema` crate alone see them: here, and not in the targets, because what is
//! generic is compiled where it is used, which takes long.

use jsonschema::PatternOptions;
use mcp_core::schema::{Problem, SchemaError, SchemaLimits};
use serde_json::Value;

/// The stack of the thread that schemas are compiled on.
pub const COMPILER_STACK: usize = 64 * 1024 * 1024;

/// The representation of values.
pub type Json = mcp_core::schema::SerdeJson;

/// A compiled schema.
pub type Validator = mcp_core::schema::Validator<Json>;

/// Ours; see [`mcp_core::schema::compile`].
pub fn compile(schema: &[u8], limits: &SchemaLimits) -> Result<Validator, SchemaError> {
    mcp_core::schema::compile(schema, limits)
}

/// Whether a value is valid, asked in both ways.
pub fn judge(validator: &Validator, value: &Value) -> (bool, Result<(), Vec<Problem>>) {
    (validator.is_valid(value), validator.check(value))
}

/// What the crate says without our counting; `None` for what is no schema to it.
pub fn judge_uncounted(schema: &[u8], value: &Value) -> Option<bool> {
    let schema: Value = serde_json::from_slice(schema).ok()?;
    let validator = jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .build(&schema);
    Some(validator.ok()?.is_valid(value))
}
