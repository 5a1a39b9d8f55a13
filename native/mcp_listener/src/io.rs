//! A socket as hyper reads and writes it, noting what happens for the deadlines.

use std::cell::RefCell;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use hyper::rt::{Read, ReadBufCursor, Write};
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::tcp::OwnedReadHalf;

use crate::connection::Connection;

/// What is read at once. hyper's own buffer cannot be read into without `unsafe`; the copy costs less
/// than a system call by far.
const READ_BYTES: usize = 32 * 1024;

thread_local! {
    static BUFFER: RefCell<Box<[u8]>> = RefCell::new(vec![0; READ_BYTES].into_boxed_slice());
}

pub(crate) struct Io {
    read: OwnedReadHalf,
    connection: Arc<Connection>,
    max_head: usize,
}

impl Io {
    pub(crate) fn new(read: OwnedReadHalf, connection: &Arc<Connection>, max_head: usize) -> Self {
        Self {
            read,
            connection: Arc::clone(connection),
            max_head,
        }
    }

    /// Writes as soon as the socket takes something.
    fn poll_write_with(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut() -> io::Result<usize>,
    ) -> Poll<io::Result<usize>> {
        loop {
            if self.connection.socket().poll_write_ready(cx)?.is_pending() {
                self.connection.note_blocked();
                return Poll::Pending;
            }
            match write() {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                written => {
                    self.connection.note_written();
                    return Poll::Ready(written);
                }
            }
        }
    }
}

impl Read for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        BUFFER.with_borrow_mut(|buffer| {
            let room = buffer.len().min(into.remaining());
            let mut read = ReadBuf::new(buffer.get_mut(..room).unwrap_or_default());
            ready!(Pin::new(&mut self.read).poll_read(cx, &mut read))?;
            if !read.filled().is_empty() {
                self.connection.note_read(read.filled(), self.max_head);
                into.put_slice(read.filled());
            }
            Poll::Ready(Ok(()))
        })
    }
}

impl Write for Io {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, || self.connection.socket().try_write(bytes))
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_with(cx, || self.connection.socket().try_write_vectored(slices))
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.connection.shut_down())
    }
}
