//! Error codes, their names and texts, in one table for Rust and Elixir.

use serde_json::{Value, json};

use crate::revision::{Era, Revision};

macro_rules! errors {
    ($($(#[$doc:meta])* $constant:ident = $code:literal, $name:literal, $text:literal;)*) => {
        $($(#[$doc])* pub const $constant: i32 = $code;)*

        /// The standard message of a code, if it has one.
        ///
        /// # Examples
        /// ```
        /// use mcp_core::jsonrpc::{INVALID_PARAMS, standard_message};
        /// assert_eq!(standard_message(INVALID_PARAMS), Some("Invalid params"));
        /// assert_eq!(standard_message(1), None);
        /// ```
        #[must_use]
        pub const fn standard_message(code: i32) -> Option<&'static str> {
            Some(match code {
                $($constant => $text,)*
                _ => return None,
            })
        }

        /// The code with this name.
        ///
        /// # Examples
        /// ```
        /// use mcp_core::jsonrpc::{INVALID_PARAMS, code_named};
        /// assert_eq!(code_named("invalid_params"), Some(INVALID_PARAMS));
        /// assert_eq!(code_named("no_such_name"), None);
        /// ```
        #[must_use]
        pub fn code_named(name: &str) -> Option<i32> {
            Some(match name {
                $($name => $constant,)*
                _ => return None,
            })
        }
    };
}

errors! {
    /// The text is not JSON.
    PARSE_ERROR = -32700, "parse_error", "Parse error";
    /// The JSON is not a JSON-RPC message.
    INVALID_REQUEST = -32600, "invalid_request", "Invalid request";
    /// The method does not exist.
    METHOD_NOT_FOUND = -32601, "method_not_found", "Method not found";
    /// The method's parameters are invalid.
    INVALID_PARAMS = -32602, "invalid_params", "Invalid params";
    /// The server failed.
    INTERNAL_ERROR = -32603, "internal_error", "Internal error";
    /// The resource does not exist; the session era only.
    RESOURCE_NOT_FOUND = -32002, "resource_not_found", "Resource not found";
    /// A header is missing or contradicts the message; the stateless era only.
    HEADER_MISMATCH = -32020, "header_mismatch", "Header mismatch";
    /// The request needs a capability that the client did not declare; the stateless era only.
    MISSING_CAPABILITY = -32021, "missing_capability", "Missing required client capability";
    /// The server does not support the requested revision.
    UNSUPPORTED_VERSION = -32022, "unsupported_version", "Unsupported protocol version";
    /// The user has to visit a URL first; revision 2025-11-25 only.
    URL_ELICITATION_REQUIRED = -32042, "url_elicitation_required", "URL elicitation required";
}

/// The code in `revision`: since 2026-07-28 an unknown resource is `-32602`, and the specification
/// owns `-32099` to `-32020`. A code that the revision does not allow becomes `-32603`.
#[must_use]
pub fn code_in(revision: Revision, code: i32) -> i32 {
    match (code, revision.era()) {
        (URL_ELICITATION_REQUIRED, _) if revision != Revision::V2025_11_25 => INTERNAL_ERROR,
        (RESOURCE_NOT_FOUND, Era::Stateless) => INVALID_PARAMS,
        (-32_099..UNSUPPORTED_VERSION, Era::Stateless) => INTERNAL_ERROR,
        _ => code,
    }
}

/// The HTTP status of a handler's error: most ride on 200.
#[must_use]
pub fn handler_status(revision: Revision, code: i32) -> u16 {
    match (code, revision.era()) {
        (HEADER_MISMATCH | MISSING_CAPABILITY | UNSUPPORTED_VERSION, Era::Stateless) => 400,
        _ => 200,
    }
}

/// The standard message of a code, with the reason.
///
/// # Examples
/// ```
/// use mcp_core::jsonrpc::{INVALID_PARAMS, explained};
/// assert_eq!(explained(INVALID_PARAMS, "no name"), "Invalid params: no name");
/// ```
#[must_use]
pub fn explained(code: i32, reason: &str) -> String {
    format!("{}: {reason}", standard_message(code).unwrap_or_default())
}

/// The `data` of the error about an unsupported version. `supported` has the oldest one first.
pub(crate) fn unsupported_version_data(requested: &str, supported: &[Revision]) -> Value {
    let newest_first = supported.iter().rev();
    let supported: Vec<&str> = newest_first.map(|revision| revision.as_str()).collect();
    json!({ "supported": supported, "requested": requested })
}
