//! No input may take long.

use std::time::Duration;

use rustix::time::{ClockId, Timespec, clock_gettime};

/// What one input may cost, in the instrumented build.
const LIMIT: Duration = Duration::from_millis(100);

/// Runs a target's body; panics when it takes more than 100 ms.
///
/// Counted is the process's CPU time: what else the machine has to do is no fault of the input. An input that takes
/// longer is run once more, because the first of all pays for what is built once.
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
