//! The time limit for an input.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The most CPU time for one input in the instrumented build.
const LIMIT: Duration = Duration::from_millis(100);

/// How often an input may take longer. A slow input is slow each time.
const TRIES: usize = 5;

/// Runs a target's body; panics when it takes more than 100 ms five times in sequence.
///
/// It measures the process's CPU time, so that other load of the machine counts little: caches and
/// cores are shared. The first input also pays for one-time work.
pub fn within<T>(mut body: impl FnMut() -> T) -> T {
    let mut least = Duration::MAX;
    for _ in 0..TRIES {
        let start = cpu_time();
        let result = body();
        let taken = cpu_time().saturating_sub(start);
        if taken <= LIMIT {
            return result;
        }
        least = least.min(taken);
    }
    panic!("one input took {least:?} or more in each of {TRIES} runs");
}

fn cpu_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(tv_sec.try_into().unwrap(), tv_nsec.try_into().unwrap())
}
