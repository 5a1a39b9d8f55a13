//! How an exchange begins, and how it ends whatever happens.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::connection::{Connection, Phase};
use crate::exchange::{Ended, Events, Exchange, Shared};
use crate::stats::{Counted, Stats};

/// One request, as the service that is called for it sees it.
pub struct Call {
    connection: Weak<Connection>,
    stats: Arc<Stats>,
    max_queued: usize,
    opened: Option<Held>,
}

impl Call {
    pub(crate) fn new(connection: &Arc<Connection>, stats: &Arc<Stats>, max_queued: usize) -> Self {
        Self {
            connection: Arc::downgrade(connection),
            stats: Arc::clone(stats),
            max_queued,
            opened: None,
        }
    }

    /// The way to answer later. Once only: a second exchange has ended from the start.
    pub fn open(&mut self, events: Arc<dyn Events>) -> Exchange {
        let first = self.opened.is_none();
        let connection = Weak::clone(&self.connection);
        let shared = Arc::new(Shared::new(first, events, connection, self.max_queued));
        if first {
            // From here on it is found by whoever looks for exchanges, also before the service returns.
            if let Some(connection) = self.connection.upgrade() {
                connection.hold(&shared);
            }
            self.opened = Some(Held {
                shared: Arc::clone(&shared),
                connection: Weak::clone(&self.connection),
                _open: Counted::new(&self.stats, |stats| &stats.exchanges),
            });
        } else {
            shared.events().ended(Ended::Closed);
        }
        Exchange::new(shared)
    }

    pub(crate) fn into_opened(self) -> Option<Held> {
        self.opened
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call")
    }
}

/// The connection's end of an exchange, from the moment it is opened. However this end goes, the
/// events hear of it: also when the connection closed while a service still ran on another thread.
pub(crate) struct Held {
    shared: Arc<Shared>,
    /// Weak, because a service that takes its time must not keep a socket open.
    connection: Weak<Connection>,
    _open: Counted,
}

impl Held {
    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.upgrade() {
            connection.release();
            connection.enter(Phase::Idle);
        }
        self.shared.events().ended(self.shared.leave());
    }
}
