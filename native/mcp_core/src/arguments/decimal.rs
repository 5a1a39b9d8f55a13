//! Decimal numbers.

/// The limit on digits and on the exponent, because a program may write the number out.
const MAX_DIGITS: usize = 1_000;

/// `±digits × 10^exponent`, as written: `1.50` has three digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal<'a> {
    /// Whether a minus sign precedes it.
    pub is_negative: bool,
    /// The digits before the point, at least one.
    pub whole: &'a str,
    /// The digits after the point.
    pub fraction: &'a str,
    /// The exponent for all digits without the point.
    pub exponent: i64,
}

impl<'a> Decimal<'a> {
    /// Reads a number of at most 1,000 digits, and an exponent of at most 1,000.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, exponent(power)?),
            None => (text, 0),
        };
        let is_negative = mantissa.starts_with('-');
        let magnitude = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = match magnitude.split_once('.') {
            Some((whole, fraction)) if is_digits(fraction) => (whole, fraction),
            Some(_) => return None,
            None => (magnitude, ""),
        };
        let digits = whole.len().checked_add(fraction.len())?;
        if !is_digits(whole) || digits > MAX_DIGITS {
            return None;
        }
        Some(Self {
            is_negative,
            whole,
            fraction,
            exponent: power.checked_sub(i64::try_from(fraction.len()).ok()?)?,
        })
    }

    /// All digits.
    #[must_use]
    pub fn digits(&self) -> String {
        format!("{}{}", self.whole, self.fraction)
    }
}

fn exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let power: i64 = is_digits(digits).then(|| digits.parse().ok()).flatten()?;
    let is_small = usize::try_from(power).is_ok_and(|power| power <= MAX_DIGITS);
    let is_negative = text.starts_with('-');
    let power = if is_negative {
        power.checked_neg()?
    } else {
        power
    };
    is_small.then_some(power)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
