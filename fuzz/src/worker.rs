//! Threads with the stacks that the library's callers have.

use std::sync::mpsc::{Sender, channel};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// A thread that runs one piece of work after another.
pub struct Worker(Sender<Job>);

impl Worker {
    /// A thread with so many bytes of stack.
    pub fn with_stack(bytes: usize) -> Self {
        let (sender, jobs) = channel::<Job>();
        let run = move || jobs.into_iter().for_each(|job| job());
        thread::Builder::new()
            .stack_size(bytes)
            .spawn(run)
            .expect("a thread");
        Self(sender)
    }

    /// Runs this there and waits for what it gives.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        let (sender, results) = channel();
        let job = move || sender.send(work()).expect("somebody waits");
        self.0.send(Box::new(job)).expect("the thread lives");
        results.recv().expect("the thread lives")
    }
}
