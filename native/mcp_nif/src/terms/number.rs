//! Integers of any size and floats.

use mcp_core::json::{write_integer, write_unsigned};
use rustler::{BigInt, Term};

use super::error::{EncodeError, EncodeErrorKind};

/// Writes an integer term, digit for digit.
pub(super) fn write_integer_term(out: &mut Vec<u8>, term: Term<'_>) -> Result<(), EncodeError> {
    if let Ok(value) = term.decode::<i64>() {
        write_integer(out, value);
    } else if let Ok(value) = term.decode::<u64>() {
        write_unsigned(out, value);
    } else {
        let text = big_integer_text(term).ok_or_else(|| {
            EncodeError::new(EncodeErrorKind::Unsupported, "an integer of unknown form")
        })?;
        out.extend_from_slice(text.as_bytes());
    }
    Ok(())
}

/// The digits of an integer beyond 64 bits.
pub(super) fn big_integer_text(term: Term<'_>) -> Option<String> {
    term.decode::<BigInt>().ok().map(|value| value.to_string())
}
