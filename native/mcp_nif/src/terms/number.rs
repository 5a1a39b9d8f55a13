//! Integers beyond 64 bits.

use rustler::{BigInt, Term};

use super::error::{EncodeError, EncodeErrorKind};

/// The largest number that any reader option allows. The time of writing grows with the square of
/// the digits.
const MAX_DIGITS: usize = 100_000;

/// The cost of writing an integer, in bytes of a budget: 1,000 digits take 15 µs and 5,000 digits
/// 120 µs. `None` for too many digits, and for other terms.
pub(super) fn cost(term: Term<'_>) -> Option<usize> {
    let digits = most_digits(&term.decode().ok()?)?;
    (digits <= MAX_DIGITS).then(|| cost_of(digits))
}

fn cost_of(digits: usize) -> usize {
    digits.saturating_mul((digits / 500).saturating_add(4))
}

/// The number of digits of an integer, or one more.
fn most_digits(value: &BigInt) -> Option<usize> {
    let bits = usize::try_from(value.bits()).ok()?;
    // The logarithm of 2, rounded up.
    Some((bits.checked_mul(30_103)? / 100_000).saturating_add(1))
}

/// The digits and their cost, which must not exceed the rest of a budget.
pub(super) fn digits(term: Term<'_>, left: usize) -> Result<(String, usize), EncodeError> {
    let value = term.decode::<BigInt>().map_err(|_| {
        EncodeError::new(EncodeErrorKind::Unsupported, "an integer of unknown form")
    })?;
    let most = most_digits(&value).unwrap_or(usize::MAX);
    if most.saturating_sub(1) > MAX_DIGITS {
        return Err(too_long());
    }
    let cost = cost_of(most);
    if cost > left {
        return Err(EncodeError::new(EncodeErrorKind::OverBudget, ""));
    }
    let text = value.to_string();
    if text.trim_start_matches('-').len() > MAX_DIGITS {
        return Err(too_long());
    }
    Ok((text, cost))
}

fn too_long() -> EncodeError {
    EncodeError::new(
        EncodeErrorKind::Unsupported,
        "an integer of more than 100,000 digits",
    )
}
