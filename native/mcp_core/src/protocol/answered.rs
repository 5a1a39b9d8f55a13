//! The kinds of responses that no handler sees, for telemetry.

use crate::jsonrpc;

/// A kind of response that the core gives without a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// `ping`
    Ping,
    /// `server/discover`
    Discover,
    /// A list, or an empty completion.
    List,
    /// `initialize`
    Initialize,
    /// Invalid JSON, or JSON beyond the limits.
    ParseError,
    /// An invalid request, or one that does not belong to this revision, session or era.
    InvalidRequest,
    /// A method the server does not offer.
    MethodNotFound,
    /// Invalid parameters or arguments.
    InvalidParams,
    /// Any other error.
    OtherError,
    /// An HTTP error: the head of a request was refused.
    Http,
}

impl Answered {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 10] = [
        Self::Ping,
        Self::Discover,
        Self::List,
        Self::Initialize,
        Self::ParseError,
        Self::InvalidRequest,
        Self::MethodNotFound,
        Self::InvalidParams,
        Self::OtherError,
        Self::Http,
    ];

    pub(super) fn error(code: i32) -> Self {
        match code {
            jsonrpc::PARSE_ERROR => Self::ParseError,
            jsonrpc::INVALID_REQUEST => Self::InvalidRequest,
            jsonrpc::METHOD_NOT_FOUND => Self::MethodNotFound,
            jsonrpc::INVALID_PARAMS => Self::InvalidParams,
            _ => Self::OtherError,
        }
    }
}
