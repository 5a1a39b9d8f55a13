//! The bits of integers beyond 64 bits.

use super::numbers::binary;

/// 309 digits have at most 1027 bits, and the largest float has 1024.
const LIMBS: usize = 17;

const BITS: usize = LIMBS * 64;

/// The digits of the largest float.
const MAX_DIGITS: usize = 309;

/// The digits that 64 bits always hold.
const CHUNK: usize = 19;

/// An integer without its sign, as limbs of 64 bits, the highest first: the derived order is the
/// order of the integers.
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Magnitude([u64; LIMBS]);

impl Magnitude {
    /// `None` if every float is smaller.
    pub(super) fn of(digits: &str) -> Option<Self> {
        (digits.len() <= MAX_DIGITS).then(|| Self::lowest(digits))
    }

    /// The magnitude of an integral float.
    pub(super) fn of_float(float: f64) -> Self {
        let (odd, twos) = binary(float).unwrap_or_default();
        let twos = u32::try_from(twos).unwrap_or_default();
        let place = usize::try_from(twos / u64::BITS).unwrap_or(LIMBS);
        let (high, low) = halves(u128::from(odd) << (twos % u64::BITS));
        let mut limbs = [0; LIMBS];
        for (limb, bits) in limbs.iter_mut().rev().skip(place).zip([low, high]) {
            *limb = bits;
        }
        Self(limbs)
    }

    /// The lowest bits of digits of any number.
    fn lowest(digits: &str) -> Self {
        let mut limbs = [0_u64; LIMBS];
        for (index, (scale, value)) in chunks(digits).enumerate() {
            let mut carry = value;
            // The limbs above are still zero: a chunk fits into one limb.
            for limb in limbs.iter_mut().rev().take(index.saturating_add(1)) {
                let product = u128::from(*limb).saturating_mul(scale.into());
                (carry, *limb) = halves(product.saturating_add(carry.into()));
            }
        }
        Self(limbs)
    }
}

/// How often two divides the digits, or more than it divides any float, if they are not zero.
pub(super) fn twos(digits: &str) -> u32 {
    // As many last digits decide on so many bits.
    let start = digits.len().saturating_sub(BITS);
    let Magnitude(limbs) = Magnitude::lowest(digits.get(start..).unwrap_or(digits));
    let mut twos = 0_u32;
    for limb in limbs.iter().rev() {
        twos = twos.saturating_add(limb.trailing_zeros());
        if *limb != 0 {
            break;
        }
    }
    twos
}

/// Pairs of a power of ten and of the digits that it makes place for, from the first on.
pub(super) fn chunks(digits: &str) -> impl Iterator<Item = (u64, u64)> {
    digits.as_bytes().chunks(CHUNK).map(|chunk| {
        chunk.iter().fold((1_u64, 0_u64), |(scale, value), digit| {
            let digit = u64::from(digit.saturating_sub(b'0'));
            let value = value.saturating_mul(10).saturating_add(digit);
            (scale.saturating_mul(10), value)
        })
    })
}

/// The higher and the lower 64 bits.
#[expect(clippy::cast_possible_truncation, reason = "each half is cut off")]
fn halves(wide: u128) -> (u64, u64) {
    ((wide >> u64::BITS) as u64, wide as u64)
}

#[cfg(test)]
mod tests {
    use super::{Magnitude, twos};

    #[test]
    fn floats_and_their_digits_have_one_magnitude() {
        let floats = [9_223_372_036_854_775_808.0, 1e20, 1e23, 1e300, f64::MAX];
        for float in floats {
            let digits = format!("{float:.0}");
            assert!(
                Magnitude::of(&digits) == Some(Magnitude::of_float(float)),
                "{digits}"
            );
            assert!(
                Magnitude::of_float(-float) == Magnitude::of_float(float),
                "{digits}"
            );
        }
        assert!(Magnitude::of(&"9".repeat(310)).is_none());
    }

    #[test]
    fn twos_of_digits_are_counted_up_to_those_of_the_floats() {
        for float in [
            2.0_f64.powi(64),
            3.0 * 2.0_f64.powi(100),
            2.0_f64.powi(1023),
        ] {
            let twos_of_float = super::binary(float).map(|(_, twos)| twos);
            let counted = i32::try_from(twos(&format!("{float:.0}"))).ok();
            assert_eq!(counted, twos_of_float, "{float}");
        }
        assert_eq!(twos("100000000000000000000"), 20);
        assert_eq!(twos(&format!("1{}", "0".repeat(700))), 700);
        assert_eq!(twos(&format!("{}8", "9".repeat(5_000))), 1);
        assert_eq!(twos(&format!("1{}", "0".repeat(5_000))), 17 * 64);
    }
}
