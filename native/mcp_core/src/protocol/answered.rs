//! What a message was answered with that no handler sees, for whoever counts such answers.

use crate::jsonrpc;

/// One kind of answer that the core gives alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// `ping`
    Ping,
    /// `server/discover`
    Discover,
    /// A list, or a completion where nothing completes.
    List,
    /// `initialize`
    Initialize,
    /// No JSON, or more than the limits allow.
    ParseError,
    /// No request, or not one of this revision, session or era.
    InvalidRequest,
    /// A method that the server does not offer.
    MethodNotFound,
    /// Parameters or arguments that do not fit.
    InvalidParams,
    /// Any other error.
    OtherError,
    /// An error of HTTP: the head of a request was refused.
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
