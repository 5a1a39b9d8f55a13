//! Generated input: how much of it, and from which seed.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::BuildHasher;
use std::io::{Write, stderr};
use std::sync::OnceLock;

use proptest::test_runner::{Config, RngSeed};

/// The seed if no other is asked for, so that a run of the tests repeats the one before it.
const SEED: u64 = 1;

/// `MCP_SCALE` times so many cases, from the seed `MCP_SEED`. The output of a failed test shows both.
///
/// `MCP_SEED=7 MCP_SCALE=10 cargo test -p rust_tests` generates other input, and ten times as much.
/// `MCP_SEED=random` chooses a seed and prints it. The tests in Elixir read the same variables.
/// A failure leaves no file: its seed generates it again, and a fault found becomes a test of its own.
pub(crate) fn config(cases: u32) -> Config {
    let (seed, scale) = (seed(), scale());
    println!("MCP_SEED={seed} MCP_SCALE={scale} generates the same input again");
    let usual = Config::default();
    Config {
        cases: cases.saturating_mul(scale),
        max_global_rejects: usual.max_global_rejects.saturating_mul(scale),
        max_local_rejects: usual.max_local_rejects.saturating_mul(scale),
        rng_seed: RngSeed::Fixed(seed),
        failure_persistence: None,
        ..usual
    }
}

/// How many times the usual input a run takes.
pub(crate) fn scale() -> u32 {
    env::var("MCP_SCALE").map_or(1, |scale| scale.parse().expect("MCP_SCALE is a number"))
}

fn seed() -> u64 {
    static CHOSEN: OnceLock<u64> = OnceLock::new();
    *CHOSEN.get_or_init(|| match env::var("MCP_SEED").as_deref() {
        Err(_) => SEED,
        Ok("random") => {
            let seed = RandomState::new().hash_one(());
            // Not by `eprintln!`, which shows it only if a test fails, and not if one aborts.
            writeln!(stderr(), "MCP_SEED={seed}").expect("stderr is open");
            seed
        }
        Ok(seed) => seed.parse().expect("MCP_SEED is a number or random"),
    })
}
