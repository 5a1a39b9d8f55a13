//! Converts the outcomes of messages to terms.

use mcp_core::catalog::{Entry, ListKind, ReadTarget};
use mcp_core::json::UNLIMITED;
use mcp_core::jsonrpc::INTERNAL_ERROR;
use mcp_core::protocol::{
    Admission, Answer, Client, Completing, Hidden, Initialize, ListenFilter, Method, Notification,
    Refusal, Request, TaskVerb, Work, refuse_arguments,
};
use mcp_core::schema::Problem;
use rustler::{Atom, Encoder, Env, Error, MapIterator, NewBinary, NifResult, ResourceArc, Term};

use super::{CatalogResource, id_term};
use crate::arguments::{Prepared, prepare};
use crate::atoms;
use crate::counters::count;
use crate::dirty::Effort;
use crate::resources::binary_term;
use crate::schema::{Allowance, check, repair, without_nulls};
use crate::terms::{Values, read_term};

/// The transport of a finished answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Over {
    /// A line, which has no status.
    Line,
    /// An HTTP response.
    Http,
}

/// The outcome, or the atom `over_budget` if the check of the arguments exceeds the effort. The
/// messages of a batch share the effort.
pub(crate) fn to_term<'a>(
    env: Env<'a>,
    catalog: &ResourceArc<CatalogResource>,
    admission: Admission<'_, 'a>,
    over: Over,
    effort: Effort,
) -> NifResult<Term<'a>> {
    one_to_term(env, catalog, admission, over, &Allowance::of(effort))
}

fn one_to_term<'a>(
    env: Env<'a>,
    catalog: &ResourceArc<CatalogResource>,
    admission: Admission<'_, 'a>,
    over: Over,
    allowance: &Allowance,
) -> NifResult<Term<'a>> {
    Ok(match admission {
        Admission::Answer(answer) => finished(env, answer, over),
        Admission::Prebuilt {
            answered,
            head,
            tail,
        } => {
            count(answered);
            // The tail lives as long as the catalogue, so the term refers to it without a copy.
            let tail = catalog.make_binary(env, |_| tail).to_term(env);
            reply(
                env,
                200,
                vec![binary_term(env, head), tail].encode(env),
                over,
            )
        }
        Admission::Ignored => atoms::ignore().encode(env),
        Admission::TokenRequired => atoms::token_required().encode(env),
        Admission::Open(opening) => opening_term(env, &opening)?,
        Admission::Request(request) => match request_fields(env, catalog, &request, allowance) {
            Judged::Fields(fields) => (atoms::request(), fields).encode(env),
            Judged::Refused(answer) => finished(env, answer, over),
            Judged::TooLong => return Err(Error::Atom("over_budget")),
        },
        Admission::Notification(notification) => {
            (atoms::notification(), notice_term(env, &notification)?).encode(env)
        }
        Admission::Response { id, outcome } => {
            let outcome = match outcome {
                Ok(result) => (atoms::ok(), json(env, result)?),
                Err(error) => (atoms::error(), json(env, error)?),
            };
            (atoms::response(), id_term(env, &id), outcome).encode(env)
        }
        Admission::Batch(admissions) => {
            let allowance = &allowance.of_batch();
            let outcomes: NifResult<Vec<Term<'a>>> = admissions
                .into_iter()
                .map(|admission| one_to_term(env, catalog, admission, over, allowance))
                .collect();
            (atoms::batch(), outcomes?).encode(env)
        }
    })
}

fn finished(env: Env<'_>, answer: Answer, over: Over) -> Term<'_> {
    count(answer.answered);
    reply(env, answer.status, binary_term(env, answer.body), over)
}

fn reply<'a>(env: Env<'a>, status: u16, body: Term<'a>, over: Over) -> Term<'a> {
    match over {
        Over::Line => (atoms::reply(), body).encode(env),
        Over::Http => (atoms::reply(), status, body).encode(env),
    }
}

/// The reply that opens a session, and the client's description of itself.
pub(crate) fn opening_term<'a>(env: Env<'a>, opening: &Initialize<'a>) -> NifResult<Term<'a>> {
    let session = (
        id_term(env, &opening.id),
        opening.revision.as_str(),
        client_data(env, opening.client_info)?,
        client_data(env, opening.capabilities)?,
    );
    count(opening.answer.answered);
    let reply = binary_term(env, opening.answer.body.clone());
    Ok((atoms::open(), reply, session).encode(env))
}

/// The longest client data that becomes a term at once: nearly all clients send less.
const MAX_CLIENT_TERM_BYTES: usize = 128;

/// The client data that a session keeps: a term, or a copy of the text if it is long. A term can
/// need ten times the memory of its text, and a session lives long.
fn client_data<'a>(env: Env<'a>, text: &'a [u8]) -> NifResult<Term<'a>> {
    if text.len() <= MAX_CLIENT_TERM_BYTES {
        return json(env, text);
    }
    Ok(NewBinary::from_slice(env, text).into())
}

/// Converts a slice that admission has already checked to a term.
fn json<'a>(env: Env<'a>, bytes: &'a [u8]) -> NifResult<Term<'a>> {
    read_term(env, bytes, None, &UNLIMITED).map_err(|_| Error::BadArg)
}

fn json_or_empty<'a>(env: Env<'a>, bytes: Option<&'a [u8]>) -> NifResult<Term<'a>> {
    bytes.map_or_else(|| Ok(Term::map_new(env)), |bytes| json(env, bytes))
}

/// The strings of an object. A `null` counts as absent.
fn strings<'a>(env: Env<'a>, bytes: Option<&'a [u8]>) -> NifResult<Term<'a>> {
    let all = json_or_empty(env, bytes)?;
    let absent: Vec<Term<'a>> = MapIterator::new(all)
        .ok_or(Error::BadArg)?
        .filter_map(|(name, value)| value.is_atom().then_some(name))
        .collect();
    let without = |object: Term<'a>, name| object.map_remove(name).map_err(|_| Error::BadArg);
    absent.into_iter().try_fold(all, without)
}

fn notice_term<'a>(env: Env<'a>, notification: &Notification<'a>) -> NifResult<Term<'a>> {
    Ok(match notification {
        Notification::Initialized => atoms::initialized().encode(env),
        Notification::RootsListChanged => atoms::roots_list_changed().encode(env),
        Notification::Cancelled { id, reason } => {
            (atoms::cancelled(), id_term(env, id), reason).encode(env)
        }
        Notification::Progress { token, params } => {
            (atoms::progress(), id_term(env, token), json(env, params)?).encode(env)
        }
    })
}

/// Kind, index, name, arguments.
type Asked<'r, 'a> = (Atom, Option<usize>, Option<&'r str>, Term<'a>);

/// A request with checked arguments.
pub(crate) enum Judged<'a> {
    /// A valid request: the fields of `McpServer.Request`, in order.
    Fields(Term<'a>),
    /// The answer to invalid arguments.
    Refused(Answer),
    /// The check of the arguments exceeds the effort.
    TooLong,
}

/// The fields of a request. Admission rules out requests that cannot become terms. If our code is
/// wrong there, this request fails, but the other requests of the connection continue.
pub(crate) fn request_fields<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    request: &Request<'a>,
    allowance: &Allowance,
) -> Judged<'a> {
    judged(env, catalog, request, allowance).unwrap_or_else(|_| {
        let refusal = Refusal::standard(INTERNAL_ERROR);
        Judged::Refused(refusal.answer(Some(&request.id), request.revision))
    })
}

fn judged<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    request: &Request<'a>,
    allowance: &Allowance,
) -> NifResult<Judged<'a>> {
    let mut asked = asked(env, request)?;
    let (arguments, repairs) = match fitting(env, catalog, request, asked.3, allowance) {
        None => return Ok(Judged::TooLong),
        Some(Err(answer)) => return refused(env, catalog, (request, asked), &answer, allowance),
        Some(Ok(fitting)) => fitting,
    };
    if let Some(answer) = &request.unmet {
        return refused(env, catalog, (request, asked), answer, allowance);
    }
    asked.3 = arguments;
    let refusal = atoms::nil().to_term(env);
    sound(
        env,
        catalog,
        (request, asked),
        (repairs, refusal),
        allowance,
    )
}

/// The answer to a request with one invalid part. If only some clients may see the requested entry,
/// Elixir checks first whether this client may.
fn refused<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    (request, mut asked): (&Request<'a>, Asked<'_, 'a>),
    answer: &Answer,
    allowance: &Allowance,
) -> NifResult<Judged<'a>> {
    if request.hidden.is_none() {
        return Ok(Judged::Refused(answer.clone()));
    }
    asked.3 = Term::map_new(env);
    let refusal = answer_term(env, answer);
    sound(
        env,
        catalog,
        (request, asked),
        (Vec::new(), refusal),
        allowance,
    )
}

fn answer_term<'a>(env: Env<'a>, answer: &Answer) -> Term<'a> {
    (answer.status, binary_term(env, answer.body.clone())).encode(env)
}

/// The response to a client that cannot see the entry: an answer with its status, or the fields of
/// another request. `nil` if all clients see the entry.
fn hidden_term<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    request: &Request<'a>,
    allowance: &Allowance,
) -> NifResult<Option<Term<'a>>> {
    Ok(match &request.hidden {
        None => Some(atoms::nil().to_term(env)),
        Some(Hidden::Answer(answer) | Hidden::Token(answer)) => Some(answer_term(env, answer)),
        Some(Hidden::Request(request)) => match judged(env, catalog, request, allowance)? {
            Judged::Fields(fields) => Some(fields),
            Judged::Refused(answer) => Some(answer_term(env, &answer)),
            Judged::TooLong => None,
        },
    })
}

fn sound<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    (request, asked): (&Request<'a>, Asked<'_, 'a>),
    (repairs, refusal): (Vec<Atom>, Term<'a>),
    allowance: &Allowance,
) -> NifResult<Judged<'a>> {
    let Some(hidden) = hidden_term(env, catalog, request, allowance)? else {
        return Ok(Judged::TooLong);
    };
    let (kind, index, name, arguments) = asked;
    // The request names no entry. Elixir checks the stand-in as if the request named it.
    let index = index.filter(|_| request.stand_in.is_none());
    let fields = [
        id_term(env, &request.id),
        request.method.name().encode(env),
        request.revision.as_str().encode(env),
        kind.encode(env),
        index.encode(env),
        name.encode(env),
        arguments,
        request
            .progress_token
            .as_ref()
            .map(|token| id_term(env, token))
            .encode(env),
        client_term(env, request.client.as_ref())?,
        input_term(env, request)?,
        task_term(env, request),
        repairs.encode(env),
        refusal,
        hidden,
        request.stand_in.map(|entry| entry.index).encode(env),
        meta_term(env, &request.extra_meta)?,
    ];
    let fields = rustler::types::tuple::make_tuple(env, &fields);
    Ok(Judged::Fields(fields))
}

fn asked<'r, 'a: 'r>(env: Env<'a>, request: &'r Request<'a>) -> NifResult<Asked<'r, 'a>> {
    Ok(match &request.work {
        Work::Tool {
            name,
            index,
            arguments,
            task: _,
        } => (
            atoms::tool(),
            Some(*index),
            Some(name.as_ref()),
            json_or_empty(env, *arguments)?,
        ),
        Work::Prompt {
            name,
            index,
            arguments,
        } => (
            atoms::prompt(),
            Some(*index),
            Some(name.as_ref()),
            strings(env, *arguments)?,
        ),
        Work::Read {
            uri,
            target: ReadTarget::Resource { index },
        } => (
            atoms::resource(),
            Some(*index),
            Some(uri.as_ref()),
            Term::map_new(env),
        ),
        Work::Read {
            uri,
            target: ReadTarget::Template { index, variables },
        } => {
            let variables = Term::map_from_pairs(env, variables).map_err(|_| Error::BadArg)?;
            (
                atoms::resource_template(),
                Some(*index),
                Some(uri.as_ref()),
                variables,
            )
        }
        Work::CompletePrompt {
            name,
            index,
            argument,
        } => {
            let argument = completing(env, argument)?;
            (
                atoms::complete_prompt(),
                Some(*index),
                Some(name.as_ref()),
                argument,
            )
        }
        Work::CompleteTemplate {
            uri,
            index,
            argument,
        } => {
            let argument = completing(env, argument)?;
            (
                atoms::complete_resource(),
                Some(*index),
                Some(uri.as_ref()),
                argument,
            )
        }
        Work::Refused { name, entry } => (
            refused_atom(request.method, *entry),
            (*entry != Entry::RUN_TIME).then_some(entry.index),
            Some(name.as_ref()),
            Term::map_new(env),
        ),
        Work::RunTimeTool {
            name,
            arguments,
            task: _,
        } => (
            atoms::tool(),
            None,
            Some(name.as_ref()),
            json_or_empty(env, *arguments)?,
        ),
        work => asked_of_server(env, work)?,
    })
}

fn refused_atom(method: Method, entry: Entry) -> Atom {
    match (method, entry.kind) {
        (Method::Complete, ListKind::Prompts) => atoms::complete_prompt(),
        (Method::Complete, ListKind::ResourceTemplates) => atoms::complete_resource(),
        (_, ListKind::Tools) => atoms::tool(),
        (_, ListKind::Prompts) => atoms::prompt(),
        (_, ListKind::Resources) => atoms::resource(),
        (_, ListKind::ResourceTemplates) => atoms::resource_template(),
    }
}

/// Requests that concern no entry of the catalogue.
fn asked_of_server<'r, 'a: 'r>(env: Env<'a>, work: &'r Work<'a>) -> NifResult<Asked<'r, 'a>> {
    Ok(match work {
        Work::List { kind, cursor } => {
            let cursor = cursor.as_deref();
            (
                list_atom(*kind),
                None,
                None,
                map(env, &[("cursor", cursor.encode(env))])?,
            )
        }
        Work::SetLevel { level } => (
            atoms::set_level(),
            None,
            None,
            map(env, &[("level", level.encode(env))])?,
        ),
        Work::Subscribe { uri } => (
            atoms::subscribe(),
            None,
            Some(uri.as_ref()),
            Term::map_new(env),
        ),
        Work::Unsubscribe { uri } => (
            atoms::unsubscribe(),
            None,
            Some(uri.as_ref()),
            Term::map_new(env),
        ),
        Work::Listen { filter } => (atoms::listen(), None, None, filter_term(env, filter)?),
        Work::Task { verb, id, unsound } => (
            verb_atom(*verb),
            None,
            Some(id.as_ref()),
            map(env, &[("unsound", unsound.encode(env))])?,
        ),
        Work::ListTasks => (atoms::list_tasks(), None, None, Term::map_new(env)),
        _ => return Err(Error::BadArg),
    })
}

fn list_atom(kind: ListKind) -> Atom {
    match kind {
        ListKind::Tools => atoms::list_tools(),
        ListKind::Prompts => atoms::list_prompts(),
        ListKind::Resources => atoms::list_resources(),
        ListKind::ResourceTemplates => atoms::list_resource_templates(),
    }
}

fn verb_atom(verb: TaskVerb) -> Atom {
    match verb {
        TaskVerb::Get => atoms::get_task(),
        TaskVerb::Result => atoms::task_result(),
        TaskVerb::Update => atoms::update_task(),
        TaskVerb::Cancel => atoms::cancel_task(),
    }
}

/// `nil`, or how long to keep a task: milliseconds, or `default`.
pub(super) fn task_term<'a>(env: Env<'a>, request: &Request<'a>) -> Term<'a> {
    match &request.work {
        Work::Tool {
            task: Some(asked), ..
        }
        | Work::RunTimeTool {
            task: Some(asked), ..
        } => asked
            .ttl
            .map_or_else(|| atoms::default().encode(env), |ttl| ttl.encode(env)),
        _ => atoms::nil().encode(env),
    }
}

/// Valid arguments, and the kinds of the changes that made them valid.
pub(super) type Fitting<'a> = (Term<'a>, Vec<Atom>);

/// Arguments that are valid for the tool's schema, and the kinds of the repairs; or the
/// finished answer to a call with invalid arguments. `None` if the check exceeds the effort.
pub(super) fn fitting<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    request: &Request<'_>,
    arguments: Term<'a>,
    allowance: &Allowance,
) -> Option<Result<Fitting<'a>, Answer>> {
    let as_sent = (arguments, Vec::new());
    let Work::Tool { index, name, .. } = &request.work else {
        return Some(Ok(as_sent));
    };
    let Some(tool) = catalog.0.tool(*index) else {
        return Some(Ok(as_sent));
    };
    let refused = |problems: &[Problem]| {
        let extras = catalog.0.extras(request.revision);
        refuse_arguments(name, problems, request, extras)
    };
    // Terms that were read from a message are in normal form.
    let values = Values::of(arguments, usize::MAX)?;
    let (arguments, verdict) = match check(&tool.input, &values, allowance)? {
        Ok(()) => (arguments, Ok(())),
        Err(problems) if allowance.exhausted() => return Some(Err(refused(&problems))),
        Err(problems) => match without_nulls(env, &tool.input, arguments, &values) {
            None => (arguments, Err(problems)),
            Some(fewer) => (
                fewer,
                check(&tool.input, &Values::of(fewer, usize::MAX)?, allowance)?,
            ),
        },
    };
    let fitting = match verdict {
        Ok(()) => (arguments, Vec::new()),
        Err(problems) => match (tool.repair, allowance.effort()) {
            (false, _) => return Some(Err(refused(&problems))),
            // A repair validates the arguments several more times.
            (true, Effort::Inline) => return None,
            (true, Effort::Whole) => {
                match repair(env, &tool.input, arguments, &request.room, allowance) {
                    None => return Some(Err(refused(&problems))),
                    Some(fitting) => fitting,
                }
            }
        },
    };
    let Some(plan) = catalog.plan(*index) else {
        return Some(Ok(fitting));
    };
    let (arguments, repairs) = fitting;
    match prepare(env, plan, arguments, allowance) {
        Some(Prepared::Ready(term)) => Some(Ok((term, repairs))),
        Some(Prepared::Problems(problems)) => Some(Err(refused(&problems))),
        Some(Prepared::TooLong) => None,
        None => Some(Err(
            Refusal::standard(INTERNAL_ERROR).answer(Some(&request.id), request.revision)
        )),
    }
}

fn completing<'a>(env: Env<'a>, argument: &Completing<'a>) -> NifResult<Term<'a>> {
    map(
        env,
        &[
            ("name", argument.name.encode(env)),
            ("value", argument.value.encode(env)),
            ("context", strings(env, argument.context)?),
        ],
    )
}

/// The filter with the protocol's names, without the kinds that were not requested.
fn filter_term<'a>(env: Env<'a>, filter: &ListenFilter) -> NifResult<Term<'a>> {
    let flags = [
        ("toolsListChanged", filter.tools),
        ("promptsListChanged", filter.prompts),
        ("resourcesListChanged", filter.resources),
    ];
    let mut members: Vec<(&str, Term<'a>)> = flags
        .into_iter()
        .filter(|(_, wanted)| *wanted)
        .map(|(name, _)| (name, true.encode(env)))
        .collect();
    if !filter.uris.is_empty() {
        members.push(("resourceSubscriptions", filter.uris.encode(env)));
    }
    map(env, &members)
}

fn map<'a>(env: Env<'a>, members: &[(&str, Term<'a>)]) -> NifResult<Term<'a>> {
    Term::map_from_pairs(env, members).map_err(|_| Error::BadArg)
}

fn client_term<'a>(env: Env<'a>, client: Option<&Client<'a>>) -> NifResult<Term<'a>> {
    let Some(client) = client else {
        return Ok(atoms::nil().encode(env));
    };
    let info = client.info.map(|info| json(env, info)).transpose()?;
    Ok((info, json(env, client.capabilities)?, client.log_level).encode(env))
}

fn meta_term<'a>(env: Env<'a>, members: &[(String, &'a [u8])]) -> NifResult<Term<'a>> {
    let members: NifResult<Vec<(&str, Term<'a>)>> = members
        .iter()
        .map(|(name, value)| Ok((name.as_str(), json(env, value)?)))
        .collect();
    map(env, &members?)
}

fn input_term<'a>(env: Env<'a>, request: &Request<'a>) -> NifResult<Term<'a>> {
    let responses = request
        .input
        .responses
        .map(|responses| json(env, responses))
        .transpose()?;
    let (unsound, state) = (&request.input.unsound, request.input.state.as_deref());
    Ok((responses, unsound, state).encode(env))
}
