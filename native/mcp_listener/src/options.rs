//! The limits of a listener.

use std::time::Duration;

/// What a listener allows. Nothing can be unlimited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads that serve connections. Large bodies are judged on as many others.
    pub threads: usize,
    /// Connections at once; one more is answered 503 and closed.
    pub max_connections: usize,
    /// Bytes of a request's line and headers; above 431.
    pub max_head_bytes: usize,
    /// Headers of a request; above 431.
    pub max_headers: usize,
    /// How long a head may take, from its first byte on, or from the opening of the connection.
    pub head_timeout: Duration,
    /// How long a body may take in all.
    pub body_timeout: Duration,
    /// How long a body may take before its rate counts.
    pub body_grace: Duration,
    /// Bytes a second that a body has to make after that.
    pub body_min_rate: u64,
    /// How long a connection may wait for its next request.
    pub idle_timeout: Duration,
    /// How long a peer may take nothing of what it was written.
    pub stall_timeout: Duration,
    /// Bytes of a stream that may wait for the peer; whoever adds to more than that has it cut.
    pub max_queued_bytes: usize,
    /// Bytes of all request bodies at hand; above 503.
    pub max_body_bytes_in_flight: usize,
    /// Bodies up to here are judged where they were read; larger ones on a thread of their own, so
    /// that they hold nobody up.
    pub inline_body_bytes: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 2,
            max_connections: 16_384,
            max_head_bytes: 64 * 1024,
            max_headers: 100,
            head_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(60),
            body_grace: Duration::from_secs(5),
            body_min_rate: 1024,
            idle_timeout: Duration::from_secs(60),
            stall_timeout: Duration::from_secs(30),
            max_queued_bytes: 1024 * 1024,
            max_body_bytes_in_flight: 256 * 1024 * 1024,
            inline_body_bytes: 32 * 1024,
        }
    }
}

impl Options {
    /// How often deadlines are looked at: several times within the shortest, but not all the time.
    pub(crate) fn tick(&self) -> Duration {
        let shortest = [
            self.head_timeout,
            self.body_timeout,
            self.body_grace,
            self.idle_timeout,
            self.stall_timeout,
        ]
        .into_iter()
        .min()
        .unwrap_or(MAX_TICK);
        shortest
            .checked_div(4)
            .unwrap_or(MIN_TICK)
            .clamp(MIN_TICK, MAX_TICK)
    }
}

const MIN_TICK: Duration = Duration::from_millis(10);
const MAX_TICK: Duration = Duration::from_millis(250);
