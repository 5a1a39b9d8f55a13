//! Who may work on a dirty CPU scheduler, and who is next.
//!
//! The line is here and not in a process or a table of Elixir's because the permits are: it needs no application
//! that runs, a call that finds a permit free pays for one lock, and the call that gives a permit back hands it on.

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
    /// How many of our calls may be on dirty CPU schedulers at once: all but one of those online, so that a
    /// flood of messages never takes the last one from everybody else. Set when the library is loaded.
    limit: usize,
    /// Those of calls that work and of processes that are called. While one is free nobody waits.
    permits: usize,
    /// First come, first served.
    waiting: VecDeque<(LocalPid, ResourceArc<Waiter>)>,
    /// Those who were told that it is their turn, until they come.
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
    /// The first that lives of those who wait is called. Where there is none the permit is free.
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

    /// Whether nobody waits, so that the permit is free.
    fn give_back(&mut self) -> bool {
        let free = self.waiting.is_empty();
        self.permits = self.permits.saturating_sub(usize::from(free));
        free
    }

    /// Whether the process was called and had not come yet.
    fn strike(&mut self, pid: LocalPid) -> bool {
        let waiter = self.called.iter().position(|(called, _)| *called == pid);
        waiter
            .map(|waiter| self.called.swap_remove(waiter))
            .is_some()
    }
}

/// A process in the line, watched because the permit of one that is called must not die with it.
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

/// A permit on its way to the next. It is a resource because a call whose process was killed meanwhile can send
/// nothing; the destructor of a resource can.
struct Handover(());

#[rustler::resource_impl]
impl Resource for Handover {
    const IMPLEMENTS_DESTRUCTOR: bool = true;

    fn destructor(self, env: Env<'_>) {
        hand_on(env);
    }
}

impl DirtyPermit {
    /// `None` while there are too many already: the caller answers `:busy`, and its process, which now waits,
    /// makes the call again when it gets the message `:mcp_wake`.
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
        // A process that is not watched is dead.
        let called = env.monitor(&waiter, &pid).is_none() && semaphore().strike(pid);
        if called {
            drop(Self(()));
        }
        None
    }
}

/// Calls the next one that waits.
fn hand_on(env: Env<'_>) {
    let next = semaphore().next(env);
    if let Some(pid) = next {
        // Should it have died, its waiter learns of it.
        let _ = env.send(&pid, atoms::mcp_wake());
    }
}

/// Does the work once there is a permit; until then the answer is `:busy`.
pub(crate) fn on_dirty<'a>(
    env: Env<'a>,
    work: impl FnOnce() -> NifResult<Term<'a>>,
) -> NifResult<Term<'a>> {
    match DirtyPermit::take(env) {
        Some(_permit) => work(),
        None => Ok(atoms::busy().to_term(env)),
    }
}

/// How much a call may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What a normal scheduler can be held for: the size of a term says little about the time that a
    /// schema takes with it.
    Inline,
    /// As much as the limits of the work itself allow.
    Whole,
}

impl Effort {
    /// How many bytes may be written.
    pub(crate) const fn budget(self) -> usize {
        match self {
            Self::Inline => INLINE_BYTES,
            Self::Whole => usize::MAX,
        }
    }

    /// That of a call which may write so many bytes.
    pub(crate) fn within(budget: usize) -> Self {
        if budget == usize::MAX {
            Self::Whole
        } else {
            Self::Inline
        }
    }
}

/// Two calls of one work: one for a normal scheduler, which answers `:over_budget` where the work takes longer, and its
/// twin for a dirty one. The work gets an [`Effort`] as its last argument.
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
