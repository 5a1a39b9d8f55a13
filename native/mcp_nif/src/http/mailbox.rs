//! Messages from the listener's threads to processes.

use std::cell::RefCell;

use rustler::{Env, LocalPid, OwnedEnv, Term};

thread_local! {
    /// One environment a thread: making one costs as much as a small message.
    static ENV: RefCell<OwnedEnv> = RefCell::new(OwnedEnv::new());
}

/// Runs with the thread's environment, which `work` leaves empty. Only for threads of our own: the VM lets nobody else send from
/// such an environment.
pub(super) fn with_env<R>(work: impl FnOnce(&mut OwnedEnv) -> R) -> R {
    ENV.with(|env| match env.try_borrow_mut() {
        Ok(mut env) => work(&mut env),
        Err(_) => work(&mut OwnedEnv::new()),
    })
}

/// Sends what `message` builds; `false` when the process is gone.
pub(super) fn send<'a>(to: LocalPid, message: impl FnOnce(Env<'a>) -> Term<'a>) -> bool {
    with_env(|env| env.send_and_clear(&to, message).is_ok())
}
