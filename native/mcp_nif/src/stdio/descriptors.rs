//! The protocol's own descriptors: stdin and stdout as the client opened them, moved out of the way
//! of everybody who reads descriptor 0 or writes to descriptor 1.

use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use rustix::io::Errno;

use super::lines::LineBuffer;
use super::pollset::forget;
use super::writer::is_predictable;

/// The two descriptors, and what was read from the first but not handed on.
pub(super) struct Descriptors {
    input: OwnedFd,
    output: OwnedFd,
    /// Whether what polls as ready makes nobody wait: the input, and the output for few bytes.
    pub(super) predictable_input: bool,
    pub(super) predictable_output: bool,
    /// The other end of what descriptor 0 is now.
    _peer: UnixStream,
    /// Taken by whoever reads, and put back, so that the next one, be it a restarted owner's, misses nothing.
    pending: Mutex<Option<LineBuffer>>,
    returned: Condvar,
}

/// A process has one stdin: it is moved once, however often the owner is restarted.
static DESCRIPTORS: Mutex<Option<&'static Descriptors>> = Mutex::new(None);

/// Moves stdin and stdout, or says where they were moved before.
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
    /// Copies before it replaces, so that a failure changes nothing. From here on descriptor 0 is at
    /// its end, and what anybody writes to descriptor 1 goes to stderr.
    fn take_over() -> Result<Self, Errno> {
        let (ended, peer) = ended_stream()?;
        let input = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?;
        let output = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdout(), 3)?;
        // Output that waits for the client is polled for once; input would be polled for ever.
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

    /// Puts bytes before those that are pending; `false` while somebody reads.
    pub(super) fn prepend(&self, bytes: &[u8]) -> bool {
        match lock(&self.pending).as_mut() {
            Some(pending) => {
                pending.prepend(bytes);
                true
            }
            None => false,
        }
    }

    /// The pending bytes, once nobody else has them.
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

    /// The pending bytes, if nobody has them.
    pub(super) fn try_take(&self) -> Option<LineBuffer> {
        lock(&self.pending).take()
    }

    pub(super) fn put_back(&self, buffer: LineBuffer) {
        *lock(&self.pending) = Some(buffer);
        self.returned.notify_one();
    }
}

/// A stream that is at its end, and the end that must stay open: unlike `/dev/null` it can be polled, so that the VM
/// finds the end by itself, and unlike a pipe without a writer it does not wake who has heard of it.
fn ended_stream() -> Result<(UnixStream, UnixStream), Errno> {
    let (ended, peer) = UnixStream::pair().map_err(|error| errno(&error))?;
    peer.shutdown(Shutdown::Write)
        .map_err(|error| errno(&error))?;
    Ok((ended, peer))
}

fn errno(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Nothing in here can be left half done, so a poisoned lock is as good as any.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
