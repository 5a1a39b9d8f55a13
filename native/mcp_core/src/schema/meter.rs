//! The budget of one check, and the way to stop it.
//!
//! The validator has no budget. Some schemas make it walk a value in exponentially many ways, or
//! use more stack than a scheduler thread has. It accesses the value only through
//! [`super::counted`], so accesses are counted there. The validator has no way to cancel a check,
//! so unwinding stops it: no panic hook runs and nothing is printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

/// Bytes of stack for the validator. A dirty scheduler thread of the BEAM has 320 KiB. The
/// callers' frames use a part of it. A part must remain for each step and for the unwinding.
const MAX_STACK: usize = 160 * 1024;

/// Errors of one check before the search for more ends. Each takes more than a microsecond to build
/// and holds some hundred bytes.
const MAX_ERRORS: u32 = 5_000;

/// Errors of a brief check, for a caller that must not wait long.
const FEW_ERRORS: u32 = 200;

/// A name of more bytes is long. An error copies the names that lead to its place; a value has at
/// most 127 of them inside each other, so shorter ones need no count.
const LONG_NAME: usize = 64;

/// Bytes of a string that cost one extra step: reading them takes about as long as a step.
const BYTES_A_STEP: u64 = 16;

/// The cost of a digit of a number beyond 64 bits, in multiples of reading a byte: a keyword turns
/// the digits into bits.
const DIGIT_WEIGHT: u64 = 4;

/// The cost of matching one byte against the schema's patterns, in multiples of reading it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    /// For a string: the slowest `pattern` or `format`, because each of them accesses the string
    /// separately.
    pub(super) text: u64,
    /// For a property's name: the sum of the patterns that one access matches it against.
    pub(super) name: u64,
}

/// Why a check was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The check exceeded its budget of steps or of stack.
    Spent,
    /// The check found more errors than it may collect.
    Errors,
    /// The validator panicked.
    Panic,
}

/// The remaining budget of a check; see [`Validator::meter`](super::Validator::meter).
#[derive(Debug)]
pub struct Meter {
    given: u64,
    steps: Cell<u64>,
    weights: Weights,
    errors: Cell<u32>,
    /// Bytes of all long names that were read.
    long_names: Cell<u64>,
    base: usize,
}

impl Meter {
    /// A meter for a check that starts in the caller's stack frame.
    pub(super) fn new(steps: u64, weights: Weights) -> Rc<Self> {
        Rc::new(Self::of(steps, weights))
    }

    /// A meter for a check that may collect only few errors.
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
            long_names: Cell::new(0),
            base: std::ptr::from_ref(&here).addr(),
        }
    }

    /// The steps spent.
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

    /// Spends a step, and more for bytes that no pattern matches.
    #[inline]
    pub(super) fn spend_read(&self, bytes: usize) {
        self.spend_bytes(bytes, 1);
    }

    /// As `spend_read`, for a string that a `pattern` or a `format` may match.
    #[inline]
    pub(super) fn spend_text(&self, bytes: usize) {
        self.spend_bytes(bytes, self.weights.text);
    }

    /// As `spend_read`, for a property's name.
    #[inline]
    pub(super) fn spend_name(&self, bytes: usize) {
        if bytes > LONG_NAME {
            let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
            self.long_names
                .set(self.long_names.get().saturating_add(bytes));
        }
        self.spend_bytes(bytes, self.weights.name);
    }

    /// As `spend_read`, for the digits of a number beyond 64 bits; other numbers have none.
    #[inline]
    pub(super) fn spend_digits(&self, digits: usize) {
        self.spend_bytes(digits, DIGIT_WEIGHT);
    }

    #[inline]
    fn spend_bytes(&self, bytes: usize, weight: u64) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let steps = bytes.saturating_mul(weight) / BYTES_A_STEP;
        self.spend(steps.saturating_add(1));
    }

    /// Counts an error, or stops the check.
    ///
    /// An error copies the names of the properties that lead to its place. The place is not known
    /// here, so all long names read so far are charged: thousands of errors behind a name of a
    /// megabyte would take gigabytes.
    pub(super) fn error(&self) {
        self.spend(self.long_names.get() / BYTES_A_STEP);
        match self.errors.get().checked_sub(1) {
            Some(left) => self.errors.set(left),
            None => stop(Stop::Errors),
        }
    }
}

/// Stops the check that calls it.
#[cold]
#[inline(never)]
pub(super) fn stop(reason: Stop) -> ! {
    resume_unwind(Box::new(reason))
}

/// Runs third-party code and turns a panic into a [`Stop`].
///
/// The closures use no captured value after an unwind: values are only read, and the meter of a
/// stopped check is dropped.
pub(super) fn guarded<T>(run: impl FnOnce() -> T) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| reason(payload.as_ref()))
}

/// The result of the closure; `None` if third-party code in it panics.
pub fn without_panic<T>(run: impl FnOnce() -> T) -> Option<T> {
    guarded(run).ok()
}

fn reason(payload: &(dyn Any + Send)) -> Stop {
    payload.downcast_ref().copied().unwrap_or(Stop::Panic)
}
