//! How an exchange begins, and how it ends whatever happens.

use std::fmt;
use std::sync::{Arc, Weak};

use crate::connection::{Connection, Phase};
use crate::exchange::{Events, Exchange, Shared};

/// One request, as the service that is called for it sees it.
pub struct Call {
    connection: Weak<Connection>,
    max_queued: usize,
    opened: Option<Arc<Shared>>,
}

impl Call {
    pub(crate) fn new(connection: &Arc<Connection>, max_queued: usize) -> Self {
        Self {
            connection: Arc::downgrade(connection),
            max_queued,
            opened: None,
        }
    }

    /// The way to answer later. Once only: a second exchange is closed from the start.
    pub fn open(&mut self, events: Arc<dyn Events>) -> Exchange {
        let first = self.opened.is_none();
        let connection = Weak::clone(&self.connection);
        let shared = Arc::new(Shared::new(first, events, connection, self.max_queued));
        if first {
            // From here on it is found by whoever looks for exchanges, also before the service returns.
            if let Some(connection) = self.connection.upgrade() {
                connection.hold(&shared);
            }
            self.opened = Some(Arc::clone(&shared));
        }
        Exchange::new(shared)
    }

    pub(crate) fn into_opened(self) -> Option<Arc<Shared>> {
        self.opened
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Call")
    }
}

/// The connection's end. However it goes, the events hear of it.
pub(crate) struct Held {
    shared: Arc<Shared>,
    connection: Arc<Connection>,
}

impl Held {
    pub(crate) fn new(shared: Arc<Shared>, connection: &Arc<Connection>) -> Self {
        Self {
            shared,
            connection: Arc::clone(connection),
        }
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.connection.release();
        self.connection.enter(Phase::Idle);
        self.shared.events().ended(self.shared.leave());
    }
}
