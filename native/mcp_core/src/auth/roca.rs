//! Recognises moduli of the weak generator of CVE-2017-15361 (ROCA) by their remainders.

/// Primes for which few remainders are powers of 65537. The remainders of every weak modulus are
/// such powers; one sound modulus in 2²⁷ passes as weak.
const PRIMES: [u32; 17] = [
    11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
];
const GENERATOR: u32 = 65_537;

/// Whether a modulus looks like one of the weak generator.
pub(super) fn is_weak(modulus: &[u8]) -> bool {
    PRIMES
        .iter()
        .all(|prime| is_power(remainder(modulus, *prime), *prime))
}

fn remainder(modulus: &[u8], prime: u32) -> u32 {
    modulus.iter().fold(0, |rest, byte| {
        let next = rest.wrapping_mul(256).wrapping_add(u32::from(*byte));
        next.checked_rem(prime).unwrap_or_default()
    })
}

fn is_power(rest: u32, prime: u32) -> bool {
    let step = |power: u32| {
        let generator = GENERATOR.checked_rem(prime).unwrap_or_default();
        power
            .wrapping_mul(generator)
            .checked_rem(prime)
            .unwrap_or_default()
    };
    let mut power = 1;
    for _ in 0..prime {
        if power == rest {
            return true;
        }
        power = step(power);
    }
    false
}
