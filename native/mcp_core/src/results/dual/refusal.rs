//! Refusals: `{"error": code, "message": text}`, safe to send.

use super::answer::JSON_HEADERS;
use crate::http::{Challenge, HttpAnswer};
use crate::json::write_string;

/// The refusals by the owner of the stores, hooks and limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal<'r> {
    /// 404 for ids that are unknown, expired, deleted, malformed or of another owner. One text for
    /// all, so that it does not reveal which.
    NotFound,
    /// 400: the rows cannot be sorted in this way.
    InvalidSort(&'r str),
    /// 401: the client is unknown.
    Unauthorized(Challenge<'r>),
    /// 403: the client is known but not allowed.
    Forbidden,
    /// 408: the request did not arrive in time.
    RequestTimeout,
    /// 413: the body exceeds this number of bytes.
    PayloadTooLarge(u64),
    /// 400: the request's length is ambiguous, or its body does not match its head.
    Malformed,
    /// 500: the query failed; the text is safe to send.
    QueryFailed(&'r str),
    /// 500: the server failed.
    Internal,
    /// 503: the store is unavailable; retry after this number of seconds.
    StorageUnavailable(u32),
    /// 503: too many requests; retry after this number of seconds.
    Overloaded(u32),
    /// 504: the query took too long.
    Timeout,
}

/// The complete response.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::{Refusal, refuse};
/// let answer = refuse(&Refusal::NotFound);
/// assert_eq!(answer.status, 404);
/// assert_eq!(answer.body, br#"{"error":"not_found","message":"Resource not found or expired"}"#);
/// ```
#[must_use]
pub fn refuse(refusal: &Refusal<'_>) -> HttpAnswer {
    match refusal {
        Refusal::NotFound => answer(404, "not_found", "Resource not found or expired"),
        Refusal::InvalidSort(message) => answer(400, "invalid_sort", message),
        Refusal::Unauthorized(challenge) => with(
            answer(401, "unauthorized", "Authorization is required"),
            "www-authenticate",
            challenge.to_string(),
        ),
        Refusal::Forbidden => forbidden("This is not allowed"),
        Refusal::RequestTimeout => {
            answer(408, "request_timeout", "The request did not arrive in time")
        }
        Refusal::PayloadTooLarge(max_bytes) => {
            let message = format!("The body is longer than {max_bytes} bytes");
            answer(413, "payload_too_large", &message)
        }
        Refusal::Malformed => invalid_request("The request is malformed"),
        Refusal::QueryFailed(message) => answer(500, "query_failed", message),
        Refusal::Internal => answer(500, "internal_error", "Internal error"),
        Refusal::StorageUnavailable(seconds) => later(
            answer(
                503,
                "storage_unavailable",
                "The resource store is unavailable",
            ),
            *seconds,
        ),
        Refusal::Overloaded(seconds) => later(
            answer(503, "overloaded", "The server is overloaded"),
            *seconds,
        ),
        Refusal::Timeout => answer(504, "timeout", "The query took too long"),
    }
}

pub(super) fn invalid_request(message: &str) -> HttpAnswer {
    answer(400, "invalid_request", message)
}

pub(super) fn forbidden(message: &str) -> HttpAnswer {
    answer(403, "forbidden", message)
}

pub(super) fn method_not_allowed(allow: &str) -> HttpAnswer {
    let refused = answer(405, "method_not_allowed", "The method is not allowed");
    with(refused, "allow", allow.to_owned())
}

pub(super) fn not_acceptable(rows: bool) -> HttpAnswer {
    let message = if rows {
        "Accept must allow application/json, application/x-ndjson or text/csv"
    } else {
        "Accept must allow application/json"
    };
    answer(406, "not_acceptable", message)
}

fn answer(status: u16, code: &str, message: &str) -> HttpAnswer {
    let mut body = Vec::with_capacity(96);
    body.extend_from_slice(br#"{"error":"#);
    write_string(&mut body, code);
    body.extend_from_slice(br#","message":"#);
    write_string(&mut body, message);
    body.push(b'}');
    let headers = JSON_HEADERS.map(|(name, value)| (name, value.to_owned()));
    HttpAnswer {
        status,
        headers: headers.to_vec(),
        body,
    }
}

fn with(mut answer: HttpAnswer, name: &'static str, value: String) -> HttpAnswer {
    answer.headers.push((name, value));
    answer
}

fn later(answer: HttpAnswer, seconds: u32) -> HttpAnswer {
    with(answer, "retry-after", seconds.to_string())
}
