//! Permits for work on dirty CPU schedulers, and the queue for them.
//!
//! The queue is native because the permits are native. It needs no running application. A call that finds a free
//! permit takes one lock. A call that returns its permit passes it to the next process.

use std::collections::{HashMap, VecDeque};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use rustler::{Atom, Binary, Env, LocalPid, Monitor, NifResult, Resource, ResourceArc, Term};

use crate::atoms;
use crate::resources::{INLINE_BYTES, hold};

static SEMAPHORE: LazyLock<Mutex<Semaphore>> = LazyLock::new(|| {
    Mutex::new(Semaphore {
        limit: 1,
        permits: 0,
        queue: Queue::default(),
        called: Vec::new(),
    })
});

struct Semaphore {
    /// How many of our calls may run on dirty CPU schedulers at once: one fewer than are online. So a
    /// flood of messages leaves one for other code. Set when the library is loaded.
    limit: usize,
    /// Permits in use: by running calls and by called processes. No process waits while one is free.
    permits: usize,
    queue: Queue,
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

/// Whoever the processes wait for: the bytes of a term.
type Client = Vec<u8>;

/// The waiting processes. Clients take turns, so that one with many processes delays the others by one call only. The
/// processes of one client are served in the order of their arrival.
#[derive(Default)]
struct Queue {
    /// The clients with waiting processes. The first has the next turn.
    turns: VecDeque<Client>,
    waiting: HashMap<Client, VecDeque<(LocalPid, ResourceArc<Waiter>)>>,
}

impl Queue {
    fn push(&mut self, client: Client, pid: LocalPid, waiter: ResourceArc<Waiter>) {
        let processes = self.waiting.entry(client).or_insert_with_key(|client| {
            self.turns.push_back(client.clone());
            VecDeque::new()
        });
        processes.push_back((pid, waiter));
    }

    /// The next process that is alive.
    fn pop(&mut self, env: Env<'_>) -> Option<(LocalPid, ResourceArc<Waiter>)> {
        while let Some(client) = self.turns.pop_front() {
            let Some(processes) = self.waiting.get_mut(&client) else {
                continue;
            };
            let next = loop {
                match processes.pop_front() {
                    Some((pid, _waiter)) if !pid.is_alive(env) => {}
                    next => break next,
                }
            };
            if processes.is_empty() {
                self.waiting.remove(&client);
            } else {
                self.turns.push_back(client);
            }
            if next.is_some() {
                return next;
            }
        }
        None
    }
}

impl Semaphore {
    /// Takes a free permit.
    fn take(&mut self) -> bool {
        let free = self.permits < self.limit;
        self.permits = self.permits.saturating_add(usize::from(free));
        free
    }

    /// Calls the next waiting process. Without one, the permit becomes free.
    fn next(&mut self, env: Env<'_>) -> Option<LocalPid> {
        if let Some((pid, waiter)) = self.queue.pop(env) {
            self.called.push((pid, waiter));
            return Some(pid);
        }
        self.permits = self.permits.saturating_sub(1);
        None
    }

    /// Frees the permit if no process waits, and returns whether it did.
    fn give_back(&mut self) -> bool {
        let free = self.queue.turns.is_empty();
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
    /// The permit that the process was called for, or a free one. Without one the NIF returns `:busy`, and its process
    /// calls [`dirty_wait`].
    pub(crate) fn take(env: Env<'_>) -> Option<Self> {
        let mut all = semaphore();
        let permitted = all.strike(env.pid()) || all.take();
        // Not `then_some`: a permit that is dropped here would be given back.
        permitted.then(|| Self(()))
    }
}

/// Puts the process into the queue of its client: `:waiting`. It repeats its call when it receives the message
/// `:mcp_wake`. If a permit has become free meanwhile, it repeats the call at once: `:ok`.
#[rustler::nif]
fn dirty_wait(env: Env<'_>, client: Binary<'_>) -> Atom {
    let pid = env.pid();
    let waiter = ResourceArc::new(Waiter(()));
    let mut all = semaphore();
    let free = all.take();
    if free {
        all.called.push((pid, waiter.clone()));
    } else {
        all.queue.push(client.to_vec(), pid, waiter.clone());
    }
    drop(all);
    // A dead process cannot be monitored.
    let called = env.monitor(&waiter, &pid).is_none() && semaphore().strike(pid);
    if called {
        drop(DirtyPermit(()));
    }
    if free { atoms::ok() } else { atoms::waiting() }
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
