//! Exact comparison of numbers: a large integer is not equal to its nearest float.

use std::borrow::Cow;
use std::cmp::Ordering;

use jsonschema::json::JsonNumber;

/// Every float from this one on is an integer beyond signed 64 bits.
const BEYOND_64_BITS: f64 = 9_223_372_036_854_775_808.0;

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
            (Self::Digits(is_negative, digits), Self::Float(other)) => Some(compare_digits(
                *is_negative,
                digits,
                other.is_sign_negative(),
                &expansion(other.abs()),
            )),
            (Self::Float(_), Self::Integer(_)) | (_, Self::Digits(..)) => {
                other.compare(self).map(Ordering::reverse)
            }
        }
    }

    /// A hash that is equal for equal numbers.
    pub(super) fn hash(&self) -> u64 {
        let nearest = match self {
            #[expect(clippy::cast_precision_loss, reason = "equal numbers lose the same")]
            Self::Integer(value) => *value as f64,
            Self::Digits(is_negative, digits) => {
                let nearest: f64 = digits.parse().unwrap_or_default();
                if *is_negative { -nearest } else { nearest }
            }
            Self::Float(value) => *value,
        };
        // Zero has two signs.
        if nearest == 0.0 { 0 } else { nearest.to_bits() }
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
    let sizes = || one.len().cmp(&other.len()).then_with(|| one.cmp(other));
    match (is_negative, other_is_negative) {
        (false, false) => sizes(),
        (true, true) => sizes().reverse(),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
    }
}

/// All digits of an integral float.
fn expansion(float: f64) -> String {
    format!("{float:.0}")
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
                Exact::Digits(_, digits) => remainder(digits, *odd) == 0 && has_twos(digits, *twos),
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
fn binary(value: f64) -> Option<(u64, i32)> {
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
    digits.bytes().fold(0, |rest, digit| {
        let digit = u64::from(digit.saturating_sub(b'0'));
        append(rest, digit, divisor)
    })
}

/// The remainder of `rest * 10^tens`; stops early at zero.
fn shifted(mut rest: u64, tens: i32, divisor: u64) -> u64 {
    for _ in 0..tens {
        if rest == 0 {
            break;
        }
        rest = append(rest, 0, divisor);
    }
    rest
}

fn append(rest: u64, digit: u64, divisor: u64) -> u64 {
    let value = u128::from(rest)
        .saturating_mul(10)
        .saturating_add(digit.into());
    let rest = value.checked_rem(divisor.into()).unwrap_or_default();
    u64::try_from(rest).unwrap_or_default()
}

/// Whether decimal digits are divisible by `2^twos`; the last `twos` digits decide.
fn has_twos(digits: &str, twos: u32) -> bool {
    let count = usize::try_from(twos).unwrap_or(usize::MAX);
    let start = digits.len().saturating_sub(count);
    let mut last: Vec<u8> = digits
        .bytes()
        .skip(start)
        .map(|digit| digit.saturating_sub(b'0'))
        .collect();
    (0..twos).all(|_| {
        let mut carry = 0_u8;
        for digit in &mut last {
            let value = carry.saturating_mul(10).saturating_add(*digit);
            *digit = value >> 1;
            carry = value & 1;
        }
        carry == 0
    })
}

#[cfg(test)]
mod tests {
    use super::{Divisor, Exact};
    use serde_json::Number;
    use std::borrow::Cow;
    use std::cmp::Ordering;

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
    fn equal_numbers_have_equal_hashes() {
        let float = Exact::Float(1e20);
        assert_eq!(float.hash(), digits("100000000000000000000").hash());
        assert_eq!(Exact::Float(-0.0).hash(), Exact::Integer(0).hash());
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
