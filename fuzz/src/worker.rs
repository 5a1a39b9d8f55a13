//! Threads with the stack sizes of the library's callers.

use std::sync::mpsc::{Sender, channel};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs jobs in sequence.
pub struct Worker(Sender<Job>);

impl Worker {
    /// Starts a thread with this stack size in bytes.
    pub fn with_stack(bytes: usize) -> Self {
        let (sender, jobs) = channel::<Job>();
        let run = move || jobs.into_iter().for_each(|job| job());
        thread::Builder::new()
            .stack_size(bytes)
            .spawn(run)
            .expect("a thread");
        Self(sender)
    }

    /// Runs the work on the thread and waits for its result.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, results) = channel();
        let job = move || sender.send(work()).expect("somebody waits");
        self.0.send(Box::new(job)).expect("the thread lives");
        results.recv().expect("the thread lives")
    }
}
