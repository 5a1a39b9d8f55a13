//! The one way in: bytes and what the transport knows become a finished answer, or work.
//!
//! The order of checks is the specification's: JSON, envelope, era, `_meta`, version, method,
//! parameters, capabilities. Over HTTP the head is compared with each of them in its turn. Nothing is
//! built for a message that fails one of them.

use jsonschema::json::Json;

use super::capabilities::{Listing, is_offered, list};
use super::context::Context;
use super::era::{admit_request, check_notification, check_response};
use super::frame::result_head;
use super::input::is_input_response;
use super::limits::MessageLimits;
use super::meta::{self, Client};
use super::method::Method;
use super::notification::Notification;
use super::params;
use super::refusal::{Answer, Refusal};
use super::request::{Initialize, Input, Request, TaskVerb, Work};
use super::task;
use crate::catalog::Catalog;
use crate::json::{Document, Kind, UNLIMITED, View, elements};
use crate::jsonrpc::{self, Id, Message, Outcome};
use crate::revision::{Era, Revision};

/// What a handler sees instead of a result that answers none of the requests a server may send.
const NO_ANSWER: &[u8] =
    br#"{"code":-32602,"message":"Invalid params: not an elicitation, sampling or roots result"}"#;

/// What a message becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission<'c, 'a> {
    /// A finished answer.
    Answer(Answer),
    /// A finished answer in two parts; the tail is kept by the catalogue and never copied.
    Prebuilt {
        /// Everything up to the id.
        head: Vec<u8>,
        /// Everything behind it.
        tail: &'c [u8],
    },
    /// Nothing to do and nothing to say.
    Ignored,
    /// `initialize`: a session opens.
    Open(Box<Initialize<'a>>),
    /// Work for the server's own code.
    Request(Box<Request<'a>>),
    /// A notification that concerns the server.
    Notification(Notification<'a>),
    /// The client's answer to a request of ours: the result, or the error.
    Response {
        /// The id of our request.
        id: Id,
        /// The result or the error as sent.
        outcome: Result<&'a [u8], &'a [u8]>,
    },
    /// A batch; its answers go out as one array.
    Batch(Vec<Admission<'c, 'a>>),
}

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
        Err(error) => return refuse(context, &Refusal::parse_error(&error)),
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
        Ok(document) => admit_message(catalog, context, document.root(), limits),
        Err(error) => self::refuse(context, &Refusal::parse_error(&error)),
    };
    Admission::Batch(messages.into_iter().map(admit_one).collect())
}

/// The answer to a message that has no id to answer to.
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
            // Nobody answers a notification, or an answer, however bad it is.
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
            let (revision, admitted) =
                admit_request(catalog, context, &id, &method, params, limits);
            admitted
                .unwrap_or_else(|refusal| Admission::Answer(refusal.answer(Some(&id), revision)))
        }
        Ok(Message::Notification { method, params }) => {
            if let Err(refusal) = check_notification(context, params) {
                return refuse(context, &refusal);
            }
            // Without a session, what it is about went with the request before it.
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

pub(super) type Admitted<'c, 'a> = Result<Admission<'c, 'a>, Refusal>;

pub(super) fn admit_method<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    revision: Revision,
    id: &Id,
    method: Method,
    params: Option<View<'_, 'a>>,
    client: Option<Client<'a>>,
    limits: &MessageLimits,
) -> Admitted<'c, 'a> {
    if !is_offered(catalog, method) {
        return Err(Refusal::method_not_found());
    }
    let params_meta = meta::of(params);
    meta::check_form(params_meta)?;
    let progress_token = meta::progress_token(params_meta, limits)?;
    let work = match method {
        Method::Ping => return Ok(prebuilt(id, EMPTY_RESULT)),
        Method::Discover => return Ok(prebuilt(id, catalog.discover_tail())),
        // Handled before a session exists; inside one it is refused.
        Method::Initialize => return Err(Refusal::method_not_found()),
        Method::ListTools
        | Method::ListPrompts
        | Method::ListResources
        | Method::ListResourceTemplates => match list(catalog, method, revision, params)? {
            Listing::Prebuilt(tail) => return Ok(prebuilt(id, tail)),
            Listing::Computed(work) => work,
        },
        Method::CallTool => params::call_tool(catalog, revision, params, limits)?,
        Method::GetPrompt => params::get_prompt(catalog, params, limits)?,
        Method::ReadResource => params::read_resource(catalog, params, revision, limits)?,
        Method::Complete => match params::complete(catalog, params, limits)? {
            Some(work) => work,
            None => return Ok(no_completion(catalog, revision, id)),
        },
        Method::SetLevel => params::set_level(params)?,
        Method::Subscribe => Work::Subscribe {
            uri: params::subscription_uri(catalog, params, revision, limits)?,
        },
        Method::Unsubscribe => Work::Unsubscribe {
            uri: params::subscription_uri(catalog, params, revision, limits)?,
        },
        Method::Listen => params::listen(catalog, params, limits)?,
        Method::GetTask => task::of(TaskVerb::Get, params)?,
        Method::TaskResult => task::of(TaskVerb::Result, params)?,
        Method::UpdateTask => task::of(TaskVerb::Update, params)?,
        Method::CancelTask => task::of(TaskVerb::Cancel, params)?,
        Method::ListTasks => task::list(params)?,
    };
    let input = if revision.era() == Era::Stateless && method.brings_input() {
        params::input(method, params)?
    } else {
        Input::default()
    };
    Ok(Admission::Request(Box::new(Request {
        id: id.clone(),
        revision,
        method,
        work,
        meta: params_meta.map(|meta| meta.raw()),
        progress_token,
        client,
        input,
        room: limits.json.inside(LEVELS_ABOVE_ARGUMENTS, 0),
        unmet: None,
    })))
}

/// The message and `params`.
const LEVELS_ABOVE_ARGUMENTS: usize = 2;

/// `,"result":{}}`
pub(super) const EMPTY_RESULT: &[u8] = b",\"result\":{}}";

pub(super) fn prebuilt<'c, 'a>(id: &Id, tail: &'c [u8]) -> Admission<'c, 'a> {
    Admission::Prebuilt {
        head: result_head(id),
        tail,
    }
}

fn no_completion<'c, 'a, J: Json>(
    catalog: &Catalog<J>,
    revision: Revision,
    id: &Id,
) -> Admission<'c, 'a> {
    let extras = catalog.extras(revision);
    let mut body = result_head(id);
    extras.open_result(&mut body);
    body.extend_from_slice(br#""completion":{"values":[],"total":0,"hasMore":false}"#);
    extras.close_result(&mut body);
    Admission::Answer(Answer { body, status: 200 })
}
