//! Classifies messages: request, notification, response, or the error to send.

use std::borrow::Cow;

use super::{EnvelopeLimits, INVALID_PARAMS, INVALID_REQUEST, Id, explained};
use crate::json::{Kind, View};

/// A well-formed message.
#[derive(Clone, Debug)]
pub enum Message<'d, 'a> {
    /// A message that needs a response.
    Request {
        /// The id, which the response repeats.
        id: Id,
        /// No longer than the limits allow.
        method: Cow<'a, str>,
        /// An object, if there is one. `null` counts as absent, because some clients write it.
        params: Option<View<'d, 'a>>,
    },
    /// A message that gets no response.
    Notification {
        /// No longer than the limits allow.
        method: Cow<'a, str>,
        /// An object, if there is one.
        params: Option<View<'d, 'a>>,
    },
    /// The peer's response to a request of the server.
    Response {
        /// The id of the server's request.
        id: Id,
        /// The result or the error.
        outcome: Outcome<'d, 'a>,
    },
}

/// The outcome in a response.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'d, 'a> {
    /// The result: an object.
    Result(View<'d, 'a>),
    /// The error: an object.
    Error(View<'d, 'a>),
}

/// Why a message is not a JSON-RPC message of MCP, and the error to send.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct InvalidMessage {
    /// The error code: −32600 or −32602.
    pub code: i32,
    /// The code's standard text and the reason. It repeats no part of the message.
    pub message: String,
    /// The id of the response, if the message has a valid and unambiguous one.
    pub id: Option<Id>,
    /// Whether a response is allowed. A message in the form of a notification, or of an error
    /// response without an id, gets none.
    pub answerable: bool,
}

impl InvalidMessage {
    #[cold]
    fn request(reason: &str, id: Option<Id>) -> Self {
        Self {
            code: INVALID_REQUEST,
            message: explained(INVALID_REQUEST, reason),
            id,
            answerable: true,
        }
    }
}

/// Classifies one message. The caller splits batches first.
///
/// `duplicate` says whether any object in the message has two members with the same name
/// ([`View::has_duplicate`]).
///
/// # Errors
/// [`InvalidMessage`] with −32602 if the only fault is that `params` is an array, otherwise with
/// −32600.
///
/// # Examples
/// ```
/// use mcp_core::json::{Document, Limits};
/// use mcp_core::jsonrpc::{EnvelopeLimits, Id, Message, classify};
///
/// let text = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
/// let document = Document::scan(text, &Limits::default())?;
/// let message = classify(document.root(), false, &EnvelopeLimits::default()).unwrap();
/// assert!(matches!(message, Message::Request { id: Id::Number(1), .. }));
/// # Ok::<(), mcp_core::json::JsonError>(())
/// ```
pub fn classify<'d, 'a>(
    view: View<'d, 'a>,
    duplicate: bool,
    limits: &EnvelopeLimits,
) -> Result<Message<'d, 'a>, InvalidMessage> {
    if view.kind() != Kind::Object {
        return Err(InvalidMessage::request(NOT_AN_OBJECT, None));
    }
    if view.is_crowded() {
        return Err(InvalidMessage::request(TOO_MANY_MEMBERS, None));
    }
    let members = Members::of(view);
    let id = members.id.and_then(|id| Id::parse(id, limits.max_id_bytes));
    if duplicate || members.repeated {
        let id = if members.id_repeated { None } else { id };
        return Err(InvalidMessage::request(DUPLICATE_MEMBER, id));
    }
    if members.id.is_some() && id.is_none() && !members.is_error_without_id() {
        return Err(InvalidMessage::request(&invalid_id(limits), None));
    }
    if !members.jsonrpc.is_some_and(is_version_2) {
        return Err(InvalidMessage::request(INVALID_VERSION, id));
    }
    match members.method {
        Some(method) => members.call(method, id, limits),
        None => members.response(id),
    }
}

const NOT_AN_OBJECT: &str = "a message must be an object";
const TOO_MANY_MEMBERS: &str = "a message has too many members";
const DUPLICATE_MEMBER: &str = "an object has two members of the same name";
const INVALID_VERSION: &str = "jsonrpc must be \"2.0\"";
const METHOD_NOT_TEXT: &str = "method must be a string";
const METHOD_AND_OUTCOME: &str = "method stands beside result or error";
const NO_METHOD: &str = "method is missing";
const PARAMS_NOT_AN_OBJECT: &str = "params must be an object";
const PARAMS_CROWDED: &str = "params has too many members";
const TWO_OUTCOMES: &str = "result stands beside error";
const OUTCOME_NOT_AN_OBJECT: &str = "result and error must be objects";
const ERROR_WITHOUT_FORM: &str = "an error must have an integer code and a message";
const RESPONSE_WITHOUT_ID: &str = "a response must have an id";

#[cold]
fn invalid_id(limits: &EnvelopeLimits) -> String {
    format!(
        "id must be an integer of at most 64 bits or a string of at most {} bytes",
        limits.max_id_bytes
    )
}

#[cold]
fn method_too_long(limits: &EnvelopeLimits) -> String {
    format!("method must have at most {} bytes", limits.max_method_bytes)
}

fn is_version_2(view: View<'_, '_>) -> bool {
    view.text().is_some_and(|text| text == "2.0")
}

/// Whether an object has the required members of a JSON-RPC error.
fn is_error(view: View<'_, '_>) -> bool {
    let kind = |name| view.get(name).map(|member| member.kind());
    kind("code") == Some(Kind::Integer) && kind("message") == Some(Kind::String)
}

/// The members of an envelope; others are ignored. Names are case-sensitive.
#[derive(Clone, Copy, Debug, Default)]
struct Members<'d, 'a> {
    jsonrpc: Option<View<'d, 'a>>,
    id: Option<View<'d, 'a>>,
    method: Option<View<'d, 'a>>,
    params: Option<View<'d, 'a>>,
    result: Option<View<'d, 'a>>,
    error: Option<View<'d, 'a>>,
    id_repeated: bool,
    repeated: bool,
}

impl<'d, 'a> Members<'d, 'a> {
    fn of(view: View<'d, 'a>) -> Self {
        let mut members = Self::default();
        for (name, value) in view.members() {
            let member = match name {
                "jsonrpc" => &mut members.jsonrpc,
                "id" => &mut members.id,
                "method" => &mut members.method,
                "params" => &mut members.params,
                "result" => &mut members.result,
                "error" => &mut members.error,
                _ => continue,
            };
            if member.replace(value).is_some() {
                members.repeated = true;
                members.id_repeated |= name == "id";
            }
        }
        members
    }

    /// A message with a method is a request if it has an id, otherwise a notification.
    fn call(
        &self,
        method: View<'d, 'a>,
        id: Option<Id>,
        limits: &EnvelopeLimits,
    ) -> Result<Message<'d, 'a>, InvalidMessage> {
        let Some(method) = method.text() else {
            return Err(InvalidMessage::request(METHOD_NOT_TEXT, id));
        };
        if self.result.is_some() || self.error.is_some() {
            return Err(InvalidMessage::request(METHOD_AND_OUTCOME, id));
        }
        if let Some((code, reason)) = self.call_fault(&method, limits) {
            // A notification never gets a response, not even a malformed one.
            let answerable = id.is_some();
            return Err(InvalidMessage {
                code,
                message: explained(code, &reason),
                id,
                answerable,
            });
        }
        let params = self.params();
        Ok(match id {
            Some(id) => Message::Request { id, method, params },
            None => Message::Notification { method, params },
        })
    }

    /// Many clients send `null` for a request without parameters.
    fn params(&self) -> Option<View<'d, 'a>> {
        self.params.filter(|params| params.kind() != Kind::Null)
    }

    /// The fault of a message in the form of a request or notification.
    fn call_fault(
        &self,
        method: &str,
        limits: &EnvelopeLimits,
    ) -> Option<(i32, Cow<'static, str>)> {
        if method.len() > limits.max_method_bytes {
            return Some((INVALID_REQUEST, method_too_long(limits).into()));
        }
        let params = self.params()?;
        match params.kind() {
            Kind::Object if params.is_crowded() => Some((INVALID_PARAMS, PARAMS_CROWDED.into())),
            Kind::Object => None,
            // Positional parameters are valid JSON-RPC, but no MCP method accepts them.
            Kind::Array => Some((INVALID_PARAMS, PARAMS_NOT_AN_OBJECT.into())),
            _ => Some((INVALID_REQUEST, PARAMS_NOT_AN_OBJECT.into())),
        }
    }

    /// A message without a method must be a response.
    fn response(&self, id: Option<Id>) -> Result<Message<'d, 'a>, InvalidMessage> {
        let outcome = match (self.result, self.error) {
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) => Outcome::Error(error),
            (None, None) => return Err(InvalidMessage::request(NO_METHOD, id)),
            (Some(_), Some(_)) => return Err(InvalidMessage::request(TWO_OUTCOMES, id)),
        };
        let (Outcome::Result(value) | Outcome::Error(value)) = outcome;
        if value.kind() != Kind::Object {
            return Err(InvalidMessage::request(OUTCOME_NOT_AN_OBJECT, id));
        }
        match id {
            Some(id) if self.error.is_some_and(|error| !is_error(error)) => {
                Err(InvalidMessage::request(ERROR_WITHOUT_FORM, Some(id)))
            }
            Some(id) => Ok(Message::Response { id, outcome }),
            None => Err(InvalidMessage {
                // Sending an error in response to an error could loop forever.
                answerable: self.result.is_some(),
                ..InvalidMessage::request(RESPONSE_WITHOUT_ID, None)
            }),
        }
    }

    /// The peer's error about a message it could not parse. JSON-RPC gives it the id null.
    fn is_error_without_id(&self) -> bool {
        let id = self.id.map(|id| id.kind());
        self.method.is_none() && self.error.is_some() && id == Some(Kind::Null)
    }
}
