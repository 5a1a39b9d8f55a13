//! The one way in: bytes and what the transport knows become a finished answer, or work.
//!
//! The order of checks is the specification's: JSON, envelope, era, `_meta`, version, method,
//! parameters, capabilities. Over HTTP the head is compared with each of them in its turn. Nothing is
//! built for a message that fails one of them.

use jsonschema::json::Json;

use super::agreement;
use super::facts::{Facts, SessionFacts};
use super::frame::result_head;
use super::input::is_input_response;
use super::meta::{self, Client};
use super::method::Method;
use super::notice::Notice;
use super::offer::{Listing, is_offered, list, require_capabilities};
use super::opening::open_session;
use super::params;
use super::refusal::{Answer, Refusal};
use super::request::{Input, Opening, Request, Work};
use crate::catalog::Catalog;
use crate::json::{Document, Kind, Limits, View};
use crate::jsonrpc::{self, Id, Message, Outcome};
use crate::revision::{Era, Revision};

/// The most messages a batch may hold (2025-03-26, the only revision with batches).
pub const MAX_BATCH: usize = 50;

/// What a handler sees instead of a result that answers none of the requests a server may send.
const NO_ANSWER: &[u8] =
    br#"{"code":-32602,"message":"Invalid params: not an elicitation, sampling or roots result"}"#;

/// What a message becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission<'c, 'a> {
    /// A finished answer.
    Answer(Answer),
    /// A finished answer in two parts; the tail is kept by the catalogue and never copied.
    Kept {
        /// Everything up to the id.
        head: Vec<u8>,
        /// Everything behind it.
        tail: &'c [u8],
    },
    /// Nothing to do and nothing to say.
    Ignored,
    /// `initialize`: a session opens.
    Open(Box<Opening<'a>>),
    /// Work for the server's own code.
    Request(Box<Request<'a>>),
    /// A notification that concerns the server.
    Notice(Notice<'a>),
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
    facts: Facts<'_>,
    bytes: &'a [u8],
    limits: &Limits,
) -> Admission<'c, 'a> {
    let document = match Document::scan(bytes, limits) {
        Ok(document) => document,
        Err(error) => return refuse(facts, &Refusal::parse_error(&error)),
    };
    let root = document.root();
    if root.kind() == Kind::Array {
        return admit_batch(catalog, facts, root);
    }
    admit_message(catalog, facts, root)
}

fn admit_batch<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    facts: Facts<'_>,
    root: View<'_, 'a>,
) -> Admission<'c, 'a> {
    let refuse = |reason| refuse(facts, &Refusal::invalid_request(reason));
    if facts.session.map(|session| session.revision) != Some(Revision::V2025_03_26) {
        return refuse("batches exist only in protocol revision 2025-03-26");
    }
    match root.elements().count() {
        0 => refuse("a batch must not be empty"),
        1..=MAX_BATCH => Admission::Batch(
            root.elements()
                .map(|view| admit_message(catalog, facts, view))
                .collect(),
        ),
        _ => refuse("a batch holds at most 50 messages"),
    }
}

/// The answer to a message that has no id to answer to.
fn refuse<'c, 'a>(facts: Facts<'_>, refusal: &Refusal) -> Admission<'c, 'a> {
    Admission::Answer(refusal.answer(None, facts.fallback_revision()))
}

fn admit_message<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    facts: Facts<'_>,
    view: View<'_, 'a>,
) -> Admission<'c, 'a> {
    match jsonrpc::classify(view, view.has_duplicate()) {
        Err(invalid) if !invalid.answerable => {
            // Nobody answers a notification, or an answer, however bad it is.
            let is_response = view.get("method").is_none();
            admit_quietly(facts, is_response, Admission::Ignored)
        }
        Err(invalid) => {
            let id = invalid.id.clone();
            let refusal = Refusal::from(invalid);
            Admission::Answer(refusal.answer(id.as_ref(), facts.fallback_revision()))
        }
        Ok(Message::Request { id, method, params }) => {
            let (revision, admitted) = admit_request(catalog, facts, &id, &method, params);
            admitted
                .unwrap_or_else(|refusal| Admission::Answer(refusal.answer(Some(&id), revision)))
        }
        Ok(Message::Notification { method, params }) => {
            let notice = Notice::read(&method, params);
            // What it is about went with the request before it.
            let notice = notice.filter(|_| !facts.is_sessionless());
            admit_quietly(
                facts,
                false,
                notice.map_or(Admission::Ignored, Admission::Notice),
            )
        }
        Ok(Message::Response { id, outcome }) => {
            let outcome = match outcome {
                Outcome::Result(result) if is_input_response(result) => Ok(result.raw()),
                Outcome::Result(_) => Err(NO_ANSWER),
                Outcome::Error(error) => Err(error.raw()),
            };
            admit_quietly(facts, true, Admission::Response { id, outcome })
        }
    }
}

/// What wants no answer gets none, unless HTTP owes it one: a version that is not spoken here, or
/// an answer to a server that can have asked nothing.
fn admit_quietly<'c, 'a>(
    facts: Facts<'_>,
    is_response: bool,
    admission: Admission<'c, 'a>,
) -> Admission<'c, 'a> {
    if let Err(refusal) = facts.check_session_version() {
        return refuse(facts, &refusal);
    }
    if is_response && facts.is_sessionless() {
        return refuse(
            facts,
            &Refusal::invalid_request("nothing was asked of this client"),
        );
    }
    admission
}

type Admitted<'c, 'a> = Result<Admission<'c, 'a>, Refusal>;

/// The admission, and the revision that a refusal is worded in.
fn admit_request<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    facts: Facts<'_>,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
) -> (Revision, Admitted<'c, 'a>) {
    let stateless = facts.is_stateless()
        || meta::claims_stateless(params)
        || (facts.session.is_none() && Method::is_stateless_only(method));
    if stateless {
        return (
            Revision::NEWEST,
            admit_stateless(catalog, facts, id, method, params),
        );
    }
    let revision = facts
        .session
        .map_or(Revision::NEWEST_SESSION, |session| session.revision);
    let admitted = facts
        .check_session_version()
        .and_then(|()| match facts.session {
            Some(session) => admit_in_session(catalog, session, id, method, params),
            None => admit_before_session(catalog, facts, id, method, params),
        });
    (revision, admitted)
}

fn admit_stateless<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    facts: Facts<'_>,
    id: &Id,
    method_name: &str,
    params: Option<View<'_, 'a>>,
) -> Admitted<'c, 'a> {
    let version = meta::version(params)?;
    let client = meta::client(params)?;
    if let Some(head) = facts.http {
        agreement::check_version(&head.claims, &version)?;
    }
    let revision = meta::stateless_revision(&version)?;
    if let Some(head) = facts.http {
        agreement::check_target(&head.claims, method_name, params)?;
    }
    let method = Method::find(method_name, revision).ok_or_else(Refusal::method_not_found)?;
    let admission = admit_method(catalog, revision, id, method, params, Some(client))?;
    if let Admission::Request(request) = &admission {
        if let Some(head) = facts.http {
            agreement::check_parameters(&head.claims, catalog, &request.work, params)?;
        }
        require_capabilities(catalog, &request.work, params)?;
        require_stream(facts, &request.work)?;
    }
    Ok(admission)
}

/// A call that is answered by a stream needs a client that takes one.
fn require_stream(facts: Facts<'_>, work: &Work<'_>) -> Result<(), Refusal> {
    match (facts.http, work) {
        (Some(head), Work::Listen { .. }) if !head.accepts_events => Err(Refusal::needs_stream()),
        _ => Ok(()),
    }
}

fn admit_in_session<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    session: SessionFacts,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
) -> Admitted<'c, 'a> {
    let method = Method::find(method, session.revision).ok_or_else(Refusal::method_not_found)?;
    if method == Method::Initialize {
        return Err(Refusal::invalid_request(
            "the session is already initialized",
        ));
    }
    admit_method(catalog, session.revision, id, method, params, None)
}

fn admit_before_session<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    facts: Facts<'_>,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
) -> Admitted<'c, 'a> {
    match Method::find(method, Revision::NEWEST_SESSION) {
        Some(Method::Initialize) => {
            open_session(catalog, id, params).map(|opening| Admission::Open(Box::new(opening)))
        }
        Some(Method::Ping) => Ok(kept(id, EMPTY_RESULT)),
        _ if facts.http.is_some() => Err(Refusal::invalid_request(
            "Mcp-Session-Id is missing; initialize first, or send _meta of 2026-07-28",
        )),
        Some(_) => Err(Refusal::invalid_request(
            "initialize first, or send _meta of 2026-07-28",
        )),
        None => Err(Refusal::method_not_found()),
    }
}

fn admit_method<'c, 'a, J: Json>(
    catalog: &'c Catalog<J>,
    revision: Revision,
    id: &Id,
    method: Method,
    params: Option<View<'_, 'a>>,
    client: Option<Client<'a>>,
) -> Admitted<'c, 'a> {
    if !is_offered(catalog, method) {
        return Err(Refusal::method_not_found());
    }
    let params_meta = meta::of(params);
    if params_meta.is_some_and(|meta| meta.kind() != Kind::Object) {
        return Err(Refusal::invalid_params("_meta must be an object"));
    }
    let progress_token = meta::progress_token(params_meta)?;
    let work = match method {
        Method::Ping => return Ok(kept(id, EMPTY_RESULT)),
        Method::Discover => return Ok(kept(id, catalog.discover_tail())),
        // Handled before a session exists; inside one it is refused.
        Method::Initialize => return Err(Refusal::method_not_found()),
        Method::ListTools
        | Method::ListPrompts
        | Method::ListResources
        | Method::ListResourceTemplates => match list(catalog, method, revision, params)? {
            Listing::Kept(tail) => return Ok(kept(id, tail)),
            Listing::Computed(work) => work,
        },
        Method::CallTool => params::call_tool(catalog, params)?,
        Method::GetPrompt => params::get_prompt(catalog, params)?,
        Method::ReadResource => params::read_resource(catalog, params, revision)?,
        Method::Complete => match params::complete(catalog, params)? {
            Some(work) => work,
            None => return Ok(no_completion(catalog, revision, id)),
        },
        Method::SetLevel => params::set_level(params)?,
        Method::Subscribe => Work::Subscribe {
            uri: params::subscription_uri(catalog, params, revision)?,
        },
        Method::Unsubscribe => Work::Unsubscribe {
            uri: params::subscription_uri(catalog, params, revision)?,
        },
        Method::Listen => params::listen(catalog, params)?,
    };
    let input = if revision.era() == Era::Stateless && method.may_require_input() {
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
        progress_token,
        client,
        input,
    })))
}

/// `,"result":{}}`
const EMPTY_RESULT: &[u8] = b",\"result\":{}}";

fn kept<'c, 'a>(id: &Id, tail: &'c [u8]) -> Admission<'c, 'a> {
    Admission::Kept {
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
