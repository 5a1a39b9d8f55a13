//! JSON-RPC 2.0 envelopes, ids and error codes, with the policies of MCP.
//!
//! This module knows no MCP methods. [`classify`] sorts a [scanned](crate::json::Document::scan)
//! message into request, notification, response, or the exact error to send.

mod code;
mod envelope;
mod error;
mod id;
mod limits;
mod refused;

pub(crate) use code::unsupported_version_data;
pub use code::{
    HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND,
    MISSING_CAPABILITY, PARSE_ERROR, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION,
    URL_ELICITATION_REQUIRED, code_in, code_named, explained, handler_status, standard_message,
};
pub use envelope::{InvalidMessage, Message, Outcome, classify};
pub use error::write_error;
pub use id::Id;
pub use limits::EnvelopeLimits;
pub use refused::id_of_refused;
