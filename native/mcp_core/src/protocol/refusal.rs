//! Refusals: why a message does not reach a handler, and the finished error response.

use serde_json::{Map, Value, json};

use super::answered::Answered;
use crate::json::JsonError;
use crate::jsonrpc::{self, Id, InvalidMessage};
use crate::revision::{Era, Revision};

/// The HTTP status of errors in well-formed requests, such as an unknown name.
pub(super) const BEHIND_ADMISSION: Option<u16> = Some(200);

/// The longest tool name that SEP-986 allows.
const MAX_ECHOED_NAME: usize = 128;

/// The most characters of a version that an error repeats.
const MAX_ECHOED_VERSION: usize = 64;

/// A refusal before it has an id and a revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The JSON-RPC error code.
    pub code: i32,
    /// The error message. It is safe to send to a peer.
    pub message: String,
    /// The error's `data`.
    pub data: Option<Value>,
    /// The HTTP status, if the code does not imply it.
    pub status: Option<u16>,
    /// Whether the request names something that the server does not have.
    pub unknown: bool,
}

/// A finished response: one JSON-RPC message and its HTTP status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// One JSON text without a line break.
    pub body: Vec<u8>,
    /// The HTTP status; transports without HTTP ignore it.
    pub status: u16,
    /// The kind of response.
    pub answered: Answered,
}

impl Refusal {
    /// A refusal without data.
    #[must_use]
    pub fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            status: None,
            unknown: false,
        }
    }

    /// A refusal with the standard message of a code.
    #[must_use]
    pub fn standard(code: i32) -> Self {
        Self::new(code, jsonrpc::standard_message(code).unwrap_or_default())
    }

    fn explained(code: i32, reason: &str) -> Self {
        Self::new(code, jsonrpc::explained(code, reason))
    }

    /// `Invalid params`, with the reason.
    #[must_use]
    pub fn invalid_params(reason: &str) -> Self {
        Self::explained(jsonrpc::INVALID_PARAMS, reason)
    }

    /// `Invalid request`, with the reason.
    #[must_use]
    pub fn invalid_request(reason: &str) -> Self {
        Self::explained(jsonrpc::INVALID_REQUEST, reason)
    }

    /// `Method not found`.
    #[must_use]
    pub fn method_not_found() -> Self {
        Self::standard(jsonrpc::METHOD_NOT_FOUND)
    }

    /// The client did not declare capabilities that the request needs (2026-07-28).
    #[must_use]
    pub fn missing_capabilities(required: &Map<String, Value>) -> Self {
        Self {
            data: Some(json!({ "requiredCapabilities": required })),
            ..Self::standard(jsonrpc::MISSING_CAPABILITY)
        }
    }

    /// The server does not support the version. `supported` has the oldest one first. The error
    /// repeats only the first characters of the version.
    #[must_use]
    pub fn unsupported_version(requested: &str, supported: &[Revision]) -> Self {
        let requested: String = requested.chars().take(MAX_ECHOED_VERSION).collect();
        Self {
            data: Some(jsonrpc::unsupported_version_data(&requested, supported)),
            ..Self::standard(jsonrpc::UNSUPPORTED_VERSION)
        }
    }

    /// The client must send a token.
    #[must_use]
    pub fn token_required() -> Self {
        Self {
            status: Some(401),
            ..Self::new(jsonrpc::INVALID_REQUEST, "Unauthorized")
        }
    }

    /// The message needs a session, and its head names none.
    #[must_use]
    pub fn session_missing() -> Self {
        Self::invalid_request(
            "Mcp-Session-Id is missing; initialize first, or send _meta of 2026-07-28",
        )
    }

    /// A header is missing or contradicts the body (2026-07-28).
    #[must_use]
    pub fn header_mismatch(reason: &str) -> Self {
        Self::explained(jsonrpc::HEADER_MISMATCH, reason)
    }

    /// The response is a stream, and the client does not accept one.
    #[must_use]
    pub fn needs_stream() -> Self {
        Self {
            status: Some(406),
            ..Self::invalid_request("the answer is a stream, Accept must allow text/event-stream")
        }
    }

    /// A filter of `subscriptions/listen` with more URIs than a stream may have.
    #[must_use]
    pub fn too_many_subscriptions() -> Self {
        Self {
            status: Some(429),
            ..Self::invalid_request("too many subscriptions")
        }
    }

    /// A cursor from another list, an older catalogue, or a list filtered for another client.
    #[must_use]
    pub fn foreign_cursor() -> Self {
        Self {
            status: BEHIND_ADMISSION,
            ..Self::invalid_params("cursor is not one of this list")
        }
    }

    /// An unknown resource. Its error code changed in 2026-07-28.
    #[must_use]
    pub fn resource_not_found(uri: &str, revision: Revision) -> Self {
        Self {
            code: jsonrpc::code_in(revision, jsonrpc::RESOURCE_NOT_FOUND),
            data: Some(json!({ "uri": uri })),
            status: BEHIND_ADMISSION,
            unknown: true,
            ..Self::standard(jsonrpc::RESOURCE_NOT_FOUND)
        }
    }

    /// Bytes that are not JSON within the limits.
    #[must_use]
    pub fn parse_error(error: &JsonError) -> Self {
        Self {
            data: Some(json!({ "reason": error.kind.as_str(), "offset": error.offset })),
            ..Self::standard(jsonrpc::PARSE_ERROR)
        }
    }

    /// A tool, prompt or completion target that the server does not have.
    #[must_use]
    pub fn unknown(what: &str, name: &str) -> Self {
        // Long names are omitted, because a model reads the text.
        let message = if name.len() <= MAX_ECHOED_NAME {
            format!("{what} '{name}' not found")
        } else {
            format!("{what} not found")
        };
        Self {
            status: BEHIND_ADMISSION,
            unknown: true,
            ..Self::new(jsonrpc::INVALID_PARAMS, message)
        }
    }

    /// The finished response.
    #[must_use]
    pub fn answer(&self, id: Option<&Id>, revision: Revision) -> Answer {
        let data = self.data.as_ref().map(Value::to_string);
        let mut body = Vec::with_capacity(128);
        jsonrpc::write_error(
            &mut body,
            id,
            revision,
            self.code,
            &self.message,
            data.as_deref().map(str::as_bytes),
        );
        Answer {
            body,
            status: self.http_status(revision),
            answered: Answered::error(self.code),
        }
    }

    /// The HTTP status of the response.
    fn http_status(&self, revision: Revision) -> u16 {
        if let Some(status) = self.status {
            return status;
        }
        match (self.code, revision.era()) {
            (jsonrpc::METHOD_NOT_FOUND, Era::Stateless) => 404,
            (jsonrpc::METHOD_NOT_FOUND, Era::Session) => 200,
            _ => 400,
        }
    }
}

impl From<InvalidMessage> for Refusal {
    fn from(invalid: InvalidMessage) -> Self {
        Self::new(invalid.code, invalid.message)
    }
}
