//! The response envelope: every answer of a tool in one form, `response-v2`.
//!
//! ```text
//! {"success": true, "data": {…}, "error": null, "meta": {"version": "response-v2", …}}
//! ```
//!
//! | file | owns |
//! |---|---|
//! | `errors` | error codes and types: HTTP status, retry advice, what to do |
//! | `warnings` | warning codes and their severities |
//! | `schema` | the JSON Schema of an envelope, made of these tables |
//! | `advice` | what a valid envelope still should not look like |
//! | `rules` | [`Rules`]: an envelope judged wherever it lies, and the [`Finding`]s |
//!
//! The object itself is [`crate::model::Envelope`].

mod advice;
mod errors;
mod rules;
mod schema;
mod warnings;

pub use advice::advice;
pub use errors::{
    DEFAULT_CODE, ERROR_CODES, ERROR_TYPES, ErrorType, Retry, SITUATIONS, code_for, error_type,
    is_error_code, type_of_code,
};
pub use rules::{Finding, Level, Rules};
pub use schema::schema;
pub use warnings::{SEVERITIES, WARNING_CODES, severity_of_code};

/// What `meta.version` of every envelope says.
pub const VERSION: &str = "response-v2";

/// What `meta.content_fidelity_schema_version` says beside a fidelity.
pub const FIDELITY_VERSION: &str = "1.0";

/// How complete the data is, from all of it to names only.
pub const FIDELITIES: &[&str] = &["full", "partial", "summary", "reference_only"];

/// What belongs into `meta`, and so not at the top of `data`.
pub const RESERVED_KEYS: &[&str] = &[
    "request_id",
    "warnings",
    "pagination",
    "rate_limit",
    "telemetry",
];

/// An id that can be written into logs and headers as it is.
pub const REQUEST_ID_PATTERN: &str = "^[A-Za-z0-9_-]+$";

/// Whether an id can be the `request_id` of an envelope: [`REQUEST_ID_PATTERN`].
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::is_request_id;
/// assert!(is_request_id("req_abc-123") && !is_request_id("a b") && !is_request_id(""));
/// ```
#[must_use]
pub fn is_request_id(id: &str) -> bool {
    !id.is_empty()
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}
