//! Answers that come later: one reply, or a stream.
//!
//! An exchange has two ends. [`Exchange`] may be used and dropped on any thread: it changes what is
//! written down here and wakes the connection, no more. The other end lives in the connection's task
//! and is the only one that calls [`Events`].

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

use crate::answer::Answer;
use crate::connection::Connection;
use crate::payload::Payload;
use crate::service::Fault;

/// Who is told what becomes of an exchange. All of it is called on threads of the listener.
pub trait Events: Any + Send + Sync {
    /// So many bytes of the stream have left for the peer since the last time.
    fn sent(&self, bytes: usize);

    /// The body that was asked for; or why there is none, in which case the peer has been answered.
    fn body(&self, body: Result<Bytes, Fault>);

    /// Nothing more will happen. Called once, and last.
    fn ended(&self, how: Ended);
}

/// How an exchange ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The answer was handed over, or the stream was finished.
    Answered,
    /// The peer is gone, or was cut.
    Closed,
}

/// What an exchange has come to.
enum Stage {
    /// Nothing was said.
    Waiting,
    /// The reply is here, and will be taken.
    Answered(Answer),
    /// The head of a stream is here, and will be taken.
    Opened(Answer),
    /// Pieces are being written.
    Streaming,
    /// There will be no more pieces.
    Finished(Ended),
    /// Whoever was to answer will not.
    Failed(Fault),
    /// The connection's end has all it will get, or is gone.
    Over(Ended),
}

struct State {
    stage: Stage,
    wants_body: bool,
    pieces: VecDeque<Bytes>,
    queued: usize,
    waker: Option<Waker>,
}

/// What both ends share.
pub(crate) struct Shared {
    state: Mutex<State>,
    events: Arc<dyn Events>,
    /// Weak, because an exchange that somebody keeps must not keep a socket open.
    connection: Weak<Connection>,
    max_queued: usize,
}

/// What the connection's end sees when it looks.
pub(crate) enum News {
    Answer(Answer),
    Stream(Answer),
    Failed(Fault),
    WantsBody,
}

impl Shared {
    /// What one that is not open has come to is over.
    pub(crate) fn new(
        open: bool,
        events: Arc<dyn Events>,
        connection: Weak<Connection>,
        max_queued: usize,
    ) -> Self {
        Self {
            state: Mutex::new(State {
                stage: if open {
                    Stage::Waiting
                } else {
                    Stage::Over(Ended::Closed)
                },
                wants_body: false,
                pieces: VecDeque::new(),
                queued: 0,
                waker: None,
            }),
            events,
            connection,
            max_queued,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is written down, and wakes the connection if `change` says so.
    fn change(&self, change: impl FnOnce(&mut State) -> bool) -> bool {
        let mut state = self.lock();
        let changed = change(&mut state);
        let waker = if changed { state.waker.take() } else { None };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        changed
    }

    /// Whoever was to answer will not.
    pub(crate) fn give_up(&self) {
        self.fail(Fault::Internal);
    }

    /// Nobody will answer: the peer gets a fault, or a stream that breaks off.
    fn fail(&self, fault: Fault) {
        let mut broken = false;
        self.change(|state| match state.stage {
            Stage::Waiting => {
                state.stage = Stage::Failed(fault);
                true
            }
            Stage::Opened(_) | Stage::Streaming => {
                broken = true;
                false
            }
            _ => false,
        });
        if broken {
            self.cut();
        }
    }

    /// The listener closes: whoever waits is answered, whoever streams has finished.
    pub(crate) fn end(&self) {
        self.change(|state| {
            match state.stage {
                Stage::Waiting => state.stage = Stage::Failed(Fault::Overloaded),
                Stage::Streaming => state.stage = Stage::Finished(Ended::Closed),
                _ => return false,
            }
            true
        });
    }

    fn cut(&self) {
        if let Some(connection) = self.connection.upgrade() {
            connection.cut();
        }
    }

    pub(crate) fn events(&self) -> &dyn Events {
        &*self.events
    }

    /// What there is to do before the response begins.
    pub(crate) fn poll_news(&self, cx: &mut Context<'_>) -> Poll<News> {
        let mut state = self.lock();
        match std::mem::replace(&mut state.stage, Stage::Over(Ended::Closed)) {
            Stage::Answered(answer) => {
                state.stage = Stage::Over(Ended::Answered);
                Poll::Ready(News::Answer(answer))
            }
            Stage::Failed(fault) => Poll::Ready(News::Failed(fault)),
            Stage::Opened(head) => {
                state.stage = Stage::Streaming;
                Poll::Ready(News::Stream(head))
            }
            other => {
                state.stage = other;
                if std::mem::take(&mut state.wants_body) {
                    return Poll::Ready(News::WantsBody);
                }
                remember(&mut state.waker, cx);
                Poll::Pending
            }
        }
    }

    /// The pieces that wait, and how many bytes they are; `None` at the end of the stream.
    pub(crate) fn poll_pieces(
        &self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<(VecDeque<Bytes>, usize)>> {
        let mut state = self.lock();
        if state.queued > 0 {
            let pieces = std::mem::take(&mut state.pieces);
            return Poll::Ready(Some((pieces, std::mem::take(&mut state.queued))));
        }
        if matches!(state.stage, Stage::Streaming) {
            remember(&mut state.waker, cx);
            return Poll::Pending;
        }
        Poll::Ready(None)
    }

    /// Whether all pieces were taken and no more will come.
    pub(crate) fn is_drained(&self) -> bool {
        let state = self.lock();
        state.queued == 0 && !matches!(state.stage, Stage::Streaming)
    }

    /// The connection's end goes: how the exchange has ended.
    pub(crate) fn leave(&self) -> Ended {
        let mut state = self.lock();
        let ended = match state.stage {
            Stage::Finished(ended) | Stage::Over(ended) if state.queued == 0 => ended,
            _ => Ended::Closed,
        };
        state.stage = Stage::Over(ended);
        state.pieces = VecDeque::new();
        state.queued = 0;
        state.waker = None;
        ended
    }
}

fn remember(waker: &mut Option<Waker>, cx: &Context<'_>) {
    match waker {
        Some(known) => known.clone_from(cx.waker()),
        None => *waker = Some(cx.waker().clone()),
    }
}

/// One request whose answer comes later. When it is dropped unanswered the peer gets
/// [`Fault::Internal`], or a stream that breaks off.
pub struct Exchange(Arc<Shared>);

impl Exchange {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self(shared)
    }

    /// One that is over from the start: nothing it is told goes anywhere.
    #[must_use]
    pub fn over(events: Arc<dyn Events>) -> Self {
        Self(Arc::new(Shared::new(false, events, Weak::new(), 0)))
    }

    /// Answers; `false` when that is no longer possible.
    pub fn reply(&self, answer: Answer) -> bool {
        self.0.change(|state| {
            let waiting = matches!(state.stage, Stage::Waiting);
            if waiting {
                state.stage = Stage::Answered(answer);
            }
            waiting
        })
    }

    /// Answers with a stream, whose head goes out in one write with what `head` has as its body;
    /// `false` when that is no longer possible.
    pub fn stream(&self, mut head: Answer) -> bool {
        self.0.change(|state| {
            let waiting = matches!(state.stage, Stage::Waiting);
            if waiting {
                let (pieces, bytes) = std::mem::take(&mut head.body).into_pieces();
                state.pieces = pieces;
                state.queued = bytes;
                state.stage = Stage::Opened(head);
            }
            waiting
        })
    }

    /// Adds to the stream; `false` when nobody reads it any more. A stream that has too much waiting
    /// already is cut; a single piece may be as long as it likes.
    pub fn chunk(&self, bytes: Bytes) -> bool {
        let mut full = false;
        let taken = self.0.change(|state| {
            if !matches!(state.stage, Stage::Opened(_) | Stage::Streaming) {
                return false;
            }
            full = state.queued > self.0.max_queued;
            if !full && !bytes.is_empty() {
                state.queued = state.queued.saturating_add(bytes.len());
                state.pieces.push_back(bytes);
            }
            !full
        });
        if full {
            self.0.cut();
        }
        taken
    }

    /// Ends the stream. What was not answered until now is a failure.
    pub fn finish(&self) {
        let mut unanswered = false;
        self.0.change(|state| {
            match &mut state.stage {
                Stage::Streaming => state.stage = Stage::Finished(Ended::Answered),
                Stage::Opened(head) => {
                    // A stream that is over before it began is a reply.
                    let bytes = std::mem::take(&mut state.queued);
                    let mut answer = std::mem::take(head);
                    answer.body = Payload::many(std::mem::take(&mut state.pieces), bytes);
                    state.stage = Stage::Answered(answer);
                }
                Stage::Waiting => unanswered = true,
                _ => {}
            }
            !unanswered
        });
        if unanswered {
            self.fail();
        }
    }

    /// Cuts the connection, whatever was answered.
    pub fn abort(&self) {
        self.0.cut();
    }

    /// Asks for the body of a deferred request; [`Events::body`] brings it.
    pub fn read_body(&self) {
        self.0.change(|state| {
            state.wants_body = true;
            true
        });
    }

    /// Nobody will answer this any more.
    pub fn fail(&self) {
        self.0.give_up();
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.fail();
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exchange")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Nobody;

    impl Events for Nobody {
        fn sent(&self, _bytes: usize) {}
        fn body(&self, _body: Result<Bytes, Fault>) {}
        fn ended(&self, _how: Ended) {}
    }

    /// A stream that nobody takes anything of.
    fn stalled(max_queued: usize) -> Exchange {
        let shared = Shared::new(true, Arc::new(Nobody), Weak::new(), max_queued);
        let exchange = Exchange::new(Arc::new(shared));
        assert!(exchange.stream(Answer::default()));
        exchange
    }

    fn piece(length: usize) -> Bytes {
        Bytes::from(vec![b'x'; length])
    }

    #[test]
    fn a_stream_takes_pieces_until_more_than_the_limit_waits() {
        let exchange = stalled(100);
        assert!(exchange.chunk(piece(60)));
        assert!(exchange.chunk(piece(40)));
        assert!(exchange.chunk(piece(1)));
        assert!(!exchange.chunk(piece(1)));
    }

    #[test]
    fn one_piece_may_be_longer_than_what_may_wait() {
        let exchange = stalled(100);
        assert!(exchange.chunk(piece(5000)));
        assert!(!exchange.chunk(piece(1)));
    }
}
