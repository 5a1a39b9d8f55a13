//! The rules of Streamable HTTP, as pure functions of a request's head and a policy.
//!
//! [`check_head`] checks a head before the body is read: Host and Origin, path, method, content
//! type, `Accept` and the declared size. An accepted head is an [`AcceptedHead`], which admission
//! compares with the body ([`Context::http`](crate::protocol::Context)). A refused head gets a
//! finished [`HttpAnswer`], which may wait until the client is identified ([`HeadAnswer`]).
//!
//! ```
//! use mcp_core::http::{Head, Policy, PolicyOptions, Verb, check_head};
//!
//! let policy = Policy::new(PolicyOptions::default())?;
//! let mut head = Head {
//!     method: "POST",
//!     target: "/mcp",
//!     authority: None,
//!     headers: &[("host", b"localhost:4040"), ("content-type", b"application/json")],
//! };
//! assert_eq!(check_head(&policy, &head).map(|accepted| accepted.verb), Ok(Verb::Post));
//!
//! head.headers = &[("host", b"localhost.evil.example")];
//! let refused = check_head(&policy, &head).unwrap_err();
//! assert_eq!(refused.finished().status, 403);
//! # Ok::<(), mcp_core::http::PolicyError>(())
//! ```

mod accept;
mod accepted_head;
mod answer;
mod authority;
mod challenge;
pub(crate) mod cors;
mod event_id;
mod head;
mod host_and_origin;
mod media;
mod metadata;
mod mirrored_headers;
mod origin;
mod policy;
pub mod sse;

pub use accepted_head::{AcceptedHead, HeadAnswer, Verb, check_head};
pub use answer::{
    HttpAnswer, STREAM_HEADERS, authorization_unavailable, head_too_large, internal_error,
    is_header_value, malformed, overloaded, payload_too_large, request_timeout, resume_gone,
    resume_unknown, session_interrupted, session_not_found, shutting_down, stream_taken,
    target_too_long, too_many_requests, too_many_sessions,
};
pub use challenge::{Challenge, forbidden, invalid_authorization, unauthorized};
pub use event_id::{EventId, LastEventId};
pub(crate) use head::Field;
pub use head::Head;
pub use metadata::metadata_url;
pub use policy::{Policy, PolicyError, PolicyOptions};

pub(crate) use accept::weigh;
pub(crate) use host_and_origin::{Foreign, check as check_site};
pub(crate) use media::declared_length;
pub(crate) use mirrored_headers::{MirroredHeader, MirroredHeaders, VersionFault};
