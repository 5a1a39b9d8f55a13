//! The time limit for an input.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The most CPU time for one input in the instrumented build.
const LIMIT: Duration = Duration::from_millis(100);

/// Runs a target's body; panics when it takes more than 100 ms.
///
/// It measures the process's CPU time, so that other load of the machine does not count. An input
/// that takes longer runs once more, because the first input also pays for one-time work.
pub fn within<T>(mut body: impl FnMut() -> T) -> T {
    let start = cpu_time();
    let result = body();
    if cpu_time().saturating_sub(start) > LIMIT {
        let start = cpu_time();
        let again = body();
        let taken = cpu_time().saturating_sub(start);
        assert!(taken <= LIMIT, "one input took {taken:?}");
        return again;
    }
    result
}

fn cpu_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(tv_sec.try_into().unwrap(), tv_nsec.try_into().unwrap())
}
