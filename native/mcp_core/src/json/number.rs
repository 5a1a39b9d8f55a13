//! Numbers: the grammar, the number of digits, and the exact value.

use super::{JsonError, JsonErrorKind};

/// A number as written in the text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number<'a> {
    /// An integer of 64 bits with a sign.
    Integer(i64),
    /// An integer above `i64::MAX` that fits in 64 bits.
    Unsigned(u64),
    /// Any other integer: its decimal text, the sign included.
    Big(&'a str),
    /// A number with a fraction or an exponent.
    Float(Float<'a>),
}

/// A number with a fraction or an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Float<'a> {
    text: &'a str,
    /// Whether the number has so few digits before the point and in the exponent that it must be
    /// finite.
    surely_finite: bool,
}

impl Float<'_> {
    /// The nearest 64-bit float.
    pub(super) fn value(self) -> Result<f64, JsonErrorKind> {
        match self.text.parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => Err(JsonErrorKind::NumberOutOfRange),
            Err(_) => Err(JsonErrorKind::InvalidNumber),
        }
    }

    /// Refuses the same numbers as [`Float::value`], usually without computing the value.
    #[inline]
    pub(super) fn check_range(self) -> Result<(), JsonErrorKind> {
        if self.surely_finite {
            return Ok(());
        }
        self.value().map(|_| ())
    }
}

/// The number at `start`, which begins with a digit or a minus sign, and the offset after it.
#[inline]
pub(super) fn scan(
    text: &str,
    start: usize,
    max_digits: usize,
) -> Result<(Number<'_>, usize), JsonError> {
    let bytes = text.as_bytes();
    let negative = bytes.get(start) == Some(&b'-');
    let first = start.wrapping_add(usize::from(negative));
    let (value, whole) = digits(bytes, first)?;
    if whole > 1 && bytes.get(first) == Some(&b'0') {
        return Err(JsonError::new(JsonErrorKind::InvalidNumber, first));
    }
    let end = first.wrapping_add(whole);
    if matches!(bytes.get(end), Some(b'.' | b'e' | b'E')) {
        return scan_float(text, start, end, whole, max_digits);
    }
    if whole > max_digits {
        return Err(JsonError::new(JsonErrorKind::TooManyDigits, start));
    }
    // Nineteen digits always fit in 64 bits.
    if whole <= 19 {
        return Ok((small(text, start, end, negative, value), end));
    }
    let digits = text.get(first..end).unwrap_or_default();
    let number = match digits.parse::<u64>() {
        Ok(value) => small(text, start, end, negative, value),
        Err(_) => Number::Big(text.get(start..end).unwrap_or_default()),
    };
    Ok((number, end))
}

/// An integer whose digits fit in 64 bits.
#[inline]
fn small(text: &str, start: usize, end: usize, negative: bool, value: u64) -> Number<'_> {
    if !negative {
        return i64::try_from(value).map_or(Number::Unsigned(value), Number::Integer);
    }
    0_i64.checked_sub_unsigned(value).map_or_else(
        || Number::Big(text.get(start..end).unwrap_or_default()),
        Number::Integer,
    )
}

/// The rest of a number whose integer part has `whole` digits and ends at `at`.
fn scan_float(
    text: &str,
    start: usize,
    at: usize,
    whole: usize,
    max_digits: usize,
) -> Result<(Number<'_>, usize), JsonError> {
    let bytes = text.as_bytes();
    let mut end = at;
    let mut fraction = 0;
    let mut exponent = 0;
    if bytes.get(end) == Some(&b'.') {
        let first = end.wrapping_add(1);
        fraction = digits(bytes, first)?.1;
        end = first.wrapping_add(fraction);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let mut first = end.wrapping_add(1);
        if matches!(bytes.get(first), Some(b'+' | b'-')) {
            first = first.wrapping_add(1);
        }
        exponent = digits(bytes, first)?.1;
        end = first.wrapping_add(exponent);
    }
    if whole.saturating_add(fraction).saturating_add(exponent) > max_digits {
        return Err(JsonError::new(JsonErrorKind::TooManyDigits, start));
    }
    let float = Float {
        text: text.get(start..end).unwrap_or_default(),
        // Such a number is below 10^200 * 10^99.
        surely_finite: whole <= 200 && exponent <= 2,
    };
    Ok((Number::Float(float), end))
}

/// The value (modulo 2^64) and the number of the digits at `start`; at least one digit is required.
#[inline]
fn digits(bytes: &[u8], start: usize) -> Result<(u64, usize), JsonError> {
    let mut value = 0_u64;
    let mut count = 0_usize;
    for byte in bytes.get(start..).unwrap_or_default() {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        count = count.wrapping_add(1);
    }
    if count > 0 {
        return Ok((value, count));
    }
    let kind = if start < bytes.len() {
        JsonErrorKind::InvalidNumber
    } else {
        JsonErrorKind::UnexpectedEnd
    };
    Err(JsonError::new(kind, start))
}
