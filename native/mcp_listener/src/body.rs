//! Reading a request body: no longer than allowed, no slower than allowed, and within the budget.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, ready};

use bytes::{Bytes, BytesMut};
use hyper::body::{Body, Frame, Incoming};

use crate::budget::{Budget, Reservation};
use crate::connection::{Connection, Phase};
use crate::service::Fault;

/// A body, and the room it takes.
pub(crate) struct ReadBody {
    pub(crate) bytes: Bytes,
    pub(crate) reservation: Reservation,
}

/// A request's body before and after it is read.
pub(crate) struct Unread {
    incoming: Incoming,
    at_end: bool,
}

impl Unread {
    pub(crate) fn new(incoming: Incoming) -> Self {
        let at_end = incoming.is_end_stream();
        Self { incoming, at_end }
    }

    /// Whether nothing of it is left on the connection.
    pub(crate) fn is_at_end(&self) -> bool {
        self.at_end
    }

    /// Reads all of it. A declared length that is too long is refused before a byte is read, and the
    /// bytes are counted all the same.
    pub(crate) async fn read(
        &mut self,
        connection: &Connection,
        max_bytes: usize,
        budget: &Arc<Budget>,
    ) -> Result<ReadBody, Fault> {
        let mut read = ReadBody {
            bytes: Bytes::new(),
            reservation: Reservation::new(budget),
        };
        if self.at_end {
            return Ok(read);
        }
        let declared = self.incoming.size_hint().exact();
        let max = u64::try_from(max_bytes).unwrap_or(u64::MAX);
        if declared.is_some_and(|declared| declared > max) {
            return Err(Fault::TooLarge);
        }
        connection.enter(Phase::Body);
        let mut joined: Option<BytesMut> = None;
        while let Some(bytes) = self.next(connection).await? {
            connection.note_received(bytes.len());
            let had = joined.as_ref().map_or(read.bytes.len(), BytesMut::len);
            if had.saturating_add(bytes.len()) > max_bytes {
                return Err(Fault::TooLarge);
            }
            if !read.reservation.grow(bytes.len()) {
                return Err(Fault::Overloaded);
            }
            match &mut joined {
                Some(joined) => joined.extend_from_slice(&bytes),
                // What comes in one piece stays where it is.
                None if read.bytes.is_empty() => read.bytes = bytes,
                None => {
                    let mut both = BytesMut::with_capacity(bytes.len().saturating_mul(2));
                    both.extend_from_slice(&read.bytes);
                    both.extend_from_slice(&bytes);
                    joined = Some(both);
                }
            }
        }
        connection.enter(Phase::Open);
        self.at_end = true;
        if let Some(joined) = joined {
            read.bytes = joined.freeze();
        }
        Ok(read)
    }

    /// The next bytes; `None` at the end.
    async fn next(&mut self, connection: &Connection) -> Result<Option<Bytes>, Fault> {
        poll_fn(|cx| {
            if connection.is_expired() {
                return Poll::Ready(Err(Fault::Timeout));
            }
            loop {
                let frame = ready!(Pin::new(&mut self.incoming).poll_frame(cx));
                match frame.map(|frame| frame.map(Frame::into_data)) {
                    None => return Poll::Ready(Ok(None)),
                    Some(Ok(Ok(bytes))) => return Poll::Ready(Ok(Some(bytes))),
                    // Trailers say nothing to us.
                    Some(Ok(Err(_))) => {}
                    Some(Err(_)) => return Poll::Ready(Err(Fault::Malformed)),
                }
            }
        })
        .await
    }
}
