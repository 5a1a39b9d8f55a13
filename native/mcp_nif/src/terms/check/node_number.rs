//! Numbers for the schema validator.

use std::borrow::Cow;

use jsonschema::json::JsonNumber;
use rustler::Term;
use serde_json::Number;

use super::values::Value;
use crate::terms::number;
use crate::terms::raw::Raw;
use crate::terms::term_kind::TermKind;

/// The exact number of a term.
pub(crate) enum TermNumber<'a> {
    Signed(i64),
    Unsigned(u64),
    /// The decimal digits.
    Big(Cow<'a, str>),
    Float(f64),
}

impl<'a> TermNumber<'a> {
    pub(super) fn of(term: Term<'_>) -> Option<Self> {
        let (raw, env) = (Raw::from(term), term.get_env());
        if let Some(value) = raw.integer(env) {
            return Some(Self::Signed(value));
        }
        match raw.kind(env) {
            TermKind::Integer => {
                let unsigned = term.decode().map(Self::Unsigned);
                unsigned.ok().or_else(|| {
                    let digits = number::digits(term, usize::MAX);
                    digits.ok().map(|(digits, _cost)| Self::Big(digits.into()))
                })
            }
            TermKind::Float => raw.float(env).map(Self::Float),
            _ => None,
        }
    }

    #[inline]
    pub(super) fn of_known(value: Value<'a>) -> Option<Self> {
        match value {
            Value::Signed(value) => Some(Self::Signed(value)),
            Value::Unsigned(value) => Some(Self::Unsigned(value)),
            Value::Big(digits) => Some(Self::Big(digits.into())),
            Value::Float(value) => Some(Self::Float(value)),
            _ => None,
        }
    }
}

/// Rounding may give the least 64-bit integer, but a number with more bits is below it.
fn beyond_64_bits(value: f64) -> f64 {
    const LEAST: f64 = -9_223_372_036_854_775_808.0;
    if value.to_bits() == LEAST.to_bits() {
        LEAST.next_down()
    } else {
        value
    }
}

impl JsonNumber for TermNumber<'_> {
    fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Signed(value) => u64::try_from(*value).ok(),
            Self::Unsigned(value) => Some(*value),
            Self::Big(_) | Self::Float(_) => None,
        }
    }

    fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Signed(value) => Some(*value),
            Self::Unsigned(value) => i64::try_from(*value).ok(),
            Self::Big(_) | Self::Float(_) => None,
        }
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest float is what is asked for"
    )]
    fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Signed(value) => Some(*value as f64),
            Self::Unsigned(value) => Some(*value as f64),
            // Digits always parse; numbers beyond the range of floats become infinity.
            Self::Big(digits) => digits.parse().ok().map(beyond_64_bits),
            Self::Float(value) => Some(*value),
        }
    }

    fn as_str(&self) -> Cow<'_, str> {
        match self {
            Self::Big(digits) => Cow::Borrowed(digits),
            _ => Cow::Owned(self.to_number().to_string()),
        }
    }

    fn to_number(&self) -> Cow<'_, Number> {
        Cow::Owned(match self {
            Self::Signed(value) => (*value).into(),
            Self::Unsigned(value) => (*value).into(),
            Self::Big(_) | Self::Float(_) => {
                let nearest = self.as_f64().unwrap_or_default().clamp(f64::MIN, f64::MAX);
                Number::from_f64(nearest).unwrap_or_else(|| 0.into())
            }
        })
    }

    fn is_integer(&self) -> bool {
        match self {
            Self::Float(value) => value.fract() == 0.0,
            _ => true,
        }
    }

    fn is_written_as_integer(&self) -> bool {
        !matches!(self, Self::Float(_))
    }
}
