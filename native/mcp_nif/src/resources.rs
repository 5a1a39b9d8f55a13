//! Where native work runs, and what native things Elixir holds.

use std::sync::{Mutex, PoisonError};

use mcp_core::schema::Validator;
use rustler::{Binary, Env, NewBinary, ResourceArc, Term};

use crate::terms::TermJson;

/// A compiled schema.
pub(crate) struct SchemaResource(pub(crate) Validator<TermJson>);

#[rustler::resource_impl]
impl rustler::Resource for SchemaResource {}

/// From this size on copying a text costs more than a resource.
const COPIED_BYTES: usize = 64 * 1024;
/// A text that is a smaller part of its buffer than one in so many is copied too.
const BUFFER_PART: usize = 4;
/// Buffers kept for the next text, and how large each may be: 16 MiB in all.
const KEPT_BUFFERS: usize = 4;
const KEPT_BYTES: usize = 4 * 1024 * 1024;

/// Buffers whose memory the system has already handed out: in a fresh one every page costs a fault,
/// which for a megabyte is more than writing it.
static BUFFERS: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer to write a text into.
pub(crate) fn buffer() -> Vec<u8> {
    BUFFERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop()
        .unwrap_or_else(|| Vec::with_capacity(1024))
}

/// Gives a buffer back.
pub(crate) fn keep(mut buffer: Vec<u8>) {
    if buffer.capacity() <= KEPT_BYTES {
        buffer.clear();
        let mut buffers = BUFFERS.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < KEPT_BUFFERS {
            buffers.push(buffer);
        }
    }
}

/// Text that was written natively and is now a binary of the VM's, without a copy.
pub(crate) struct Output(pub(crate) Vec<u8>);

#[rustler::resource_impl]
impl rustler::Resource for Output {}

impl Drop for Output {
    fn drop(&mut self) {
        keep(std::mem::take(&mut self.0));
    }
}

/// A finished text as a binary. One that fills only a small part of its buffer is copied: the buffer
/// would stay for as long as somebody keeps the text.
pub(crate) fn binary_term(env: Env<'_>, text: Vec<u8>) -> Term<'_> {
    if text.len() < COPIED_BYTES || text.capacity() / BUFFER_PART > text.len() {
        let binary = NewBinary::from_slice(env, &text).into();
        keep(text);
        return binary;
    }
    let output = ResourceArc::new(Output(text));
    let binary: Binary<'_> = output.make_binary(env, |output| &output.0);
    binary.to_term(env)
}

/// The stack of a thread that compiles schemas: a scheduler's is too small for code that recurses
/// with the schema.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Does the work on a thread with a large stack and waits for it; `None` when the thread could not
/// be started, or panicked.
pub(crate) fn on_large_stack<R: Send>(work: impl FnOnce() -> R + Send) -> Option<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("mcp_schema".to_owned())
            .stack_size(STACK_BYTES);
        thread.spawn_scoped(scope, work).ok()?.join().ok()
    })
}

/// Reports work done on a normal scheduler: 1 % of a timeslice (1 ms) per 10 µs, at 100 MB/s.
pub(crate) fn report_work(env: Env<'_>, bytes: usize) {
    let percent = bytes / 1024;
    if percent > 0 {
        let percent = i32::try_from(percent.min(100)).unwrap_or(100);
        rustler::schedule::consume_timeslice(env, percent);
    }
}
