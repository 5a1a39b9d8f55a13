//! Exact comparison of numbers, for schemas whose numbers the validator's own keywords would round.
//!
//! The validator compares an integer beyond 64 bits as its nearest float. That is wrong only if the
//! schema's number is beyond 64 bits too. It also divides floats if `multipleOf` is a fraction or
//! large.

use std::cmp::Ordering;

use jsonschema::json::{Json, Node};
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Number, Value};

use super::numbers::{Divisor, Exact};

/// Every integer below this is exactly one float.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Integers from this one on have more than 64 bits.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

type Made<J> = Box<dyn for<'i> Keyword<'i, J>>;

/// The options, with an exact version of each keyword that one of `schemas` needs.
pub(super) fn exactly<'v, R, J: Json>(
    mut options: ValidationOptions<'v, R, J>,
    schemas: impl Iterator<Item = &'v Value>,
) -> ValidationOptions<'v, R, J> {
    let needed = Needed::of(schemas.collect());
    if needed.bounds {
        options = options
            .with_keyword("minimum", |parent, value, _| Ok(minimum(parent, value)))
            .with_keyword("maximum", |parent, value, _| Ok(maximum(parent, value)))
            .with_keyword("exclusiveMinimum", |_, value, _: Location| {
                Ok(bound(value, |order| order == Ordering::Greater))
            })
            .with_keyword("exclusiveMaximum", |_, value, _: Location| {
                Ok(bound(value, |order| order == Ordering::Less))
            });
    }
    if needed.constants {
        options =
            options.with_keyword("const", |_, value, _| Ok(Box::new(Constant(value.clone()))));
    }
    if needed.multiples {
        options = options.with_keyword("multipleOf", |_, value, _| multiple(value));
    }
    options
}

/// The keywords that have, in some schema, a number that the validator would round.
#[derive(Default)]
struct Needed {
    bounds: bool,
    constants: bool,
    multiples: bool,
}

impl Needed {
    fn of(mut open: Vec<&Value>) -> Self {
        let mut needed = Self::default();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(members) => {
                    for (name, member) in members {
                        let number = member.as_number();
                        needed.bounds |=
                            BOUNDS.contains(&name.as_str()) && number.is_some_and(is_beyond);
                        needed.constants |= name == "const" && number.is_some_and(is_beyond);
                        needed.multiples |= name == "multipleOf" && number.is_some_and(is_rounded);
                    }
                    open.extend(members.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        needed
    }
}

fn is_beyond(number: &Number) -> bool {
    number.is_f64()
        && number
            .as_f64()
            .is_some_and(|value| value.abs() >= BEYOND_64_BITS)
}

fn is_rounded(number: &Number) -> bool {
    number
        .as_f64()
        .is_some_and(|value| value.fract() != 0.0 || value.abs() >= MAX_SAFE_INTEGER)
}

/// Draft 4's `exclusiveMinimum` is a boolean beside `minimum`.
fn minimum<J: Json>(parent: &Map<String, Value>, value: &Value) -> Made<J> {
    match parent.get("exclusiveMinimum") {
        Some(Value::Bool(true)) => bound(value, |order| order == Ordering::Greater),
        _ => bound(value, |order| order != Ordering::Less),
    }
}

fn maximum<J: Json>(parent: &Map<String, Value>, value: &Value) -> Made<J> {
    match parent.get("exclusiveMaximum") {
        Some(Value::Bool(true)) => bound(value, |order| order == Ordering::Less),
        _ => bound(value, |order| order != Ordering::Greater),
    }
}

fn bound<J: Json>(value: &Value, admits: fn(Ordering) -> bool) -> Made<J> {
    match value {
        Value::Number(limit) => Box::new(Bound {
            limit: limit.clone(),
            admits,
        }),
        // Draft 4's boolean `exclusiveMinimum` and `exclusiveMaximum`.
        _ => Box::new(Nothing),
    }
}

fn multiple<J: Json>(value: &Value) -> Result<Made<J>, ValidationError<'_>> {
    let number = value.as_number();
    match number.and_then(|number| Some((number.clone(), Divisor::of(number)?))) {
        Some((number, divisor)) => Ok(Box::new(Multiple { number, divisor })),
        None => Err(ValidationError::custom("a number greater than 0")),
    }
}

/// The error's message is the keyword's value: [`super::words`] builds the sentence from it.
fn verdict<'i>(is_valid: bool, value: &impl ToString) -> Result<(), ValidationError<'i>> {
    if is_valid {
        return Ok(());
    }
    Err(ValidationError::custom(value.to_string()))
}

struct Bound {
    limit: Number,
    admits: fn(Ordering) -> bool,
}

impl<'i, J: Json> Keyword<'i, J> for Bound {
    fn validate(&self, instance: J::Node<'i>) -> Result<(), ValidationError<'i>> {
        verdict(Keyword::<J>::is_valid(self, instance), &self.limit)
    }

    fn is_valid(&self, instance: J::Node<'i>) -> bool {
        let Some(number) = instance.as_number() else {
            return true;
        };
        let order = Exact::of(&number).compare(&Exact::of(&self.limit));
        order.is_some_and(self.admits)
    }
}

struct Multiple {
    number: Number,
    divisor: Divisor,
}

impl<'i, J: Json> Keyword<'i, J> for Multiple {
    fn validate(&self, instance: J::Node<'i>) -> Result<(), ValidationError<'i>> {
        verdict(Keyword::<J>::is_valid(self, instance), &self.number)
    }

    fn is_valid(&self, instance: J::Node<'i>) -> bool {
        let number = instance.as_number();
        number.is_none_or(|number| self.divisor.divides(&Exact::of(&number)))
    }
}

struct Constant(Value);

impl<'i, J: Json> Keyword<'i, J> for Constant {
    fn validate(&self, instance: J::Node<'i>) -> Result<(), ValidationError<'i>> {
        verdict(Keyword::<J>::is_valid(self, instance), &self.0)
    }

    fn is_valid(&self, instance: J::Node<'i>) -> bool {
        instance.equals_value(&self.0)
    }
}

struct Nothing;

impl<'i, J: Json> Keyword<'i, J> for Nothing {
    fn validate(&self, _: J::Node<'i>) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: J::Node<'i>) -> bool {
        true
    }
}
