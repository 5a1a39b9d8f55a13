//! Server-sent events: the encoding of messages on a stream.
//!
//! A message of this library is one line and needs one `data` line. Other text gets one `data` line
//! for each of its lines: a line break inside a field would let the text start another field.

use super::EventId;

/// A comment that keeps an idle connection open.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// The end of an event.
pub const CLOSE_EVENT: &[u8] = b"\n\n";

/// Appends the start of an event. The caller appends one line and [`CLOSE_EVENT`].
pub fn open_event(out: &mut Vec<u8>, id: Option<EventId>) {
    if let Some(id) = id {
        out.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    out.extend_from_slice(b"data: ");
}

/// Appends one event of any text.
///
/// # Examples
/// ```
/// use mcp_core::http::{EventId, sse};
/// let mut out = Vec::new();
/// sse::write_event(&mut out, Some(EventId { stream: 2, index: 7 }), b"{}");
/// assert_eq!(out, b"id: 2-7\ndata: {}\n\n");
/// ```
pub fn write_event(out: &mut Vec<u8>, id: Option<EventId>, data: &[u8]) {
    for (place, line) in lines(data).enumerate() {
        if place == 0 {
            open_event(out, id);
        } else {
            out.extend_from_slice(b"\ndata: ");
        }
        out.extend_from_slice(line);
    }
    out.extend_from_slice(CLOSE_EVENT);
}

/// Appends the event that lets a client reconnect: an id without data, and how long to wait.
pub fn write_priming(out: &mut Vec<u8>, id: EventId, retry_ms: Option<u64>) {
    if let Some(milliseconds) = retry_ms {
        write_retry(out, milliseconds);
    }
    write_event(out, Some(id), b"");
}

/// Appends how long a client waits before it reconnects. The caller appends an event or an empty
/// line.
pub fn write_retry(out: &mut Vec<u8>, milliseconds: u64) {
    out.extend_from_slice(format!("retry: {milliseconds}\n").as_bytes());
}

/// Lines of an event stream end with CR LF, LF or CR.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let Some(end) = memchr::memchr2(b'\n', b'\r', text) else {
            rest = None;
            return Some(text);
        };
        let (line, behind) = text.split_at_checked(end)?;
        rest = behind.strip_prefix(b"\r\n").or_else(|| behind.get(1..));
        Some(line)
    })
}
