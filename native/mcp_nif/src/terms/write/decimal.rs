//! Writes `Decimal` (the Hex package) as a string, with the output of its `to_string`: most clients
//! would read a JSON number as a float.

use rustler::Term;

use crate::atoms;
use crate::terms::error::{EncodeError, EncodeErrorKind};
use crate::terms::number;
use crate::terms::term_kind::TermKind;

/// Appends the text with its quotes; returns the cost, which must not exceed the rest of a budget.
pub(super) fn write(out: &mut Vec<u8>, term: Term<'_>, left: usize) -> Result<usize, EncodeError> {
    let no_number =
        || EncodeError::new(EncodeErrorKind::Unsupported, "a decimal that is no number");
    let coefficient = term.map_get(atoms::coef()).map_err(|_| no_number())?;
    if TermKind::of(coefficient) != TermKind::Integer {
        return Err(no_number());
    }
    let (digits, cost) = number::digits(coefficient, left)?;
    let text = text(term, digits).ok_or_else(no_number)?;
    out.extend_from_slice(format!("\"{text}\"").as_bytes());
    Ok(cost)
}

/// Uses scientific notation instead of many padding zeros (General Decimal
/// Arithmetic, "to-scientific-string").
fn text(term: Term<'_>, digits: String) -> Option<String> {
    let sign: i32 = term.map_get(atoms::sign()).ok()?.decode().ok()?;
    let exponent: i64 = term.map_get(atoms::exp()).ok()?.decode().ok()?;
    let length = i64::try_from(digits.len()).ok()?;
    let adjusted = exponent.checked_add(length)?.checked_sub(1)?;
    let number = if exponent == 0 {
        digits
    } else if exponent < 0 && adjusted >= -6 {
        point_before(&digits, exponent.unsigned_abs())?
    } else {
        scientific(&digits, adjusted)
    };
    let sign = if sign < 0 { "-" } else { "" };
    Some(format!("{sign}{number}"))
}

/// The digits with a point before the last `places`.
fn point_before(digits: &str, places: u64) -> Option<String> {
    let places = usize::try_from(places).ok()?;
    let digits = format!("{digits:0>width$}", width = places.checked_add(1)?);
    let (whole, fraction) = digits.split_at_checked(digits.len().checked_sub(places)?)?;
    Some(format!("{whole}.{fraction}"))
}

fn scientific(digits: &str, adjusted: i64) -> String {
    let (first, rest) = digits.split_at_checked(1).unwrap_or((digits, ""));
    let point = if rest.is_empty() { "" } else { "." };
    format!("{first}{point}{rest}E{adjusted:+}")
}
