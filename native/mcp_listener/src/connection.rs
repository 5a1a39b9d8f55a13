//! What is known of one connection, wherever it is looked at from.

use std::net::{Shutdown, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use socket2::SockRef;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::net::tcp::OwnedWriteHalf;

use crate::exchange::Shared;

/// What a connection is doing, which says what deadline it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The bytes of a head are awaited: one has come, or the connection is new.
    Head,
    /// A body is being read.
    Body,
    /// The service has the request, or a stream is open.
    Open,
    /// The last request was answered.
    Idle,
}

impl Phase {
    fn of(code: u8) -> Self {
        match code {
            0 => Self::Head,
            1 => Self::Body,
            2 => Self::Open,
            _ => Self::Idle,
        }
    }
}

/// Milliseconds that only go forward; never 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Instant);

impl Clock {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn now(self) -> u64 {
        let passed = u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX);
        passed.saturating_add(1)
    }
}

pub(crate) struct Connection {
    socket: OwnedWriteHalf,
    peer: SocketAddr,
    clock: Clock,
    phase: AtomicU8,
    since: AtomicU64,
    /// Since when the peer takes nothing, 0 while it does.
    blocked_since: AtomicU64,
    /// Bytes of the body that have come.
    received: AtomicU64,
    cut: AtomicBool,
    expired: AtomicBool,
    lingers: AtomicBool,
    waker: Mutex<Option<Waker>>,
    /// The bytes of the head as they came, for what hyper does not tell of it.
    head: Mutex<Vec<u8>>,
    exchange: Mutex<Option<Arc<Shared>>>,
}

/// What is kept of a buffer for the next head.
const KEPT_HEAD_BYTES: usize = 2 * 1024;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Connection {
    pub(crate) fn new(socket: OwnedWriteHalf, peer: SocketAddr, clock: Clock) -> Self {
        Self {
            socket,
            peer,
            clock,
            phase: AtomicU8::new(Phase::Head as u8),
            since: AtomicU64::new(clock.now()),
            blocked_since: AtomicU64::new(0),
            received: AtomicU64::new(0),
            cut: AtomicBool::new(false),
            expired: AtomicBool::new(false),
            lingers: AtomicBool::new(false),
            waker: Mutex::new(None),
            head: Mutex::new(Vec::new()),
            exchange: Mutex::new(None),
        }
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        self.socket.as_ref()
    }

    pub(crate) fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Relaxed))
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.since.store(self.clock.now(), Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
        if phase == Phase::Body {
            self.received.store(0, Ordering::Relaxed);
        }
    }

    /// How long the phase has lasted.
    pub(crate) fn age(&self, now: u64) -> Duration {
        Duration::from_millis(now.saturating_sub(self.since.load(Ordering::Relaxed)))
    }

    /// How long the peer has taken nothing of what waits for it.
    pub(crate) fn stalled(&self, now: u64) -> Duration {
        match self.blocked_since.load(Ordering::Relaxed) {
            0 => Duration::ZERO,
            since => Duration::from_millis(now.saturating_sub(since)),
        }
    }

    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked_since.load(Ordering::Relaxed) != 0
    }

    pub(crate) fn note_blocked(&self) {
        if !self.is_blocked() {
            self.blocked_since
                .store(self.clock.now(), Ordering::Relaxed);
        }
    }

    pub(crate) fn note_written(&self) {
        if self.is_blocked() {
            self.blocked_since.store(0, Ordering::Relaxed);
            self.since.store(self.clock.now(), Ordering::Relaxed);
        }
    }

    /// Bytes that have just been read from the socket.
    pub(crate) fn note_read(&self, bytes: &[u8], max_head: usize) {
        let phase = self.phase();
        if phase == Phase::Idle {
            let mut head = lock(&self.head);
            head.clear();
            head.shrink_to(KEPT_HEAD_BYTES);
            drop(head);
            self.enter(Phase::Head);
        }
        if matches!(phase, Phase::Idle | Phase::Head) {
            let mut head = lock(&self.head);
            let room = max_head.saturating_sub(head.len()).min(bytes.len());
            head.extend_from_slice(bytes.get(..room).unwrap_or_default());
        }
    }

    /// The bytes that came since the connection was idle.
    pub(crate) fn with_head<R>(&self, look: impl FnOnce(&[u8]) -> R) -> R {
        look(&lock(&self.head))
    }

    /// From here on what is read belongs to something else.
    pub(crate) fn forget_head(&self) {
        lock(&self.head).clear();
    }

    /// The same, and gives its memory back: a stream may be open for long.
    pub(crate) fn free_head(&self) {
        *lock(&self.head) = Vec::new();
    }

    pub(crate) fn note_received(&self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.received.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// The body took too long; whoever reads it is to give up.
    pub(crate) fn expire(&self) {
        self.expired.store(true, Ordering::Release);
        self.wake();
    }

    pub(crate) fn is_expired(&self) -> bool {
        self.expired.load(Ordering::Acquire)
    }

    /// Ends the connection without another word.
    pub(crate) fn cut(&self) {
        self.cut.store(true, Ordering::Release);
        self.wake();
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Acquire)
    }

    /// Drops what the peer did not take, too: otherwise the system would go on offering it.
    pub(crate) fn reset(&self) {
        let _ = SockRef::from(self.socket()).set_linger(Some(Duration::ZERO));
        self.cut();
    }

    /// What the peer is still sending has to be read before the connection is closed, or the peer
    /// may never see the answer.
    pub(crate) fn linger(&self) {
        self.lingers.store(true, Ordering::Relaxed);
    }

    pub(crate) fn lingers(&self) -> bool {
        self.lingers.load(Ordering::Relaxed)
    }

    pub(crate) fn shut_down(&self) -> std::io::Result<()> {
        SockRef::from(self.socket()).shutdown(Shutdown::Write)
    }

    pub(crate) fn register(&self, cx: &Context<'_>) {
        let mut waker = lock(&self.waker);
        match &mut *waker {
            Some(known) => known.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
    }

    pub(crate) fn wake(&self) {
        let waker = lock(&self.waker).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn hold(&self, exchange: &Arc<Shared>) {
        *lock(&self.exchange) = Some(Arc::clone(exchange));
    }

    pub(crate) fn release(&self) {
        *lock(&self.exchange) = None;
    }

    pub(crate) fn exchange(&self) -> Option<Arc<Shared>> {
        lock(&self.exchange).clone()
    }

    pub(crate) fn has_exchange(&self) -> bool {
        lock(&self.exchange).is_some()
    }

    /// Whether the peer has closed its side, also when bytes it sent before are still unread.
    pub(crate) fn peer_has_closed(&self) -> bool {
        let ready = std::pin::pin!(self.socket().ready(Interest::READABLE));
        match ready.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(ready)) => ready.is_read_closed(),
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }

    /// Whether the peer has closed its side; if not, the task is woken when it does, unless bytes are
    /// waiting: then only [`Connection::peer_has_closed`] finds out.
    pub(crate) fn poll_peer_closed(&self, cx: &mut Context<'_>) -> bool {
        match self.socket().poll_read_ready(cx) {
            Poll::Ready(Ok(())) => self.peer_has_closed(),
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        }
    }
}
