//! Compares the validation of this library with the `jsonschema` crate. The code is here and not in
//! the targets, because each target would compile the generic code again, which takes long.

use std::cell::OnceCell;
use std::sync::{Arc, LazyLock};

use jsonschema::PatternOptions;
use mcp_core::json::{Limits, check};
use mcp_core::schema::{
    Change, Edit, Formats, Problem, SchemaError, SchemaLimits, SchemaOptions, Step, compile_with,
};
use serde_json::{Number, Value, from_str};

use crate::worker::Worker;

/// The stack of the thread that compiles schemas.
pub const COMPILER_STACK: usize = 64 * 1024 * 1024;

/// The stack of a dirty scheduler thread of the BEAM, where values are checked.
const CHECKER_STACK: usize = 320 * 1024;

/// The thread that compiles schemas.
pub static COMPILER: LazyLock<Worker> = LazyLock::new(|| Worker::with_stack(COMPILER_STACK));

/// The thread that checks values.
pub static CHECKER: LazyLock<Worker> = LazyLock::new(|| Worker::with_stack(CHECKER_STACK));

/// The steps that take less than 100 ms in the instrumented build, which is the slower one.
const MAX_STEPS: u64 = 500_000;

/// The largest expressions whose size is computed in less than 100 ms.
const MAX_REGEX_BYTES: usize = 32 * 1024;

/// The representation of values.
pub type Json = mcp_core::schema::SerdeJson;

/// A compiled schema.
pub type Validator = mcp_core::schema::Validator<Json>;

/// An input's schema, and the value after the NUL; `null` if that is no JSON.
pub fn split(bytes: &[u8]) -> (&[u8], Arc<Value>) {
    let place = bytes.iter().position(|byte| *byte == 0);
    let (schema, value) = bytes.split_at(place.unwrap_or(bytes.len()));
    let value = value.get(1..).unwrap_or_default();
    (
        schema,
        Arc::new(serde_json::from_slice(value).unwrap_or_default()),
    )
}

/// Compiles with this library; formats are annotations.
pub fn compile(schema: &[u8]) -> Result<Validator, SchemaError> {
    with_formats(schema, Formats::Annotate)
}

/// Compiles with this library; every format is asserted.
pub fn compile_asserting(schema: &[u8]) -> Result<Validator, SchemaError> {
    with_formats(schema, Formats::Assert)
}

fn with_formats(schema: &[u8], formats: Formats) -> Result<Validator, SchemaError> {
    let limits = SchemaLimits {
        max_steps: MAX_STEPS,
        max_regex_bytes: MAX_REGEX_BYTES,
        ..SchemaLimits::default()
    };
    compile_with(
        schema,
        &SchemaOptions {
            limits,
            formats,
            documents: &[],
        },
    )
}

/// The most changes that are undone one by one.
const MAX_UNDONE: usize = 8;

/// A repaired value.
pub struct Repaired {
    /// The value after the repair.
    pub value: Value,
    /// The number of changes.
    pub changes: usize,
    /// For each of the first changes, the value without that change.
    pub undone: Vec<Value>,
}

/// Repairs a value in at most three rounds.
pub fn repair(validator: &Validator, value: &Value) -> Option<Repaired> {
    let rounds = [const { OnceCell::new() }; 3];
    let mut unused = rounds.iter();
    let mut before = Vec::new();
    let repaired = validator.repair(value, &Limits::default(), |value, edits| {
        let kept = edits.iter().take(MAX_UNDONE - before.len());
        before.extend(kept.map(|edit| {
            let mut copy = (*value).clone();
            (edit.path.clone(), place(&mut copy, &edit.path).take())
        }));
        let round = unused.next().expect("at most three rounds");
        Some(round.get_or_init(|| edited(value, edits)))
    })?;
    let undone = before.into_iter().map(|(path, before)| {
        let mut undone = repaired.node.clone();
        *place(&mut undone, &path) = before;
        undone
    });
    Some(Repaired {
        value: repaired.node.clone(),
        changes: repaired.kinds.len(),
        undone: undone.collect(),
    })
}

/// Asserts that the members that count as absent are there, and `null`.
pub fn absent(validator: &Validator, value: &Value) {
    let mut value = value.clone();
    for edit in validator.absent(&value) {
        assert_eq!(edit.change, Change::Absent);
        assert!(place(&mut value, &edit.path).is_null());
    }
}

/// The place at the end of an existing path.
fn place<'v>(value: &'v mut Value, path: &[Step]) -> &'v mut Value {
    path.iter().fold(value, |place, step| match step {
        Step::Name(name) => place.get_mut(name).expect("a member"),
        Step::Index(index) => place.get_mut(index).expect("an element"),
    })
}

/// Applies edits; every edit must have an existing place.
fn edited(value: &Value, edits: &[Edit]) -> Value {
    assert!((1..=256).contains(&edits.len()));
    let mut value = value.clone();
    for edit in edits {
        let place = place(&mut value, &edit.path);
        *place = match &edit.change {
            Change::Number(text) | Change::Json(text) => {
                assert_eq!(check(text.as_bytes(), &Limits::default()), Ok(()));
                from_str(text).expect("JSON")
            }
            Change::Boolean(value) => Value::Bool(*value),
            Change::List => Value::Array(vec![place.take()]),
            other => panic!("{other:?}"),
        };
    }
    value
}

/// Whether a value is valid, by both methods.
pub fn judge(validator: &Validator, value: &Value) -> (bool, Result<(), Vec<Problem>>) {
    (validator.is_valid(value), validator.check(value))
}

/// The verdict of the crate without step counting; `None` if the crate refuses the schema, or means
/// another number.
pub fn judge_uncounted(schema: &[u8], value: &Value) -> Option<bool> {
    let schema: Value = serde_json::from_slice(schema).ok()?;
    if any(&schema, &is_fraction) && any(value, &is_large_float) {
        return None;
    }
    let validator = jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .should_validate_formats(false)
        .build(&schema);
    Some(validator.ok()?.is_valid(value))
}

/// A `multipleOf` may be one.
fn is_fraction(number: &Number) -> bool {
    number.as_f64().is_some_and(|value| value.fract() != 0.0)
}

/// A [`Value`] keeps the nearest float of an integer beyond 64 bits. To the crate the float is its
/// bits, to the library the digits that write it: 7.7e54 is a multiple of 5.5 only as digits.
fn is_large_float(number: &Number) -> bool {
    number.is_f64()
        && number
            .as_f64()
            .is_some_and(|value| value.abs() >= 2_f64.powi(53))
}

fn any(value: &Value, is: &impl Fn(&Number) -> bool) -> bool {
    match value {
        Value::Number(number) => is(number),
        Value::Array(items) => items.iter().any(|item| any(item, is)),
        Value::Object(members) => members.values().any(|member| any(member, is)),
        _ => false,
    }
}
