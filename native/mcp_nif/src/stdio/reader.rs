//! Reads the client's messages. The owner takes the messages of a fast client directly; a thread
//! reads other messages and sends them, one batch per credit.

use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustler::{Atom, Encoder, Env, LocalPid, Monitor, OwnedEnv, Resource, ResourceArc, Term};

use super::batch::Batch;
use super::descriptors::{Descriptors, lock};
use super::lines::{LineBuffer, Next};
use crate::atoms;

/// If more bytes are pending, such as those of a long line, the thread continues: no scheduler
/// reads for long.
const TAKEN_BYTES: usize = 256 * 1024;

/// One owner's right to read the descriptors; Elixir holds it as a reference.
pub(super) struct Reader {
    pub(super) descriptors: &'static Descriptors,
    control: Mutex<Control>,
    changed: Condvar,
    wake: OwnedFd,
    woken: OwnedFd,
}

#[derive(Default)]
struct Control {
    started: bool,
    stopped: bool,
    credits: usize,
    max_line: usize,
}

/// The result of a read.
enum Event {
    Lines(Batch),
    TooLong,
}

impl Event {
    fn into_term(self, env: Env<'_>) -> Term<'_> {
        match self {
            Self::Lines(batch) => (atoms::lines(), batch.into_term(env)).encode(env),
            Self::TooLong => atoms::too_long().to_term(env),
        }
    }
}

/// Why reading ends.
enum End {
    Stopped,
    Eof,
    Failed(Errno),
}

#[rustler::resource_impl]
impl Resource for Reader {
    const IMPLEMENTS_DOWN: bool = true;

    fn down<'a>(&'a self, _env: Env<'a>, _pid: LocalPid, _monitor: Monitor) {
        self.stop();
    }
}

impl Reader {
    pub(super) fn new(descriptors: &'static Descriptors) -> Result<Self, Errno> {
        let (woken, wake) = rustix::pipe::pipe()?;
        for end in [&woken, &wake] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Self {
            descriptors,
            control: Mutex::default(),
            changed: Condvar::new(),
            wake,
            woken,
        })
    }

    /// Marks the reader as started; `false` if it was started before.
    pub(super) fn claim(&self, max_line: usize) -> bool {
        let mut control = lock(&self.control);
        control.max_line = max_line;
        !std::mem::replace(&mut control.started, true)
    }

    pub(super) fn add_credits(&self, credits: usize) {
        let mut control = lock(&self.control);
        control.credits = control.credits.saturating_add(credits);
        drop(control);
        self.changed.notify_one();
    }

    /// Wakes and ends the thread. The pipe is never drained, so it stays readable.
    pub(super) fn stop(&self) {
        lock(&self.control).stopped = true;
        self.changed.notify_one();
        let _ = rustix::io::write(&self.wake, b".");
    }

    fn stopped(&self) -> bool {
        lock(&self.control).stopped
    }

    /// Waits for a credit to send one batch; `false` if the reader was stopped.
    fn take_credit(&self) -> bool {
        let mut control = lock(&self.control);
        while control.credits == 0 && !control.stopped {
            control = self
                .changed
                .wait(control)
                .unwrap_or_else(PoisonError::into_inner);
        }
        control.credits = control.credits.saturating_sub(1);
        !control.stopped
    }

    fn max_line(&self) -> usize {
        lock(&self.control).max_line
    }

    /// Reads the lines that arrive within the time on the owner's scheduler. This wakes two threads
    /// fewer than the reader thread. `None` if nothing arrives, or if the thread should read it.
    pub(super) fn take<'a>(&self, env: Env<'a>, wait: Duration) -> Option<Term<'a>> {
        if !self.descriptors.predictable_input {
            return None;
        }
        let mut buffer = self.descriptors.try_take()?;
        let event = self.read_at_once(&mut buffer, wait);
        self.descriptors.put_back(buffer);
        event.map(|event| event.into_term(env))
    }

    fn read_at_once(&self, buffer: &mut LineBuffer, wait: Duration) -> Option<Event> {
        if buffer.pending() > TAKEN_BYTES {
            return None;
        }
        let max_line = self.max_line();
        let event = next_event(buffer, max_line);
        if event.is_some() || !self.comes(wait) {
            return event;
        }
        // The thread meets the end of input, or the error, again and reports it.
        let read = rustix::io::read(self.descriptors.input(), spare_capacity(buffer.room()));
        read.ok().filter(|read| *read > 0)?;
        next_event(buffer, max_line)
    }

    /// Whether bytes of the client arrive within the time.
    fn comes(&self, wait: Duration) -> bool {
        let input = self.descriptors.input();
        let mut polled = [PollFd::new(&input, PollFlags::IN)];
        let wait = Timespec::try_from(wait).unwrap_or_default();
        poll(&mut polled, Some(&wait)).is_ok_and(|ready| ready > 0)
    }

    /// Reads until the next event, without a time limit.
    fn read_on(&self, buffer: &mut LineBuffer) -> Result<Event, End> {
        let max_line = self.max_line();
        loop {
            if let Some(event) = next_event(buffer, max_line) {
                return Ok(event);
            }
            self.fill(buffer)?;
        }
    }

    /// Reads the available bytes, at least one. Another process that shares the client's pipe may
    /// have made the descriptor non-blocking, so an empty descriptor is polled again.
    fn fill(&self, buffer: &mut LineBuffer) -> Result<(), End> {
        loop {
            let input = self.descriptors.input();
            let mut ready = [
                PollFd::new(&input, PollFlags::IN),
                PollFd::new(&self.woken, PollFlags::IN),
            ];
            match poll(&mut ready, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(End::Failed(error)),
            }
            if self.stopped() {
                return Err(End::Stopped);
            }
            if ready.first().is_none_or(|input| input.revents().is_empty()) {
                continue;
            }
            match rustix::io::read(input, spare_capacity(buffer.room())) {
                // The client may close stdin without a line end after its last message.
                Ok(0) if buffer.end_last_line() => return Ok(()),
                Ok(0) => return Err(End::Eof),
                Ok(_) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(End::Failed(error)),
            }
        }
    }
}

fn next_event(buffer: &mut LineBuffer, max_line: usize) -> Option<Event> {
    match buffer.next(max_line) {
        Next::Lines(lines) => Some(Event::Lines(Batch::copy(buffer.bytes(), lines))),
        Next::TooLong => Some(Event::TooLong),
        Next::Incomplete => None,
    }
}

/// The loop of the thread: it sends one event for each credit, until the end.
pub(super) fn run(reader: &ResourceArc<Reader>, owner: LocalPid) {
    let mut env = OwnedEnv::new();
    while reader.take_credit() {
        let mut buffer = reader.descriptors.take();
        let event = reader.read_on(&mut buffer);
        // Before the event is sent, because the owner may read on at once.
        reader.descriptors.put_back(buffer);
        let going_on = event.is_ok();
        if matches!(event, Err(End::Stopped)) || !send(&mut env, reader, owner, event) || !going_on
        {
            return;
        }
    }
}

/// Sends `{:mcp_stdin, reader, event}`; `false` if the owner is dead.
fn send(
    env: &mut OwnedEnv,
    reader: &ResourceArc<Reader>,
    owner: LocalPid,
    event: Result<Event, End>,
) -> bool {
    let message = |env| {
        let event = match event {
            Ok(event) => event.into_term(env),
            Err(End::Failed(error)) => (atoms::error(), reason(error)).encode(env),
            Err(End::Eof | End::Stopped) => atoms::eof().to_term(env),
        };
        (atoms::mcp_stdin(), reader, event)
    };
    env.send_and_clear(&owner, message).is_ok()
}

/// The name of a system error that a read can return.
pub(super) fn reason(error: Errno) -> Atom {
    match error {
        Errno::BADF => atoms::ebadf(),
        Errno::IO => atoms::eio(),
        Errno::MFILE | Errno::NFILE => atoms::emfile(),
        _ => atoms::unknown(),
    }
}
