//! The rules of Streamable HTTP, as pure functions of a request's head and a policy.
//!
//! [`screen`] judges a head before a byte of the body is read: Host and Origin, path, method,
//! content type, what the client accepts, the declared size. What it lets through is a
//! [`Screened`] head, which admission compares with the body
//! ([`Facts::http`](crate::protocol::Facts)); what it does not is a finished [`HttpAnswer`].
//!
//! ```
//! use mcp_core::http::{Head, Policy, PolicyOptions, Verb, screen};
//!
//! let policy = Policy::new(PolicyOptions::default())?;
//! let mut head = Head {
//!     method: "POST",
//!     target: "/mcp",
//!     authority: None,
//!     headers: &[("host", b"localhost:4040"), ("content-type", b"application/json")],
//! };
//! assert_eq!(screen(&policy, &head).map(|screened| screened.verb), Ok(Verb::Post));
//!
//! head.headers = &[("host", b"localhost.evil.example")];
//! assert_eq!(screen(&policy, &head).map_err(|answer| answer.status), Err(403));
//! # Ok::<(), mcp_core::http::PolicyError>(())
//! ```

mod accept;
mod answer;
mod authority;
mod challenge;
mod claims;
mod event_id;
mod head;
mod media;
mod metadata;
mod origin;
mod policy;
mod screen;
mod site;
pub mod sse;

pub use answer::{
    HttpAnswer, STREAM_HEADERS, head_too_large, internal_error, is_header_value, malformed,
    overloaded, payload_too_large, request_timeout, resume_gone, resume_unknown, session_not_found,
    shutting_down, stream_taken, too_many_requests, too_many_sessions,
};
pub use challenge::{Challenge, forbidden, unauthorized};
pub use event_id::{EventId, LastEventId};
pub use head::Head;
pub use metadata::metadata_url;
pub use policy::{Policy, PolicyError, PolicyOptions};
pub use screen::{Screened, Verb, screen};

pub(crate) use accept::weigh;
pub(crate) use claims::{Claim, Claims};
pub(crate) use media::declared_length;
pub(crate) use site::{Foreign, check as check_site};
