//! Policies, heads and bodies: converts terms for the core's rules.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::http::{
    AcceptedHead, EventId, Head, HttpAnswer, LastEventId, Policy, PolicyOptions, Verb, check_head,
};
use mcp_core::protocol::{Anonymous, Context, admit};
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use crate::atoms;
use crate::counters::count_http;
use crate::dirty::{Effort, twins};
use crate::options;
use crate::protocol::admission::{Over, to_term};
use crate::protocol::{CatalogResource, GivenLimits, session};
use crate::resources::{binary_term, report_work};

/// Checked options of an endpoint.
pub(crate) struct PolicyResource(pub(crate) Policy);

#[rustler::resource_impl]
impl rustler::Resource for PolicyResource {}

/// An accepted head whose body is not read yet.
pub(crate) struct AcceptedHeadResource(pub(crate) AcceptedHead);

#[rustler::resource_impl]
impl rustler::Resource for AcceptedHeadResource {}

#[rustler::nif]
fn http_policy<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    let policy = policy_options(options)
        .and_then(|options| Policy::new(options).map_err(|error| error.to_string()));
    match policy {
        Ok(policy) => (atoms::ok(), ResourceArc::new(PolicyResource(policy))).encode(env),
        Err(error) => env.error_tuple(error),
    }
}

/// Reads a map of options; absent options have the core's defaults.
fn policy_options(given: Term<'_>) -> Result<PolicyOptions, String> {
    let mut read = PolicyOptions::default();
    options::read!(given, read => [
        path, allowed_hosts, allowed_origins, max_body_bytes, sessions, resource_metadata, metadata_at_root,
    ])?;
    Ok(read)
}

#[rustler::nif]
fn http_check_head<'a>(
    env: Env<'a>,
    policy: ResourceArc<PolicyResource>,
    method: Binary<'a>,
    target: Binary<'a>,
    authority: Option<Binary<'a>>,
    headers: Vec<(Binary<'a>, Binary<'a>)>,
) -> NifResult<Term<'a>> {
    let given = (method, target, authority, headers);
    match with_head(&given, |head| check_head(&policy.0, head)) {
        Ok(accepted) => {
            let context = context_term(env, &accepted)?;
            let accepted = ResourceArc::new(AcceptedHeadResource(accepted));
            Ok((atoms::ok(), accepted, context).encode(env))
        }
        Err(refused) if refused.behind_identity => {
            let answer = answer_terms(env, refused.answer);
            Ok((atoms::unfit(), answer, refused.cors_headers).encode(env))
        }
        Err(refused) => {
            let answer = refused.finished();
            count_http(answer.status);
            Ok(self::refused(env, answer))
        }
    }
}

/// Counts a refusal that an identified client got.
#[rustler::nif]
fn http_count_refusal(status: u16) -> Atom {
    count_http(status);
    atoms::ok()
}

/// Method, target, authority and headers, as Elixir passes them.
pub(crate) type GivenHead<'a> = (
    Binary<'a>,
    Binary<'a>,
    Option<Binary<'a>>,
    Vec<(Binary<'a>, Binary<'a>)>,
);

/// Passes a head to `judge`.
pub(crate) fn with_head<R>(given: &GivenHead<'_>, judge: impl FnOnce(&Head<'_>) -> R) -> R {
    let (method, target, authority, headers) = given;
    // No rule reads a header whose name is not UTF-8.
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .filter_map(|(name, value)| Some((text(name)?, value.as_slice())))
        .collect();
    judge(&Head {
        method: text(method).unwrap_or_default(),
        target: text(target).unwrap_or_default(),
        authority: authority
            .as_ref()
            .map(|authority| text(authority).unwrap_or_default()),
        headers: &headers,
    })
}

/// `{:answer, status, headers, body}`
pub(crate) fn refused(env: Env<'_>, answer: HttpAnswer) -> Term<'_> {
    let (status, headers, body) = answer_terms(env, answer);
    (atoms::answer(), status, headers, body).encode(env)
}

pub(crate) fn text<'b>(binary: &'b Binary<'_>) -> Option<&'b str> {
    std::str::from_utf8(binary.as_slice()).ok()
}

/// The parts of a head that Elixir needs.
pub(crate) fn context_term<'a>(env: Env<'a>, accepted: &AcceptedHead) -> NifResult<Term<'a>> {
    let verb = match accepted.verb {
        Verb::Post => atoms::post(),
        Verb::Get => atoms::get(),
        Verb::Delete => atoms::delete(),
    };
    let last_event_id = match accepted.last_event_id {
        None => atoms::nil().encode(env),
        Some(LastEventId::Event(EventId { stream, index })) => (stream, index).encode(env),
        Some(LastEventId::Malformed) => atoms::invalid().encode(env),
    };
    let context: [(Atom, Term<'a>); 8] = [
        (atoms::verb(), verb.encode(env)),
        (atoms::session_id(), accepted.session_id.encode(env)),
        (atoms::last_event_id(), last_event_id),
        (atoms::content_length(), accepted.content_length.encode(env)),
        (atoms::stateless(), accepted.stateless.encode(env)),
        (atoms::events(), accepted.accepts_events.encode(env)),
        (atoms::json(), accepted.accepts_json.encode(env)),
        (atoms::cors_headers(), accepted.cors_headers.encode(env)),
    ];
    Term::map_from_pairs(env, &context).map_err(|_| Error::BadArg)
}

/// Status, headers, body.
pub(crate) fn answer_terms(env: Env<'_>, answer: HttpAnswer) -> (u16, Term<'_>, Term<'_>) {
    (
        answer.status,
        answer.headers.encode(env),
        binary_term(env, answer.body),
    )
}

twins!("http_admit": http_admit_inline, http_admit_dirty(
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    accepted: ResourceArc<AcceptedHeadResource>,
    client: (Option<&'a str>, Atom),
    body: Binary<'a>,
) => admit_body(catalog, limits, accepted, client, body));

fn admit_body<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    accepted: ResourceArc<AcceptedHeadResource>,
    (revision_name, anonymous): (Option<&str>, Atom),
    body: Binary<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let context = Context {
        session: session(revision_name)?,
        http: Some(&accepted.0),
        anonymous: open_without_token(anonymous)?,
    };
    // The reader of the body has already checked its size.
    let limits = limits.get().with_max_bytes(body.len());
    let admission = admit(&catalog.0, context, body.as_slice(), &limits);
    report_work(env, body.len());
    to_term(env, &catalog, admission, Over::Http, effort)
}

fn open_without_token(name: Atom) -> NifResult<Option<Anonymous>> {
    match name {
        name if name == atoms::nil() => Ok(None),
        name if name == atoms::discovery() => Ok(Some(Anonymous::Discovery)),
        name if name == atoms::all() => Ok(Some(Anonymous::All)),
        _ => Err(Error::BadArg),
    }
}
