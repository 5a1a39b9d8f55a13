//! The number policy: exact integers of any size, finite floats, and which spelling is which.

use mcp_core::json::JsonErrorKind as E;

use super::tree::{Tree, big, float, reads, refuses};

#[test]
fn integers_are_exact_on_both_sides_of_every_width() {
    reads("0", &Tree::Integer(0));
    reads("-1", &Tree::Integer(-1));
    reads("9007199254740993", &Tree::Integer(9_007_199_254_740_993));
    reads("9223372036854775807", &Tree::Integer(i64::MAX));
    reads("9223372036854775808", &Tree::Unsigned(1 << 63));
    reads("18446744073709551615", &Tree::Unsigned(u64::MAX));
    reads("18446744073709551616", &big("18446744073709551616"));
    reads("-9223372036854775808", &Tree::Integer(i64::MIN));
    reads("-9223372036854775809", &big("-9223372036854775809"));
    reads(
        "9999999999999999999",
        &Tree::Unsigned(9_999_999_999_999_999_999),
    );
    reads("-9999999999999999999", &big("-9999999999999999999"));
    reads("-18446744073709551616", &big("-18446744073709551616"));
}

#[test]
fn minus_zero_is_an_integer_zero_and_minus_zero_point_zero_a_float() {
    reads("-0", &Tree::Integer(0));
    reads("-0.0", &float(-0.0));
    reads("-0e0", &float(-0.0));
    reads("0.0", &float(0.0));
}

#[test]
fn a_fraction_or_an_exponent_makes_a_float() {
    reads("1.0", &float(1.0));
    reads("1e2", &float(100.0));
    reads("1E+2", &float(100.0));
    reads("12.5e-1", &float(1.25));
    reads("0.1", &float(0.1));
    reads("5e-324", &float(5e-324));
    reads("9007199254740993.0", &float(9_007_199_254_740_992.0));
}

#[test]
fn floats_out_of_range_are_refused_and_floats_too_small_are_zero() {
    reads("1.7976931348623157e308", &float(f64::MAX));
    reads("-1.7976931348623157e308", &float(f64::MIN));
    refuses("1.7976931348623159e308", E::NumberOutOfRange, 0);
    refuses("[1e400]", E::NumberOutOfRange, 1);
    refuses("[-1e400]", E::NumberOutOfRange, 1);
    refuses("1e99999999999999999999999", E::NumberOutOfRange, 0);
    reads("1e-400", &float(0.0));
    reads("-1e-400", &float(-0.0));
    reads("0e99999999999999999999999", &float(0.0));
    reads(&format!("{}e-300", "9".repeat(309)), &float(1e9));
    refuses(format!("{}.0", "9".repeat(309)), E::NumberOutOfRange, 0);
    refuses(format!("{}e99", "9".repeat(210)), E::NumberOutOfRange, 0);
}

#[test]
fn other_spellings_are_refused() {
    for (text, kind, offset) in [
        ("01", E::InvalidNumber, 0),
        ("-01", E::InvalidNumber, 1),
        ("00", E::InvalidNumber, 0),
        ("-", E::UnexpectedEnd, 1),
        ("-x", E::InvalidNumber, 1),
        ("1.", E::UnexpectedEnd, 2),
        ("[1.]", E::InvalidNumber, 3),
        ("1.e1", E::InvalidNumber, 2),
        ("1e", E::UnexpectedEnd, 2),
        ("[1e]", E::InvalidNumber, 3),
        ("[1e+]", E::InvalidNumber, 4),
        ("+1", E::Syntax, 0),
        (".5", E::Syntax, 0),
        ("0x1", E::TrailingBytes, 1),
        ("1_000", E::TrailingBytes, 1),
        ("NaN", E::Syntax, 0),
        ("Infinity", E::Syntax, 0),
        ("-Infinity", E::InvalidNumber, 1),
        ("１", E::Syntax, 0),
    ] {
        refuses(text, kind, offset);
    }
}
