//! What one check may spend, and how it is stopped when that is spent.
//!
//! The validator has no budget of its own, and some schemas make it walk a value in exponentially
//! many ways or through more stack than a scheduler thread has. It looks at the value only through
//! [`super::counted`], so the counting is done there; and since it has no way to be told to stop,
//! it is stopped by unwinding (no panic hook runs, nothing is printed).

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Stack the validator may use, in bytes. A dirty scheduler thread of the BEAM has 320 KiB, part of
/// which is in use below and part of which must stay for what a step calls and for the unwinding.
const MAX_STACK: usize = 160 * 1024;

/// Errors that may be collected before the search for more of them ends: each takes more than a
/// microsecond to build and holds some hundred bytes.
const MAX_ERRORS: u32 = 5_000;

/// The same where nobody may be kept for long.
const FEW_ERRORS: u32 = 200;

/// Bytes of a string that cost one step more: about what is read in the time of a step.
const BYTES_A_STEP: u64 = 16;

/// What the regular expressions of a schema make of a byte, in multiples of reading it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    /// Of a string: the slowest `pattern`, for each looks at the string itself.
    pub(super) text: u64,
    /// Of a property's name: all that it is matched against at once.
    pub(super) name: u64,
}

/// Why a check was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// It took more steps than it may, or more stack.
    Spent,
    /// It found more errors than are worth collecting.
    Errors,
    /// The validator panicked.
    Panic,
}

/// What is left to spend of a check; see [`Validator::meter`](super::Validator::meter).
#[derive(Debug)]
pub struct Meter {
    given: u64,
    steps: Cell<u64>,
    weights: Weights,
    errors: Cell<u32>,
    base: usize,
}

impl Meter {
    /// A meter for a check that starts in the caller's stack frame.
    pub(super) fn new(steps: u64, weights: Weights) -> Rc<Self> {
        Rc::new(Self::of(steps, weights))
    }

    /// A meter for a check that may find few errors only.
    pub(super) fn brief(steps: u64, weights: Weights) -> Rc<Self> {
        let meter = Self::of(steps, weights);
        meter.errors.set(FEW_ERRORS);
        Rc::new(meter)
    }

    /// A meter for a check that only asks whether there are errors.
    pub(super) fn of(steps: u64, weights: Weights) -> Self {
        let here = 0_u8;
        Self {
            given: steps,
            steps: Cell::new(steps),
            weights,
            errors: Cell::new(MAX_ERRORS),
            base: std::ptr::from_ref(&here).addr(),
        }
    }

    /// Steps that were spent.
    #[must_use]
    pub fn spent(&self) -> u64 {
        self.given.saturating_sub(self.steps.get())
    }

    /// Spends steps, or stops the check.
    #[inline]
    pub(super) fn spend(&self, steps: u64) {
        let here = 0_u8;
        let used = self.base.abs_diff(std::ptr::from_ref(&here).addr());
        match self.steps.get().checked_sub(steps) {
            Some(left) if used <= MAX_STACK => self.steps.set(left),
            _ => stop(Stop::Spent),
        }
    }

    /// Spends a step, and more for bytes that are read as they are.
    #[inline]
    pub(super) fn spend_read(&self, bytes: usize) {
        self.spend_bytes(bytes, 1);
    }

    /// The same for a string that a `pattern` may look at.
    #[inline]
    pub(super) fn spend_text(&self, bytes: usize) {
        self.spend_bytes(bytes, self.weights.text);
    }

    /// The same for a property's name.
    #[inline]
    pub(super) fn spend_name(&self, bytes: usize) {
        self.spend_bytes(bytes, self.weights.name);
    }

    #[inline]
    fn spend_bytes(&self, bytes: usize, weight: u64) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let steps = bytes.saturating_mul(weight) / BYTES_A_STEP;
        self.spend(steps.saturating_add(1));
    }

    /// Counts an error, or stops the check.
    pub(super) fn error(&self) {
        match self.errors.get().checked_sub(1) {
            Some(left) => self.errors.set(left),
            None => stop(Stop::Errors),
        }
    }
}

#[cold]
#[inline(never)]
fn stop(reason: Stop) -> ! {
    resume_unwind(Box::new(reason))
}

/// Runs third-party code; whatever unwinds out of it becomes a [`Stop`].
///
/// Nothing the closures here capture is used again after an unwind: values are only read, and the
/// meter of a stopped check is dropped.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| reason(payload.as_ref()))
}

/// What the closure gives; `None` where the third-party code that it runs unwinds.
pub fn without_panic<T>(run: impl FnOnce() -> T) -> Option<T> {
    guarded(run).ok()
}

fn reason(payload: &(dyn Any + Send)) -> Stop {
    payload.downcast_ref().copied().unwrap_or(Stop::Panic)
}
