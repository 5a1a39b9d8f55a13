//! Error codes and their texts.

/// The text is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is not a JSON-RPC message.
pub const INVALID_REQUEST: i32 = -32600;
/// No such method.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The method's parameters are not what it takes.
pub const INVALID_PARAMS: i32 = -32602;
/// The server failed.
pub const INTERNAL_ERROR: i32 = -32603;
/// No such resource; the session era only.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// A header is missing or says something else than the message; the stateless era only.
pub const HEADER_MISMATCH: i32 = -32020;
/// The request needs a capability that the client did not declare; the stateless era only.
pub const MISSING_CAPABILITY: i32 = -32021;
/// The server does not speak the requested revision; the stateless era only.
pub const UNSUPPORTED_VERSION: i32 = -32022;
/// The user has to visit a URL first; revision 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i32 = -32042;

/// The message that goes with a code that has one.
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
        PARSE_ERROR => "Parse error",
        INVALID_REQUEST => "Invalid request",
        METHOD_NOT_FOUND => "Method not found",
        INVALID_PARAMS => "Invalid params",
        INTERNAL_ERROR => "Internal error",
        RESOURCE_NOT_FOUND => "Resource not found",
        HEADER_MISMATCH => "Header mismatch",
        MISSING_CAPABILITY => "Missing required client capability",
        UNSUPPORTED_VERSION => "Unsupported protocol version",
        URL_ELICITATION_REQUIRED => "URL elicitation required",
        _ => return None,
    })
}
