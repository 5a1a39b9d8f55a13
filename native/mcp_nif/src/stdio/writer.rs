//! Writes to the client without waiting.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;

/// Whether a descriptor that polls as writable takes [`PIPE_BUF`] bytes without blocking. Pipes
/// guarantee that, and writable sockets have far more room; terminals and files guarantee nothing.
pub(super) fn is_predictable(output: BorrowedFd<'_>) -> bool {
    rustix::fs::fstat(output).is_ok_and(|stat| {
        matches!(
            FileType::from_raw_mode(stat.st_mode),
            FileType::Fifo | FileType::Socket
        )
    })
}

/// Writes as many bytes as the peer has room for, at most [`PIPE_BUF`], to a predictable
/// descriptor, and returns their number.
///
/// # Errors
///
/// [`Errno::PIPE`] and others if the client no longer reads.
pub(super) fn write_now(output: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Errno> {
    let mut polled = [PollFd::new(&output, PollFlags::OUT)];
    let writable = poll(&mut polled, Some(&Timespec::default()))
        .is_ok_and(|ready| ready > 0)
        .then_some(bytes.get(..PIPE_BUF).unwrap_or(bytes));
    match writable.map(|bytes| rustix::io::write(output, bytes)) {
        None | Some(Err(Errno::AGAIN | Errno::INTR)) => Ok(0),
        Some(written) => written,
    }
}
