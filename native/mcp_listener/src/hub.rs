//! What all parts of a listener share.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hyper::server::conn::http1;

use crate::answer::Answer;
use crate::budget::Budget;
use crate::connection::{Clock, Connection};
use crate::options::Options;
use crate::service::{Fault, Service};
use crate::stats::{Snapshot, Stats};

pub(crate) struct Hub<S> {
    pub(crate) service: S,
    pub(crate) options: Options,
    pub(crate) stats: Arc<Stats>,
    pub(crate) budget: Arc<Budget>,
    pub(crate) clock: Clock,
    connections: Mutex<HashMap<usize, Arc<Connection>>>,
    next: AtomicUsize,
    draining: AtomicBool,
}

impl<S: Service> Hub<S> {
    pub(crate) fn new(service: S, options: Options) -> Self {
        Self {
            service,
            stats: Arc::default(),
            budget: Arc::new(Budget::new(options.max_body_bytes_in_flight)),
            clock: Clock::start(),
            connections: Mutex::default(),
            next: AtomicUsize::new(0),
            draining: AtomicBool::new(false),
            options,
        }
    }

    /// How hyper reads and writes. Its timers stay off: deadlines are ours. `pipeline_flush` stays
    /// off: with it hyper takes any amount of a stream that nobody reads, and writes none of it while
    /// a further request waits. Half-closed peers are ours to notice, so that what can be answered at
    /// once is.
    pub(crate) fn http(&self) -> http1::Builder {
        /// The least that hyper allows.
        const LEAST_BUFFER: usize = 8 * 1024;
        let mut http = http1::Builder::new();
        http.half_close(true)
            .header_read_timeout(None)
            .max_headers(self.options.max_headers)
            .max_header_size(self.options.max_head_bytes)
            .max_buf_size(self.options.max_head_bytes.saturating_add(LEAST_BUFFER));
        http
    }

    /// Asks the service, whatever it does.
    pub(crate) fn ask<R>(&self, question: impl FnOnce(&S) -> R) -> Result<R, Fault> {
        catch_unwind(AssertUnwindSafe(|| question(&self.service))).map_err(|_| {
            self.stats.panics.add();
            Fault::Internal
        })
    }

    /// The answer to a request that is given up.
    pub(crate) fn refuse(&self, fault: Fault) -> Answer {
        self.refusal(|service| service.refuse(fault))
    }

    /// The answer to one whose head was let through.
    pub(crate) fn refuse_body(&self, head: &S::Head, fault: Fault) -> Answer {
        self.refusal(|service| service.refuse_body(head, fault))
    }

    fn refusal(&self, question: impl FnOnce(&S) -> Answer) -> Answer {
        self.stats.refused.add();
        self.ask(question)
            .unwrap_or_else(|_| Answer::empty(hyper::StatusCode::INTERNAL_SERVER_ERROR))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<usize, Arc<Connection>>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection, unless there are as many as there may be.
    pub(crate) fn register(
        self: &Arc<Self>,
        connection: &Arc<Connection>,
    ) -> Option<Registered<S>> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let mut connections = self.lock();
        if connections.len() >= self.options.max_connections {
            return None;
        }
        connections.insert(id, Arc::clone(connection));
        drop(connections);
        Some(Registered {
            hub: Arc::clone(self),
            id,
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    pub(crate) fn each(&self, mut look: impl FnMut(&Arc<Connection>)) {
        self.lock().values().for_each(&mut look);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Acquire)
    }

    /// No connection reads a further request.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Release);
        self.each(|connection| connection.wake());
    }

    /// Whatever is open ends.
    pub(crate) fn end_exchanges(&self) {
        self.each(|connection| {
            if let Some(exchange) = connection.exchange() {
                exchange.end();
            }
        });
    }

    /// Gives up every exchange whose events are of that kind.
    pub(crate) fn fail_where(&self, concerns: impl Fn(&dyn Any) -> bool) {
        self.each(|connection| {
            if let Some(exchange) = connection.exchange().filter(|open| concerns(open.events())) {
                exchange.give_up();
            }
        });
    }

    pub(crate) fn cut_all(&self) {
        self.each(|connection| connection.cut());
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        self.stats.snapshot(self.lock().len(), self.budget.used())
    }
}

/// A connection's place among the others, given up when dropped.
pub(crate) struct Registered<S: Service> {
    hub: Arc<Hub<S>>,
    id: usize,
}

impl<S: Service> Drop for Registered<S> {
    fn drop(&mut self) {
        let gone = self.hub.lock().remove(&self.id);
        drop(gone);
    }
}
