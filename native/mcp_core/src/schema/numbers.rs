//! Exact comparison of numbers: a large integer is not equal to its nearest float.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use jsonschema::json::JsonNumber;

use super::magnitude::{self, Magnitude};

/// Every float from this one on is an integer beyond signed 64 bits.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

/// The least float beyond unsigned 64 bits.
const BEYOND_UNSIGNED_64_BITS: f64 = 18_446_744_073_709_551_616.0;

/// A number in a form that can be compared exactly.
#[derive(Clone, Debug)]
pub(super) enum Exact<'n> {
    /// An integer of at most 64 bits.
    Integer(i128),
    /// A larger integer: whether it is negative, and its digits.
    Digits(bool, Cow<'n, str>),
    Float(f64),
}

impl<'n> Exact<'n> {
    pub(super) fn of<N: JsonNumber>(number: &'n N) -> Self {
        if let Some(value) = number.as_i64() {
            return Self::Integer(value.into());
        }
        if let Some(value) = number.as_u64() {
            return Self::Integer(value.into());
        }
        if number.is_written_as_integer() {
            let text = number.as_str();
            let digits = text.trim_start_matches('-');
            if digits.bytes().all(|digit| digit.is_ascii_digit()) {
                let is_negative = digits.len() < text.len();
                return Self::Digits(is_negative, unsigned(text));
            }
        }
        Self::Float(number.as_f64().unwrap_or_default())
    }

    /// `None` never occurs: JSON has no NaN.
    pub(super) fn compare(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Integer(one), Self::Integer(other)) => Some(one.cmp(other)),
            (Self::Float(one), Self::Float(other)) => one.partial_cmp(other),
            (Self::Integer(one), Self::Float(other)) => integer_to_float(*one, *other),
            (Self::Digits(is_negative, digits), Self::Digits(other_is_negative, other)) => Some(
                compare_digits(*is_negative, digits, *other_is_negative, other),
            ),
            (Self::Digits(is_negative, _), Self::Integer(_)) => Some(beyond(*is_negative)),
            (Self::Digits(is_negative, _), Self::Float(other)) if other.abs() < BEYOND_64_BITS => {
                Some(beyond(*is_negative))
            }
            (Self::Digits(is_negative, digits), Self::Float(other)) => {
                Some(digits_to_float(*is_negative, digits, *other))
            }
            (Self::Float(_), Self::Integer(_)) | (_, Self::Digits(..)) => {
                other.compare(self).map(Ordering::reverse)
            }
        }
    }
}

/// Equal numbers have equal hashes. A hash takes all digits: with the nearest float alone, all
/// integers beyond the floats have one hash, and so have thousands that follow each other.
impl Hash for Exact<'_> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        match self {
            Self::Integer(value) => value.hash(hasher),
            Self::Digits(is_negative, digits) => {
                if let Ok(size) = digits.parse::<u64>() {
                    // Below the negative integers of 64 bits, but a float may be equal.
                    let size = i128::from(size);
                    let value = if *is_negative {
                        size.saturating_neg()
                    } else {
                        size
                    };
                    return value.hash(hasher);
                }
                is_negative.hash(hasher);
                match Magnitude::of(digits) {
                    Some(magnitude) => magnitude.hash(hasher),
                    None => digits.hash(hasher),
                }
            }
            Self::Float(value) if value.fract() != 0.0 => value.to_bits().hash(hasher),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an integral float of 64 bits"
            )]
            Self::Float(value) if value.abs() < BEYOND_UNSIGNED_64_BITS => {
                (*value as i128).hash(hasher);
            }
            Self::Float(value) => {
                value.is_sign_negative().hash(hasher);
                Magnitude::of_float(*value).hash(hasher);
            }
        }
    }
}

/// How many digits a number has beyond 64 bits; 0 for every other number.
#[inline]
pub(super) fn long_digits<N: JsonNumber>(number: &N) -> usize {
    if number.as_i64().is_some() {
        0
    } else {
        long_digits_beyond(number)
    }
}

fn long_digits_beyond<N: JsonNumber>(number: &N) -> usize {
    // A fraction is found out first: asking how it is written may write it.
    if number.as_u64().is_some() || !number.is_integer() || !number.is_written_as_integer() {
        0
    } else {
        number.as_str().len()
    }
}

/// Whether two numbers are equal.
pub(super) fn equal<L: JsonNumber, R: JsonNumber>(left: &L, right: &R) -> bool {
    Exact::of(left).compare(&Exact::of(right)) == Some(Ordering::Equal)
}

/// The digits without the sign.
fn unsigned(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches('-')),
        Cow::Owned(text) => Cow::Owned(text.trim_start_matches('-').to_owned()),
    }
}

/// The order of a number beyond 64 bits relative to one within 64 bits.
fn beyond(is_negative: bool) -> Ordering {
    if is_negative {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

fn integer_to_float(integer: i128, float: f64) -> Option<Ordering> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float beyond 128 bits becomes the last integer of them, on the same side"
    )]
    let whole = float.trunc() as i128;
    let rest = 0.0.partial_cmp(&float.fract())?;
    Some(integer.cmp(&whole).then(rest))
}

fn compare_digits(is_negative: bool, one: &str, other_is_negative: bool, other: &str) -> Ordering {
    signed(is_negative, other_is_negative, || {
        one.len().cmp(&other.len()).then_with(|| one.cmp(other))
    })
}

/// Writing all digits of the float would take microseconds.
fn digits_to_float(is_negative: bool, digits: &str, float: f64) -> Ordering {
    signed(is_negative, float.is_sign_negative(), || {
        Magnitude::of(digits).map_or(Ordering::Greater, |magnitude| {
            magnitude.cmp(&Magnitude::of_float(float))
        })
    })
}

/// The order of two numbers of these signs and of this order without them.
fn signed(
    is_negative: bool,
    other_is_negative: bool,
    sizes: impl FnOnce() -> Ordering,
) -> Ordering {
    match (is_negative, other_is_negative) {
        (false, false) => sizes(),
        (true, true) => sizes().reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// The divisor of a `multipleOf`.
#[derive(Clone, Debug)]
pub(super) enum Divisor {
    /// `odd * 2^twos`: every integer of 64 bits, and every integral float.
    Whole { odd: u64, twos: u32 },
    /// A fraction, `digits * 10^tens`: `tens` is negative and `digits` do not end in zero.
    Decimal { digits: u64, tens: i32 },
}

impl Divisor {
    /// `None` for zero, which a schema may not have.
    pub(super) fn of<N: JsonNumber>(number: &N) -> Option<Self> {
        let whole = |value: u128| {
            let twos = value.trailing_zeros();
            let odd = value
                .checked_shr(twos)
                .and_then(|odd| odd.try_into().ok())?;
            Some(Self::Whole { odd, twos })
        };
        match Exact::of(number) {
            Exact::Integer(0) | Exact::Digits(..) => None,
            Exact::Integer(value) => whole(value.unsigned_abs()),
            Exact::Float(value) if value.fract() == 0.0 => {
                let (odd, twos) = binary(value)?;
                let twos = u32::try_from(twos).ok()?;
                Some(Self::Whole { odd, twos })
            }
            Exact::Float(value) => {
                let (digits, tens) = decimal(value)?;
                Some(Self::Decimal { digits, tens })
            }
        }
    }

    pub(super) fn divides(&self, number: &Exact<'_>) -> bool {
        match self {
            Self::Whole { odd, twos } => match number {
                Exact::Integer(value) => {
                    *value == 0
                        || (value.trailing_zeros() >= *twos
                            && value.unsigned_abs().checked_rem((*odd).into()) == Some(0))
                }
                Exact::Digits(_, digits) => {
                    remainder(digits, *odd) == 0 && magnitude::twos(digits) >= *twos
                }
                Exact::Float(value) => binary(*value).is_none_or(|(digits, exponent)| {
                    i64::from(exponent) >= i64::from(*twos) && digits.checked_rem(*odd) == Some(0)
                }),
            },
            Self::Decimal { digits, tens } => {
                let (rest, own_tens) = match number {
                    Exact::Integer(value) => {
                        (remainder(&value.unsigned_abs().to_string(), *digits), 0)
                    }
                    Exact::Digits(_, text) => (remainder(text, *digits), 0),
                    Exact::Float(value) => match decimal(*value) {
                        Some((own, tens)) => (own.checked_rem(*digits).unwrap_or(0), tens),
                        None => return true,
                    },
                };
                // A number with more decimal places than the divisor is no multiple: its last digit
                // is not zero.
                let shift = own_tens.saturating_sub(*tens);
                shift >= 0 && shifted(rest, shift, *digits) == 0
            }
        }
    }
}

/// `odd` and `exponent` of `odd * 2^exponent`; `None` for zero.
pub(super) fn binary(value: f64) -> Option<(u64, i32)> {
    const FRACTION: u32 = 52;
    let bits = value.to_bits();
    let fraction = bits & ((1 << FRACTION) - 1);
    let exponent = i32::try_from((bits >> FRACTION) & 0x7ff).ok()?;
    let (digits, exponent) = match exponent {
        0 => (fraction, -1074),
        _ => (fraction | (1 << FRACTION), exponent.saturating_sub(1075)),
    };
    let twos = digits.trailing_zeros();
    let odd = digits.checked_shr(twos)?;
    Some((odd, exponent.saturating_add(i32::try_from(twos).ok()?)))
}

/// `digits` and `tens` of `digits * 10^tens`, as the float is written; `None` for zero.
fn decimal(value: f64) -> Option<(u64, i32)> {
    let mut buffer = zmij::Buffer::new();
    let text = buffer.format_finite(value.abs());
    let (text, exponent) = text.split_once('e').unwrap_or((text, "0"));
    let mut tens: i32 = exponent.trim_start_matches('+').parse().ok()?;
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    tens = tens.saturating_sub(i32::try_from(fraction.len()).ok()?);
    let mut digits: u64 = format!("{whole}{fraction}").parse().ok()?;
    if digits == 0 {
        return None;
    }
    while digits.checked_rem(10) == Some(0) {
        digits = digits.checked_div(10)?;
        tens = tens.saturating_add(1);
    }
    Some((digits, tens))
}

/// The remainder of decimal digits divided by a number of 64 bits.
fn remainder(digits: &str, divisor: u64) -> u64 {
    magnitude::chunks(digits).fold(0, |rest, (scale, value)| {
        let shifted = u128::from(rest).saturating_mul(scale.into());
        reduced(shifted.saturating_add(value.into()), divisor)
    })
}

/// The remainder of `rest * 10^tens`, by squares: the floats have 600 tens.
fn shifted(mut rest: u64, tens: i32, divisor: u64) -> u64 {
    let product = |one: u64, other: u64| {
        let product = u128::from(one).saturating_mul(other.into());
        reduced(product, divisor)
    };
    let mut tens = tens.unsigned_abs();
    let mut power = 10;
    while tens > 0 && rest != 0 {
        if tens & 1 == 1 {
            rest = product(rest, power);
        }
        power = product(power, power);
        tens >>= 1;
    }
    rest
}

fn reduced(value: u128, divisor: u64) -> u64 {
    // A division of 64 bits takes a tenth of one of 128.
    let rest = match u64::try_from(value) {
        Ok(value) => value.checked_rem(divisor),
        Err(_) => value
            .checked_rem(divisor.into())
            .and_then(|rest| rest.try_into().ok()),
    };
    rest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{Divisor, Exact, long_digits};
    use serde_json::Number;
    use std::borrow::Cow;
    use std::cmp::Ordering;
    use std::collections::HashSet;
    use std::hash::{DefaultHasher, Hash, Hasher};

    fn digits(text: &str) -> Exact<'_> {
        match text.strip_prefix('-') {
            Some(digits) => Exact::Digits(true, Cow::Borrowed(digits)),
            None => Exact::Digits(false, Cow::Borrowed(text)),
        }
    }

    #[test]
    fn an_integer_is_not_its_nearest_float() {
        let limit = Exact::Float(1e20);
        let compare = |text| digits(text).compare(&limit);
        assert_eq!(compare("99999999999999999999"), Some(Ordering::Less));
        assert_eq!(compare("100000000000000000000"), Some(Ordering::Equal));
        assert_eq!(compare("100000000000000000001"), Some(Ordering::Greater));
        assert_eq!(compare("-100000000000000000001"), Some(Ordering::Less));
        assert_eq!(
            Exact::Integer(9_007_199_254_740_993).compare(&Exact::Float(9_007_199_254_740_992.0)),
            Some(Ordering::Greater)
        );
        assert_eq!(
            Exact::Float(-0.5).compare(&Exact::Integer(0)),
            Some(Ordering::Less)
        );
    }

    #[test]
    fn the_largest_float_is_compared_digit_by_digit() {
        let largest = format!("{:.0}", f64::MAX);
        let above = format!("{}9", &largest[..308]);
        let below = format!("{}7", &largest[..308]);
        assert_eq!(largest.len(), 309);
        let compare = |text: &str| digits(text).compare(&Exact::Float(f64::MAX));
        assert_eq!(compare(&below), Some(Ordering::Less));
        assert_eq!(compare(&largest), Some(Ordering::Equal));
        assert_eq!(compare(&above), Some(Ordering::Greater));
        assert_eq!(compare(&"9".repeat(309)), Some(Ordering::Greater));
        assert_eq!(compare(&format!("1{largest}")), Some(Ordering::Greater));
        assert_eq!(compare(&format!("-1{largest}")), Some(Ordering::Less));
        assert_eq!(compare(&"9".repeat(26)), Some(Ordering::Less));
        let least = Exact::Float(f64::MIN);
        assert_eq!(
            digits(&format!("-{above}")).compare(&least),
            Some(Ordering::Less)
        );
        assert_eq!(
            digits(&format!("-{largest}")).compare(&least),
            Some(Ordering::Equal)
        );
        // The shortest text of this float has one digit more than the float.
        let float = Exact::Float(1e23);
        assert_eq!(
            digits("99999999999999991611392").compare(&float),
            Some(Ordering::Equal)
        );
        assert_eq!(
            digits("100000000000000000000000").compare(&float),
            Some(Ordering::Greater)
        );
    }

    fn hashed(number: &Exact<'_>) -> u64 {
        let mut hasher = DefaultHasher::new();
        number.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn equal_numbers_have_equal_hashes() {
        let floats = [
            0.0,
            1.0,
            -1.0,
            1e15,
            -9_223_372_036_854_775_808.0,
            -9_223_372_036_854_777_856.0,
            -18_446_744_073_709_551_616.0,
            9_223_372_036_854_775_808.0,
            18_446_744_073_709_549_568.0,
            18_446_744_073_709_551_616.0,
            1e20,
            1e23,
            -1e300,
            f64::MAX,
        ];
        for float in floats {
            let text = format!("{float:.0}");
            let integer = match text.parse::<i128>() {
                Ok(value) if i64::try_from(value).is_ok() || u64::try_from(value).is_ok() => {
                    Exact::Integer(value)
                }
                _ => digits(&text),
            };
            let float = Exact::Float(float);
            assert_eq!(integer.compare(&float), Some(Ordering::Equal), "{text}");
            assert_eq!(hashed(&integer), hashed(&float), "{text}");
        }
        assert_eq!(hashed(&Exact::Float(-0.0)), hashed(&Exact::Integer(0)));
    }

    #[test]
    fn integers_next_to_each_other_have_different_hashes() {
        let starts = [15, 18, 19, 20, 26, 300, 309, 310, 1_000];
        for length in starts {
            let texts: Vec<String> = (0..1_000)
                .map(|index| format!("{}{index:03}", "9".repeat(length - 3)))
                .collect();
            let hashes: HashSet<u64> = texts
                .iter()
                .map(|text| match text.parse::<i64>() {
                    Ok(value) => hashed(&Exact::Integer(value.into())),
                    Err(_) => hashed(&digits(text)),
                })
                .collect();
            assert_eq!(hashes.len(), 1_000, "{length} digits");
        }
    }

    #[test]
    fn only_digits_beyond_64_bits_are_long() {
        let long = |text: &str| {
            let number: Number = serde_json::from_str(text).unwrap_or(0.into());
            long_digits(&number)
        };
        for text in ["0", "-1", "9223372036854775808", "18446744073709551615"] {
            assert_eq!(long(text), 0, "{text}");
        }
        for text in ["1.5", "-1e-300", "1.0"] {
            assert_eq!(long(text), 0, "{text}");
        }
        // A `Number` keeps the nearest float of a longer one.
        assert_eq!(long("18446744073709551616"), "1.8446744073709552e+19".len());
    }

    #[test]
    fn multiples_are_exact() {
        let divides = |divisor: &str, number: Exact<'_>| {
            let divisor: Number = serde_json::from_str(divisor).unwrap_or(0.into());
            Divisor::of(&divisor).map(|divisor| divisor.divides(&number))
        };
        assert_eq!(divides("1e20", digits("300000000000000000000")), Some(true));
        assert_eq!(
            divides("1e20", digits("100000000000000000001")),
            Some(false)
        );
        assert_eq!(divides("0.01", digits("100000000000000000001")), Some(true));
        assert_eq!(divides("0.3", digits("100000000000000000001")), Some(false));
        assert_eq!(divides("0.3", digits("100000000000000000002")), Some(true));
        let whole = |float: f64| format!("{float:.0}");
        assert_eq!(divides("1e300", digits(&whole(3e300))), Some(true));
        // Rounded, it is no longer seven times the rounded 1e300.
        assert_eq!(divides("1e300", digits(&whole(7e300))), Some(false));
        assert_eq!(divides("0.003", Exact::Float(1e300)), Some(false));
        assert_eq!(divides("0.003", Exact::Float(3e300)), Some(true));
        assert_eq!(divides("7e-300", Exact::Integer(14)), Some(true));
        assert_eq!(divides("7e-300", Exact::Integer(15)), Some(false));
        assert_eq!(divides("2.5", Exact::Integer(10)), Some(true));
        assert_eq!(divides("2.5", Exact::Integer(11)), Some(false));
        assert_eq!(divides("1.5", Exact::Integer(30)), Some(true));
        assert_eq!(divides("0.01", Exact::Float(1_070_468.14)), Some(true));
        assert_eq!(divides("0.01", Exact::Float(1_070_468.145)), Some(false));
        assert_eq!(divides("0.01", Exact::Float(1e300)), Some(true));
        assert_eq!(divides("0.1", Exact::Float(0.0)), Some(true));
        assert_eq!(
            divides("9007199254740993", Exact::Integer(9_007_199_254_740_994)),
            Some(false)
        );
    }
}
