//! The single entry point: it turns a message and its transport context into a finished response or
//! into work.
//!
//! The specification sets the order of checks: JSON, envelope, era, `_meta`, version, method,
//! parameters, capabilities. Over HTTP each check also compares the head. After a failed check
//! nothing more is built.

use jsonschema::json::Json;

use super::admission::Admission;
use super::conceal::Asked;
use super::context::Context;
use super::era::{check_notification, check_response};
use super::input_response::is_input_response;
use super::limits::MessageLimits;
use super::notification::Notification;
use super::refusal::Refusal;
use crate::catalog::{Catalog, Offer};
use crate::json::{Document, Kind, UNLIMITED, View, elements};
use crate::jsonrpc::{self, Message, Outcome};
use crate::revision::Revision;

/// The error a handler gets when a client's result matches no request kind that a server may send.
const NO_ANSWER: &[u8] =
    br#"{"code":-32602,"message":"Invalid params: not an elicitation, sampling or roots result"}"#;

/// Reads one message.
#[must_use]
pub fn admit<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    context: Context<'_>,
    bytes: &'a [u8],
    limits: &MessageLimits,
) -> Admission<'c, 'a> {
    let document = match Document::scan(bytes, &limits.json) {
        Ok(document) => document,
        Err(error) => {
            let id = jsonrpc::id_of_refused(bytes, &limits.envelope);
            let refusal = Refusal::parse_error(&error);
            return Admission::Answer(refusal.answer(id.as_ref(), context.fallback_revision()));
        }
    };
    let root = document.root();
    let left = |levels| MessageLimits {
        json: limits.json.inside(levels, document.values()),
        ..*limits
    };
    if root.kind() == Kind::Array {
        return admit_batch(catalog, context, root.raw(), &left(1));
    }
    admit_message(catalog, context, root, &left(0))
}

fn admit_batch<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    context: Context<'_>,
    batch: &'a [u8],
    limits: &MessageLimits,
) -> Admission<'c, 'a> {
    let refuse = |reason: &str| refuse(context, &Refusal::invalid_request(reason));
    if context.session.map(|session| session.revision) != Some(Revision::V2025_03_26) {
        return refuse("batches exist only in protocol revision 2025-03-26");
    }
    let most = limits.max_batch;
    let messages = elements(batch, most.saturating_add(1));
    if messages.is_empty() {
        return refuse("a batch must not be empty");
    }
    if messages.len() > most {
        return refuse(&format!("a batch holds at most {most} messages"));
    }
    let admit_one = |message| match Document::scan(message, &UNLIMITED) {
        Ok(document) => not_alone(admit_message(catalog, context, document.root(), limits)),
        Err(error) => self::refuse(context, &Refusal::parse_error(&error)),
    };
    Admission::Batch(messages.into_iter().map(admit_one).collect())
}

/// Asks for a token if hiding the requested entry would ask for one. A batch has one HTTP status,
/// which is sent before the server's code decides which entries are visible.
fn not_alone<'c, 'a>(admission: Admission<'c, 'a>) -> Admission<'c, 'a> {
    match admission {
        Admission::Request(request) if request.may_need_token() => Admission::TokenRequired,
        other => other,
    }
}

/// The error response to a message without a usable id.
fn refuse<'c, 'a>(context: Context<'_>, refusal: &Refusal) -> Admission<'c, 'a> {
    Admission::Answer(refusal.answer(None, context.fallback_revision()))
}

fn admit_message<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    context: Context<'_>,
    view: View<'_, 'a>,
    limits: &MessageLimits,
) -> Admission<'c, 'a> {
    match jsonrpc::classify(view, view.has_duplicate(), &limits.envelope) {
        Err(invalid) if !invalid.answerable => {
            // Notifications and responses get no response, even if malformed.
            let unasked = if view.get("method").is_some() {
                check_notification(context, view.get("params"))
            } else {
                check_response(context)
            };
            unasked.map_or_else(|refusal| refuse(context, &refusal), |()| Admission::Ignored)
        }
        Err(invalid) => {
            let id = invalid.id.clone();
            let refusal = Refusal::from(invalid);
            Admission::Answer(refusal.answer(id.as_ref(), context.fallback_revision()))
        }
        Ok(Message::Request { id, method, params }) => {
            let asked = Asked {
                context,
                id: &id,
                method: &method,
                params,
                limits,
            };
            asked.admit(Offer::new(catalog, &[]))
        }
        Ok(Message::Notification { method, params }) => {
            if let Err(refusal) = check_notification(context, params) {
                return refuse(context, &refusal);
            }
            // Without a session, no state of an earlier request is left that the notification could
            // concern.
            Notification::read(&method, params)
                .filter(|_| !context.is_sessionless())
                .map_or(Admission::Ignored, Admission::Notification)
        }
        Ok(Message::Response { id, outcome }) => {
            if let Err(refusal) = check_response(context) {
                return refuse(context, &refusal);
            }
            let outcome = match outcome {
                Outcome::Result(result) if is_input_response(result) => Ok(result.raw()),
                Outcome::Result(_) => Err(NO_ANSWER),
                Outcome::Error(error) => Err(error.raw()),
            };
            Admission::Response { id, outcome }
        }
    }
}
