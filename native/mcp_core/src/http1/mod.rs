//! HTTP/1.1 without I/O.
//!
//! The owner of a socket collects bytes and calls [`read_head`] until the head is complete. The
//! head's [`Framing`] says how the body is delimited; [`Chunked`] decodes a chunked body.
//! [`write_head`] writes a response's head. Nothing here blocks. Both readers continue where an
//! earlier call stopped, so the result does not depend on how the bytes were split.
//!
//! The readers are strict and refuse ambiguous requests: each line ends with CRLF, a body has one
//! length, and `chunked` is the only transfer coding.
//!
//! ```
//! use mcp_core::http1::{Framing, Limits, Progress, read_head};
//!
//! let limits = Limits::default();
//! let request = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";
//! let Progress::Partial { scanned } = read_head(&request[..20], 0, &limits)? else {
//!     unreachable!("the head is not complete")
//! };
//! let Progress::Complete(head) = read_head(request, scanned, &limits)? else {
//!     unreachable!("the head is complete")
//! };
//! assert_eq!((head.method, head.target), ("POST", "/mcp"));
//! assert_eq!(head.framing, Framing::Length(2));
//! assert_eq!(&request[head.bytes..], b"{}");
//! # Ok::<(), mcp_core::http1::HeadError>(())
//! ```

mod chunked;
mod error;
mod framing;
mod grammar;
mod head;
mod response;
mod target;

pub use chunked::{ChunkLimits, Chunked, Decoded};
pub use error::{ChunkError, HeadError, InvalidHeader};
pub use framing::{Framing, Version};
pub use head::{Limits, Progress, RequestHead, read_head};
pub use response::{BodyLength, CONTINUE, ResponseHead, write_head};
