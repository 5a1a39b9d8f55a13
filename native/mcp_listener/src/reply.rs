//! The body of a response, as hyper takes it.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use hyper::body::{Body, Frame, SizeHint};

use crate::call::Held;
use crate::payload::Payload;
use crate::stats::Counted;

pub(crate) enum ReplyBody {
    /// All of it. Its exact size makes hyper send a length and write it together with the head.
    Full(Payload),
    /// The pieces of a stream as they come.
    Stream(Stream),
}

pub(crate) struct Stream {
    held: Held,
    /// Bytes that hyper was given and has not come back for more since.
    given: usize,
    _open: Counted,
}

impl ReplyBody {
    pub(crate) fn full(payload: Payload) -> Self {
        Self::Full(payload)
    }

    pub(crate) fn stream(held: Held, open: Counted) -> Self {
        Self::Stream(Stream {
            held,
            given: 0,
            _open: open,
        })
    }
}

impl Stream {
    /// hyper asks for more once less than a buffer of what it has is unwritten, so the peer takes
    /// what it was given before: that is when it counts as sent.
    fn poll_payload(&mut self, cx: &mut Context<'_>) -> Poll<Option<Payload>> {
        let given = std::mem::take(&mut self.given);
        if given > 0 {
            self.held.shared().events().sent(given);
        }
        let pieces = ready!(self.held.shared().poll_pieces(cx));
        Poll::Ready(pieces.map(|(pieces, bytes)| {
            self.given = bytes;
            Payload::many(pieces, bytes)
        }))
    }
}

impl Body for ReplyBody {
    type Data = Payload;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Payload>, Infallible>>> {
        match &mut *self {
            Self::Full(payload) if payload.is_empty() => Poll::Ready(None),
            Self::Full(payload) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(payload))))),
            Self::Stream(stream) => stream
                .poll_payload(cx)
                .map(|payload| payload.map(|payload| Ok(Frame::data(payload)))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Full(payload) => payload.is_empty(),
            Self::Stream(stream) => stream.held.shared().is_drained(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(payload) => {
                let bytes = bytes::Buf::remaining(payload);
                SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
            }
            Self::Stream(_) => SizeHint::default(),
        }
    }
}
