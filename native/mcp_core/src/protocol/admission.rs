//! The result of admission, and the admission of a request whose era is known.

use jsonschema::json::Json;

use super::answered::Answered;
use super::capabilities::{Listing, is_offered, list};
use super::frame::result_head;
use super::limits::MessageLimits;
use super::meta::{self, Client};
use super::method::Method;
use super::notification::Notification;
use super::params;
use super::refusal::{Answer, Refusal};
use super::request::{Initialize, Input, Request, TaskVerb, Work};
use super::task;
use crate::catalog::Offer;
use crate::json::View;
use crate::jsonrpc::Id;
use crate::revision::{Era, Revision};

/// The result of admitting a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission<'c, 'a> {
    /// A finished response.
    Answer(Answer),
    /// A finished response in two parts. The catalogue owns the tail, so it is never copied.
    Prebuilt {
        /// The kind of response.
        answered: Answered,
        /// Everything up to and including the id.
        head: Vec<u8>,
        /// The rest of the message.
        tail: &'c [u8],
    },
    /// No work and no response.
    Ignored,
    /// `initialize` opens a session.
    Open(Box<Initialize<'a>>),
    /// Work for the server's own code.
    Request(Box<Request<'a>>),
    /// A notification that concerns the server.
    Notification(Notification<'a>),
    /// The client's response to a request of the server.
    Response {
        /// The id of the server's request.
        id: Id,
        /// The result or the error as sent.
        outcome: Result<&'a [u8], &'a [u8]>,
    },
    /// A request that a client without a token may not send.
    TokenRequired,
    /// A batch. Its responses are sent as one array.
    Batch(Vec<Admission<'c, 'a>>),
}

pub(super) type Admitted<'c, 'a> = Result<Admission<'c, 'a>, Refusal>;

pub(super) fn admit_method<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
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
        Method::Ping => return Ok(prebuilt(Answered::Ping, id, EMPTY_RESULT)),
        Method::Discover => {
            let tail = catalog.all().discover_tail();
            return Ok(prebuilt(Answered::Discover, id, tail));
        }
        // `initialize` is handled before a session exists. Inside a session it is refused.
        Method::Initialize => return Err(Refusal::method_not_found()),
        Method::ListTools
        | Method::ListPrompts
        | Method::ListResources
        | Method::ListResourceTemplates => match list(catalog, method, revision, params)? {
            Listing::Prebuilt(tail) => return Ok(prebuilt(Answered::List, id, tail)),
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
        params::input(params)?
    } else {
        Input::default()
    };
    Ok(Admission::Request(Box::new(Request {
        id: id.clone(),
        revision,
        method,
        work,
        meta: params_meta.map(|meta| meta.raw()),
        extra_meta: meta::extras(params_meta),
        progress_token,
        client,
        input,
        room: limits.json.inside(LEVELS_ABOVE_ARGUMENTS, 0),
        unmet: None,
        hidden: None,
        stand_in: None,
    })))
}

/// The levels of the message object and of `params`.
const LEVELS_ABOVE_ARGUMENTS: usize = 2;

/// `,"result":{}}`
pub(super) const EMPTY_RESULT: &[u8] = b",\"result\":{}}";

pub(super) fn prebuilt<'c, 'a>(answered: Answered, id: &Id, tail: &'c [u8]) -> Admission<'c, 'a> {
    Admission::Prebuilt {
        answered,
        head: result_head(id),
        tail,
    }
}

fn no_completion<'c, 'a, J: Json>(
    catalog: Offer<'_, '_, J>,
    revision: Revision,
    id: &Id,
) -> Admission<'c, 'a> {
    let extras = catalog.extras(revision);
    let mut body = result_head(id);
    extras.open_result(&mut body);
    body.extend_from_slice(br#""completion":{"values":[],"total":0,"hasMore":false}"#);
    extras.close_result(&mut body);
    Admission::Answer(Answer {
        body,
        status: 200,
        answered: Answered::List,
    })
}
