//! Writing to the client without waiting for it.

use std::os::fd::BorrowedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;
use rustix::pipe::PIPE_BUF;

/// Whether a descriptor that polls as writable takes [`PIPE_BUF`] bytes without making anybody wait.
/// Pipes promise that, and sockets have far more room by then; terminals and files do not say.
pub(super) fn is_predictable(output: BorrowedFd<'_>) -> bool {
    rustix::fs::fstat(output).is_ok_and(|stat| {
        matches!(
            FileType::from_raw_mode(stat.st_mode),
            FileType::Fifo | FileType::Socket
        )
    })
}

/// Writes what the peer has room for now, at most [`PIPE_BUF`] bytes, to a predictable descriptor, and
/// tells how many they were.
///
/// # Errors
///
/// [`Errno::PIPE`] and others when nobody reads any more.
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
