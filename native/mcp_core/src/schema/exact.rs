//! Keywords that compare numbers exactly, for the schemas whose numbers the validator's own would round.
//!
//! Its own compare with the float that comes nearest to an integer beyond 64 bits, which is right unless
//! the schema's number is beyond them too; and a `multipleOf` that is a fraction or large divides floats.

use std::cmp::Ordering;

use jsonschema::json::{Json, Node};
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Number, Value};

use super::numbers::{Divisor, Exact};

/// Integers below are floats, each a different one.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Integers from here on have more than 64 bits.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

const BOUNDS: [&str; 4] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];

type Made<J> = Box<dyn for<'i> Keyword<'i, J>>;

/// The options with those of the keywords that one of `schemas` needs exact.
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

/// Which keywords some schema has with a number that the validator's own would round.
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

/// Draft 4 says beside a limit whether it excludes itself.
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
        // Draft 4's `exclusiveMinimum` and `exclusiveMaximum`.
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

/// What [`super::words`] makes words of: an error's message is the keyword's value.
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
