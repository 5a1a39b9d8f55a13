//! Finished HTTP responses: refusals of a head, and errors of sessions, streams and limits. Each
//! body is a JSON-RPC error without an id and is safe to send to a peer.

use super::mirrored_headers::VersionFault;
use crate::jsonrpc::{self, write_error};
use crate::revision::Revision;

/// A finished response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpAnswer {
    /// The status.
    pub status: u16,
    /// The headers, including `content-type`. The transport adds length and date.
    pub headers: Vec<(&'static str, String)>,
    /// One JSON text.
    pub body: Vec<u8>,
}

/// The headers of a response that is an event stream.
pub const STREAM_HEADERS: [(&str, &str); 3] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    // Asks proxies not to buffer events.
    ("x-accel-buffering", "no"),
];

impl HttpAnswer {
    fn refusal(status: u16, code: i32, message: &str) -> Self {
        Self::with_data(status, code, message, None)
    }

    fn with_data(status: u16, code: i32, message: &str, data: Option<&[u8]>) -> Self {
        let mut body = Vec::with_capacity(128);
        write_error(&mut body, None, Revision::NEWEST, code, message, data);
        Self {
            status,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("cache-control", "no-store".to_owned()),
            ],
            body,
        }
    }

    /// A refusal caused by the peer.
    pub(super) fn invalid(status: u16, message: &str) -> Self {
        Self::refusal(status, jsonrpc::INVALID_REQUEST, message)
    }

    /// A refusal caused by the server.
    fn unable(status: u16, message: &str) -> Self {
        Self::refusal(status, jsonrpc::INTERNAL_ERROR, message)
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn retry_after(self, seconds: u32) -> Self {
        self.with("retry-after", seconds.to_string())
    }
}

/// Whether a text may be sent as a header value: no line breaks, no NUL, only ASCII.
///
/// # Examples
/// ```
/// use mcp_core::http::is_header_value;
/// assert!(is_header_value("POST, GET"));
/// assert!(!is_header_value("a\r\nset-cookie: b"));
/// ```
#[must_use]
pub fn is_header_value(text: &str) -> bool {
    super::head::printable(text.as_bytes()).is_some()
}

pub(super) fn foreign(message: &str) -> HttpAnswer {
    HttpAnswer::invalid(403, message)
}

pub(super) fn bad_request(message: &str) -> HttpAnswer {
    HttpAnswer::invalid(400, message)
}

/// 400: the version in the head of a session's GET or DELETE, as for a POST.
pub(super) fn faulty_version(fault: VersionFault<'_>) -> HttpAnswer {
    match fault {
        VersionFault::Unsupported(name) => {
            let code = jsonrpc::UNSUPPORTED_VERSION;
            let message = jsonrpc::standard_message(code).unwrap_or_default();
            // Only a server with sessions gets a GET or DELETE.
            let data = jsonrpc::unsupported_version_data(name, &Revision::ALL).to_string();
            HttpAnswer::with_data(400, code, message, Some(data.as_bytes()))
        }
        VersionFault::Unreadable => bad_request(&jsonrpc::explained(
            jsonrpc::INVALID_REQUEST,
            VersionFault::UNREADABLE,
        )),
    }
}

pub(super) fn no_such_path() -> HttpAnswer {
    HttpAnswer::invalid(404, "Not found: no MCP endpoint has this path")
}

pub(super) fn method_not_allowed(allow: &str) -> HttpAnswer {
    HttpAnswer::invalid(405, "Method not allowed").with("allow", allow)
}

pub(super) fn not_acceptable(message: &str) -> HttpAnswer {
    HttpAnswer::invalid(406, message)
}

pub(super) fn unsupported_media_type(message: &str) -> HttpAnswer {
    HttpAnswer::invalid(415, message)
}

/// 404: no live session of this principal has that id. Unknown, ended, malformed and foreign ids
/// get the same body, so that a client cannot tell them apart.
#[must_use]
pub fn session_not_found() -> HttpAnswer {
    HttpAnswer::invalid(404, "Session not found")
}

/// 503: the server has reached its limit of sessions.
#[must_use]
pub fn too_many_sessions(retry_after_seconds: u32) -> HttpAnswer {
    HttpAnswer::unable(503, "Too many sessions").retry_after(retry_after_seconds)
}

/// 503: the session's process ended during the request. The next request reopens the session. The
/// status is not 404, because a client would then treat the session as ended.
#[must_use]
pub fn session_interrupted(retry_after_seconds: u32) -> HttpAnswer {
    HttpAnswer::unable(503, "The session was interrupted").retry_after(retry_after_seconds)
}

/// 409: the session's stream is already open.
#[must_use]
pub fn stream_taken() -> HttpAnswer {
    HttpAnswer::invalid(409, "Conflict: the session's stream is already open")
}

/// 400: the events after `Last-Event-ID` are no longer stored.
#[must_use]
pub fn resume_gone() -> HttpAnswer {
    HttpAnswer::invalid(400, "The events behind Last-Event-ID are gone")
}

/// 400: `Last-Event-ID` names no event of this session. Malformed ids, unknown ids and ids of other
/// sessions get the same body. The status is not 404, because a client would then treat the session
/// as ended.
#[must_use]
pub fn resume_unknown() -> HttpAnswer {
    HttpAnswer::invalid(400, "Last-Event-ID names no event of this session")
}

/// 429: the session has reached its limit of requests in flight.
#[must_use]
pub fn too_many_requests(retry_after_seconds: u32) -> HttpAnswer {
    HttpAnswer::unable(429, "Too many requests in flight").retry_after(retry_after_seconds)
}

/// 503: the server has reached its limit of requests.
#[must_use]
pub fn overloaded(retry_after_seconds: u32) -> HttpAnswer {
    HttpAnswer::unable(503, "The server is overloaded").retry_after(retry_after_seconds)
}

/// 503: the service that validates tokens does not respond. The response has no challenge, because
/// a challenge would make the client discard its token.
#[must_use]
pub fn authorization_unavailable(retry_after_seconds: u32) -> HttpAnswer {
    HttpAnswer::unable(503, "The token cannot be checked now").retry_after(retry_after_seconds)
}

/// 503: the server is shutting down.
#[must_use]
pub fn shutting_down() -> HttpAnswer {
    HttpAnswer::unable(503, "The server is shutting down")
}

/// 413: the body exceeds the size limit.
#[must_use]
pub fn payload_too_large(max_bytes: u64) -> HttpAnswer {
    let message = format!("The body is longer than {max_bytes} bytes");
    HttpAnswer::invalid(413, &message)
}

/// 414: the request line exceeds the size limit of a head.
#[must_use]
pub fn target_too_long() -> HttpAnswer {
    HttpAnswer::invalid(414, "The request's target is too long")
}

/// 431: the head exceeds the size limit.
#[must_use]
pub fn head_too_large() -> HttpAnswer {
    HttpAnswer::invalid(431, "The request's headers are too large")
}

/// 408: head or body did not arrive in time.
#[must_use]
pub fn request_timeout() -> HttpAnswer {
    HttpAnswer::invalid(408, "The request did not arrive in time")
}

/// 400: the length of the request is ambiguous, or its body contradicts its head.
#[must_use]
pub fn malformed() -> HttpAnswer {
    HttpAnswer::invalid(400, "The request is malformed")
}

/// 500: the server failed.
#[must_use]
pub fn internal_error() -> HttpAnswer {
    HttpAnswer::unable(500, "Internal error")
}
