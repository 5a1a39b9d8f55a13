//! The threads of native work, the buffers, and the native resources that Elixir holds.

use std::cell::Cell;
use std::sync::Mutex;

use rustler::{Binary, Env, NewBinary, Resource, ResourceArc, Term};

/// The most bytes read or written on a normal scheduler, below 0.3 ms of work. A dirty scheduler
/// does more.
pub(crate) const INLINE_BYTES: usize = 96 * 1024;

/// From this size on a copy of a text costs more than a resource.
const COPIED_BYTES: usize = 64 * 1024;
/// A text that fills less than this fraction (1/n) of its buffer is copied too.
const BUFFER_PART: usize = 4;
/// The buffers that each thread keeps without a lock, as many as one answer uses at once, and the
/// most bytes of each.
const LOCAL_BUFFERS: usize = 2;
const LOCAL_BYTES: usize = 256 * 1024;
/// The buffers that all threads share, and the most bytes of each: 16 MiB in all.
const SHARED_BUFFERS: usize = 4;
const SHARED_BYTES: usize = 4 * 1024 * 1024;

thread_local! {
    // Buffers whose pages are already mapped: each page of a new buffer costs a page fault, which
    // for a megabyte takes longer than writing it.
    static LOCAL: [Cell<Vec<u8>>; LOCAL_BUFFERS] =
        const { [const { Cell::new(Vec::new()) }; LOCAL_BUFFERS] };
}

/// No thread waits for this lock: if it is held, the thread works without these buffers.
static SHARED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// An empty buffer for a text with this budget. A text without a budget probably needs one
/// of the large, shared buffers.
pub(crate) fn buffer(budget: usize) -> Vec<u8> {
    let found = if budget == usize::MAX {
        shared_buffer().or_else(local_buffer)
    } else {
        local_buffer().or_else(shared_buffer)
    };
    found.unwrap_or_else(|| Vec::with_capacity(1024))
}

fn shared_buffer() -> Option<Vec<u8>> {
    SHARED.try_lock().ok()?.pop()
}

fn local_buffer() -> Option<Vec<u8>> {
    let take = |slots: &[Cell<Vec<u8>>; LOCAL_BUFFERS]| {
        let mut buffers = slots.iter().map(Cell::take);
        buffers.find(|buffer| buffer.capacity() > 0)
    };
    // A thread that ends has no buffers left.
    LOCAL.try_with(take).ok().flatten()
}

/// Gives a buffer back.
pub(crate) fn recycle(mut buffer: Vec<u8>) {
    if buffer.capacity() > SHARED_BYTES {
        return;
    }
    buffer.clear();
    if let Some(buffer) = recycle_local(buffer)
        && let Ok(mut buffers) = SHARED.try_lock()
        && buffers.len() < SHARED_BUFFERS
    {
        buffers.push(buffer);
    }
}

/// Puts a buffer into a free place of this thread; returns it if no place is free.
fn recycle_local(buffer: Vec<u8>) -> Option<Vec<u8>> {
    if buffer.capacity() > LOCAL_BYTES {
        return Some(buffer);
    }
    let mut buffer = Some(buffer);
    let _ = LOCAL.try_with(|slots| {
        for slot in slots {
            let held = slot.take();
            if held.capacity() == 0 {
                slot.set(buffer.take().unwrap_or_default());
                return;
            }
            slot.set(held);
        }
    });
    buffer
}

/// A natively written text that the VM uses as a binary without a copy.
pub(crate) struct Output(pub(crate) Vec<u8>);

#[rustler::resource_impl]
impl rustler::Resource for Output {}

impl Drop for Output {
    fn drop(&mut self) {
        recycle(std::mem::take(&mut self.0));
    }
}

/// A finished text as a binary. A text that fills only a small part of its buffer is copied,
/// because the binary would keep the whole buffer alive.
pub(crate) fn binary_term(env: Env<'_>, text: Vec<u8>) -> Term<'_> {
    if text.len() < COPIED_BYTES || text.capacity() / BUFFER_PART > text.len() {
        let binary = NewBinary::from_slice(env, &text).into();
        recycle(text);
        return binary;
    }
    let output = ResourceArc::new(Output(text));
    let binary: Binary<'_> = output.make_binary(env, |output| &output.0);
    binary.to_term(env)
}

/// Keeps the object alive for ever.
pub(crate) fn hold<T: Resource>(object: T) {
    std::mem::forget(ResourceArc::new(object));
}

/// The stack of a thread that compiles schemas: a scheduler's stack is too small for the recursion.
const STACK_BYTES: usize = 64 * 1024 * 1024;

/// Does the work on a thread with a large stack and waits for it. `None` if the thread did not
/// start or panicked.
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
