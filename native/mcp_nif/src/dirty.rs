//! Permits for work on dirty CPU schedulers, and the queue for them.
//!
//! The queue is native because the permits are native. It needs no running application. A call that finds a free
//! permit takes one lock. A call that returns its permit passes it to the next process.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustler::{Env, LocalPid, Monitor, NifResult, Resource, ResourceArc, Term};

use crate::atoms;
use crate::resources::{INLINE_BYTES, hold};

static SEMAPHORE: Mutex<Semaphore> = Mutex::new(Semaphore {
    limit: 1,
    permits: 0,
    waiting: VecDeque::new(),
    called: Vec::new(),
});

struct Semaphore {
    /// How many of our calls may run on dirty CPU schedulers at once: one fewer than are online. So a
    /// flood of messages leaves one for other code. Set when the library is loaded.
    limit: usize,
    /// Permits in use: by running calls and by called processes. No process waits while one is free.
    permits: usize,
    /// First come, first served.
    waiting: VecDeque<(LocalPid, ResourceArc<Waiter>)>,
    /// Processes that were woken and have not repeated their call yet.
    called: Vec<(LocalPid, ResourceArc<Waiter>)>,
}

fn semaphore() -> MutexGuard<'static, Semaphore> {
    SEMAPHORE.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn limit_calls(limit: usize) {
    semaphore().limit = limit.max(1);
}

/// See `unload_guard`.
pub(crate) fn hold_types() {
    hold(Waiter(()));
    hold(Handover(()));
}

impl Semaphore {
    /// Calls the first waiting process that is alive. Without one, the permit becomes free.
    fn next(&mut self, env: Env<'_>) -> Option<LocalPid> {
        while let Some((pid, waiter)) = self.waiting.pop_front() {
            if pid.is_alive(env) {
                self.called.push((pid, waiter));
                return Some(pid);
            }
        }
        self.permits = self.permits.saturating_sub(1);
        None
    }

    /// Frees the permit if no process waits, and returns whether it did.
    fn give_back(&mut self) -> bool {
        let free = self.waiting.is_empty();
        self.permits = self.permits.saturating_sub(usize::from(free));
        free
    }

    /// Removes a process from the called processes, and returns whether it was one.
    fn strike(&mut self, pid: LocalPid) -> bool {
        let waiter = self.called.iter().position(|(called, _)| *called == pid);
        waiter
            .map(|waiter| self.called.swap_remove(waiter))
            .is_some()
    }
}

/// A monitored process in the queue: if a called process dies, its permit must not be lost.
struct Waiter(());

#[rustler::resource_impl]
impl Resource for Waiter {
    const IMPLEMENTS_DOWN: bool = true;

    fn down<'a>(&'a self, env: Env<'a>, pid: LocalPid, _monitor: Monitor) {
        let called = semaphore().strike(pid);
        if called {
            hand_on(env);
        }
    }
}

/// The right to work on a dirty scheduler, given back when dropped.
pub(crate) struct DirtyPermit(());

impl Drop for DirtyPermit {
    fn drop(&mut self) {
        if !semaphore().give_back() {
            drop(ResourceArc::new(Handover(())));
        }
    }
}

/// A permit on its way to the next process. It is a resource because a call cannot send a message
/// after its process was killed; the destructor of a resource can.
struct Handover(());

#[rustler::resource_impl]
impl Resource for Handover {
    const IMPLEMENTS_DESTRUCTOR: bool = true;

    fn destructor(self, env: Env<'_>) {
        hand_on(env);
    }
}

impl DirtyPermit {
    /// `None` if no permit is free. The NIF then returns `:busy`, and its process waits in the queue.
    /// The process repeats the call when it receives the message `:mcp_wake`.
    pub(crate) fn take(env: Env<'_>) -> Option<Self> {
        let pid = env.pid();
        let mut all = semaphore();
        let called = all.strike(pid);
        if called || all.permits < all.limit {
            all.permits = all.permits.saturating_add(usize::from(!called));
            return Some(Self(()));
        }
        let waiter = ResourceArc::new(Waiter(()));
        all.waiting.push_back((pid, waiter.clone()));
        drop(all);
        // A dead process cannot be monitored.
        let called = env.monitor(&waiter, &pid).is_none() && semaphore().strike(pid);
        if called {
            drop(Self(()));
        }
        None
    }
}

/// Passes a permit to the next waiting process.
fn hand_on(env: Env<'_>) {
    let next = semaphore().next(env);
    if let Some(pid) = next {
        // If it died, its monitor passes the permit on.
        let _ = env.send(&pid, atoms::mcp_wake());
    }
}

/// Does the work with a permit; without one it returns `:busy`.
pub(crate) fn on_dirty<'a>(
    env: Env<'a>,
    work: impl FnOnce() -> NifResult<Term<'a>>,
) -> NifResult<Term<'a>> {
    match DirtyPermit::take(env) {
        Some(_permit) => work(),
        None => Ok(atoms::busy().to_term(env)),
    }
}

/// How much work a call may do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// As much as a normal scheduler may be held for: the size of a term says little about the
    /// time of its validation.
    Inline,
    /// As much as the limits of the work allow.
    Whole,
}

impl Effort {
    /// The number of bytes that may be written.
    pub(crate) const fn budget(self) -> usize {
        match self {
            Self::Inline => INLINE_BYTES,
            Self::Whole => usize::MAX,
        }
    }

    /// The effort of a call with this byte budget.
    pub(crate) fn within(budget: usize) -> Self {
        if budget == usize::MAX {
            Self::Whole
        } else {
            Self::Inline
        }
    }
}

/// Defines two NIFs for the same work: one for a normal scheduler, which returns `:over_budget` if the work takes
/// longer, and one for a dirty scheduler. The work gets an [`Effort`] as its last argument.
macro_rules! twins {
    ($name:tt: $inline:ident, $dirty:ident($($parameters:tt)*) => $work:ident($($argument:ident),*)) => {
        #[rustler::nif(name = $name)]
        fn $inline<'a>(
            env: rustler::Env<'a>,
            $($parameters)*
        ) -> rustler::NifResult<rustler::Term<'a>> {
            $work(env, $($argument,)* $crate::dirty::Effort::Inline)
        }

        #[rustler::nif(schedule = "DirtyCpu")]
        fn $dirty<'a>(
            env: rustler::Env<'a>,
            $($parameters)*
        ) -> rustler::NifResult<rustler::Term<'a>> {
            $crate::dirty::on_dirty(env, || $work(env, $($argument,)* $crate::dirty::Effort::Whole))
        }
    };
}
pub(crate) use twins;
