//! The thread that reads the client's messages and sends them, against credits, to their owner.

use std::os::fd::OwnedFd;
use std::sync::{Condvar, Mutex, PoisonError};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustler::{
    Atom, Encoder, Env, LocalPid, Monitor, OwnedBinary, OwnedEnv, Resource, ResourceArc, Term,
};

use super::channel::{Channel, lock};
use super::lines::{LineBuffer, Next};
use crate::atoms;

/// One owner's right to read the channel; Elixir holds it as a reference.
pub(super) struct Reader {
    pub(super) channel: &'static Channel,
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
}

/// Why reading is over.
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
    pub(super) fn new(channel: &'static Channel) -> Result<Self, Errno> {
        let (woken, wake) = rustix::pipe::pipe()?;
        for end in [&woken, &wake] {
            rustix::io::fcntl_setfd(end, rustix::io::FdFlags::CLOEXEC)?;
        }
        Ok(Self {
            channel,
            control: Mutex::default(),
            changed: Condvar::new(),
            wake,
            woken,
        })
    }

    /// `false` if it was started before.
    pub(super) fn claim(&self) -> bool {
        let mut control = lock(&self.control);
        !std::mem::replace(&mut control.started, true)
    }

    pub(super) fn add_credits(&self, credits: usize) {
        let mut control = lock(&self.control);
        control.credits = control.credits.saturating_add(credits);
        drop(control);
        self.changed.notify_one();
    }

    /// Ends the thread, whatever it waits for. The pipe is never drained: it stays readable.
    pub(super) fn stop(&self) {
        lock(&self.control).stopped = true;
        self.changed.notify_one();
        let _ = rustix::io::write(&self.wake, b".");
    }

    fn stopped(&self) -> bool {
        lock(&self.control).stopped
    }

    /// Waits until one batch may be sent; `false` when stopped.
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

    /// Reads what there is, at least a byte. Somebody may have made the descriptor non-blocking (it
    /// is shared with whoever else holds the client's pipe), so an empty one is polled again.
    fn fill(&self, buffer: &mut LineBuffer) -> Result<(), End> {
        loop {
            let input = self.channel.input();
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
                Ok(0) => return Err(End::Eof),
                Ok(_) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => return Err(End::Failed(error)),
            }
        }
    }
}

/// The life of the thread: takes over the pending bytes, reads until the end, gives them back.
pub(super) fn run(reader: &ResourceArc<Reader>, owner: LocalPid, max_line: usize) {
    let mut buffer = reader.channel.take();
    let mut outbox = Outbox {
        reader,
        owner,
        env: OwnedEnv::new(),
    };
    let end = pump(&mut outbox, &mut buffer, max_line);
    reader.channel.put_back(buffer);
    match end {
        End::Stopped => {}
        End::Eof => {
            outbox.send(|env| atoms::eof().to_term(env));
        }
        End::Failed(error) => {
            outbox.send(|env| (atoms::error(), reason(error)).encode(env));
        }
    }
}

fn pump(outbox: &mut Outbox<'_>, buffer: &mut LineBuffer, max_line: usize) -> End {
    loop {
        if !outbox.reader.take_credit() {
            return End::Stopped;
        }
        let next = loop {
            match buffer.next(max_line) {
                Next::Incomplete => {
                    if let Err(end) = outbox.reader.fill(buffer) {
                        return end;
                    }
                }
                next => break next,
            }
        };
        let sent = match next {
            Next::Lines(lines) => outbox.send_lines(buffer.bytes(), &lines),
            _ => outbox.send(|env| atoms::too_long().to_term(env)),
        };
        if !sent {
            return End::Stopped;
        }
    }
}

struct Outbox<'r> {
    reader: &'r ResourceArc<Reader>,
    owner: LocalPid,
    env: OwnedEnv,
}

impl Outbox<'_> {
    /// Sends `{:mcp_stdin, reader, payload}`; `false` when the owner is gone.
    fn send(&mut self, payload: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) -> bool {
        let reader = self.reader;
        self.env
            .send_and_clear(&self.owner, |env| {
                (atoms::mcp_stdin(), reader, payload(env))
            })
            .is_ok()
    }

    /// One binary for the batch, and a view into it for each line.
    fn send_lines(&mut self, bytes: &[u8], lines: &[std::ops::Range<usize>]) -> bool {
        let start = lines.first().map_or(0, |line| line.start);
        let end = lines.last().map_or(0, |line| line.end);
        let chunk = OwnedBinary::from_slice(bytes.get(start..end).unwrap_or_default());
        self.send(|env| {
            let chunk = chunk.release(env);
            let lines: Vec<Term<'_>> = lines
                .iter()
                .filter_map(|line| {
                    chunk
                        .make_subbinary(line.start.checked_sub(start)?, line.len())
                        .ok()
                })
                .map(|line| line.to_term(env))
                .collect();
            (atoms::lines(), lines).encode(env)
        })
    }
}

/// The name of a system error, for the few that reading can meet.
pub(super) fn reason(error: Errno) -> Atom {
    match error {
        Errno::BADF => atoms::ebadf(),
        Errno::IO => atoms::eio(),
        Errno::MFILE | Errno::NFILE => atoms::emfile(),
        _ => atoms::unknown(),
    }
}
