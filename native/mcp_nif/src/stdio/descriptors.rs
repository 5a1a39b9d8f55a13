//! The protocol's descriptors: the client's stdin and stdout, moved to other numbers so that other
//! code cannot read them as descriptor 0 or write to them as descriptor 1.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::lines::LineBuffer;
use super::pollset::forget;
use super::writer::is_predictable;

/// The two descriptors, and the input that was read but not sent yet.
pub(super) struct Descriptors {
    input: OwnedFd,
    output: OwnedFd,
    /// Whether a ready descriptor never blocks: the input, and the output for a few bytes.
    pub(super) predictable_input: bool,
    pub(super) predictable_output: bool,
    /// The other end of the stream that replaced descriptor 0.
    _peer: UnixStream,
    /// A reader takes the buffer and puts it back, so that a restarted owner loses no bytes.
    pending: Mutex<Option<LineBuffer>>,
    returned: Condvar,
}

/// An OS process has one stdin: it is moved once, even if the owner restarts.
static DESCRIPTORS: Mutex<Option<&'static Descriptors>> = Mutex::new(None);

/// Moves stdin and stdout on the first call; later calls return the same descriptors.
pub(super) fn open() -> Result<&'static Descriptors, Errno> {
    let mut descriptors = lock(&DESCRIPTORS);
    if let Some(descriptors) = *descriptors {
        return Ok(descriptors);
    }
    let moved: &'static Descriptors = Box::leak(Box::new(Descriptors::take_over()?));
    *descriptors = Some(moved);
    Ok(moved)
}

impl Descriptors {
    /// Copies before it replaces, so that a failure changes nothing. Afterwards descriptor 0 is at
    /// its end, and descriptor 1 writes to stderr.
    fn take_over() -> Result<Self, Errno> {
        let (ended, peer) = ended_stream()?;
        let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        // A poll for output ends with one event; a poll for input would never end.
        forget(rustix::stdio::stdin());
        rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
        rustix::stdio::dup2_stdin(&ended)?;
        Ok(Self {
            predictable_input: is_predictable(input.as_fd()),
            predictable_output: is_predictable(output.as_fd()),
            input,
            output,
            _peer: peer,
            pending: Mutex::new(Some(LineBuffer::default())),
            returned: Condvar::new(),
        })
    }

    pub(super) fn input(&self) -> BorrowedFd<'_> {
        self.input.as_fd()
    }

    pub(super) fn output(&self) -> BorrowedFd<'_> {
        self.output.as_fd()
    }

    /// Puts bytes before the pending bytes; `false` while a reader has them.
    pub(super) fn prepend(&self, bytes: &[u8]) -> bool {
        match lock(&self.pending).as_mut() {
            Some(pending) => {
                pending.prepend(bytes);
                true
            }
            None => false,
        }
    }

    /// Waits until no other reader has the pending bytes, and takes them.
    pub(super) fn take(&self) -> LineBuffer {
        let mut pending = lock(&self.pending);
        loop {
            if let Some(buffer) = pending.take() {
                return buffer;
            }
            pending = self
                .returned
                .wait(pending)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes the pending bytes if no other reader has them.
    pub(super) fn try_take(&self) -> Option<LineBuffer> {
        lock(&self.pending).take()
    }

    pub(super) fn put_back(&self, buffer: LineBuffer) {
        *lock(&self.pending) = Some(buffer);
        self.returned.notify_one();
    }
}

/// A stream at its end, and the peer that must stay open. The VM can poll it, unlike `/dev/null`,
/// and so finds the end. It does not wake pollers again and again, unlike a pipe without a writer.
fn ended_stream() -> Result<(UnixStream, UnixStream), Errno> {
    let (ended, peer) = UnixStream::pair().map_err(|error| errno(&error))?;
    peer.shutdown(Shutdown::Write)
        .map_err(|error| errno(&error))?;
    Ok((ended, peer))
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Ignores poisoning: no critical section leaves a partial change.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
