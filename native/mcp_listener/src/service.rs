//! What a listener asks, and of whom.

use std::net::SocketAddr;

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::http::request::Parts;

use crate::answer::Answer;
use crate::call::Call;

/// Whoever judges requests and answers them. Its methods are called on the threads of the listener
/// and must not wait; a panic in one is answered like [`Fault::Internal`].
pub trait Service: Send + Sync + 'static {
    /// What is remembered of a head until its body has been read.
    type Head: Send + 'static;

    /// Judges the head of a request, before any of its body is read.
    fn head(&self, head: &RequestHead<'_>) -> Verdict<Self::Head>;

    /// Answers a request, or opens an exchange by `call` and answers later. `body` is what
    /// [`Verdict::Read`] asked for, and `None` after [`Verdict::Defer`]. With neither answer nor
    /// exchange the request gets [`Fault::Internal`].
    fn call(&self, head: Self::Head, body: Option<Bytes>, call: &mut Call) -> Option<Answer>;

    /// The answer to a request that the listener itself gives up.
    fn refuse(&self, fault: Fault) -> Answer;

    /// The same for a request whose head was let through, and whose body cannot be had.
    fn refuse_body(&self, head: &Self::Head, fault: Fault) -> Answer {
        let _ = head;
        self.refuse(fault)
    }
}

/// What is to be done with a request whose head was read.
#[derive(Debug)]
pub enum Verdict<H> {
    /// This is the answer. What there is of a body stays unread, and the connection is closed then.
    Answer(Answer),
    /// The body is read, and given to [`Service::call`].
    Read {
        /// What to remember.
        head: H,
        /// The longest body; above it the request gets [`Fault::TooLarge`].
        max_bytes: usize,
    },
    /// The request is given to [`Service::call`] at once; its exchange may ask for the body.
    Defer {
        /// What to remember.
        head: H,
        /// The longest body that may be asked for.
        max_bytes: usize,
    },
}

/// Why the listener gives a request up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Its length is said twice, or in two ways; or the body is not what the head says. 400.
    Malformed,
    /// The body did not arrive in time. 408.
    Timeout,
    /// The body is too long. 413.
    TooLarge,
    /// Nobody answered, or the service panicked. 500.
    Internal,
    /// There is no room for its body, or for its connection; or the listener is closing. 503.
    Overloaded,
}

/// The head of a request.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'r> {
    parts: &'r Parts,
    peer: SocketAddr,
}

impl<'r> RequestHead<'r> {
    pub(crate) fn new(parts: &'r Parts, peer: SocketAddr) -> Self {
        Self { parts, peer }
    }

    /// The method, as sent.
    #[must_use]
    pub fn method(&self) -> &'r str {
        self.parts.method.as_str()
    }

    /// Path and query.
    #[must_use]
    pub fn target(&self) -> &'r str {
        let target = self.parts.uri.path_and_query();
        target.map_or("", |target| target.as_str())
    }

    /// The authority of a target in absolute form.
    #[must_use]
    pub fn authority(&self) -> Option<&'r str> {
        let authority = self.parts.uri.authority();
        authority.map(hyper::http::uri::Authority::as_str)
    }

    /// The headers.
    #[must_use]
    pub fn headers(&self) -> &'r HeaderMap {
        &self.parts.headers
    }

    /// Where the request comes from.
    #[must_use]
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }
}
