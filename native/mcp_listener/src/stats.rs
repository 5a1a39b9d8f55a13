//! What a listener counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number that several threads change.
#[derive(Debug, Default)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Something that is open, and counted as long as it lives.
pub(crate) struct Counted {
    stats: Arc<Stats>,
    counter: fn(&Stats) -> &Counter,
}

impl Counted {
    pub(crate) fn new(stats: &Arc<Stats>, counter: fn(&Stats) -> &Counter) -> Self {
        counter(stats).add();
        Self {
            stats: Arc::clone(stats),
            counter,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.stats).remove();
    }
}

#[derive(Debug, Default)]
pub(crate) struct Stats {
    pub(crate) accepted: Counter,
    pub(crate) accept_errors: Counter,
    pub(crate) turned_away: Counter,
    pub(crate) requests: Counter,
    pub(crate) refused: Counter,
    pub(crate) exchanges: Counter,
    pub(crate) streams: Counter,
    pub(crate) cut: Counter,
    pub(crate) panics: Counter,
}

/// The counters of a listener at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Connections that are open.
    pub connections: u64,
    /// Connections ever accepted, those turned away included.
    pub accepted: u64,
    /// Times that accepting failed.
    pub accept_errors: u64,
    /// Connections closed at once because there were too many.
    pub turned_away: u64,
    /// Requests whose head was read.
    pub requests: u64,
    /// Requests whose head or body was refused before anybody was called.
    pub refused: u64,
    /// Exchanges that are open, streams included.
    pub exchanges: u64,
    /// Streams that are open.
    pub streams: u64,
    /// Connections cut for a deadline, a full queue or a peer that is gone.
    pub cut: u64,
    /// Bytes of request bodies at hand.
    pub body_bytes: u64,
    /// Panics of the service, each answered 500.
    pub panics: u64,
}

impl Stats {
    pub(crate) fn snapshot(&self, connections: usize, body_bytes: usize) -> Snapshot {
        Snapshot {
            connections: u64::try_from(connections).unwrap_or(u64::MAX),
            accepted: self.accepted.get(),
            accept_errors: self.accept_errors.get(),
            turned_away: self.turned_away.get(),
            requests: self.requests.get(),
            refused: self.refused.get(),
            exchanges: self.exchanges.get(),
            streams: self.streams.get(),
            cut: self.cut.get(),
            body_bytes: u64::try_from(body_bytes).unwrap_or(u64::MAX),
            panics: self.panics.get(),
        }
    }
}
