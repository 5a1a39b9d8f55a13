//! Responses of the owner of sessions, streams and limits, and the framing of events.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::http::{self, Challenge, EventId, HttpAnswer, STREAM_HEADERS, sse};
use rustler::{Atom, Encoder, Env, Error, MapIterator, NifResult, ResourceArc, Term};

use super::rules::{PolicyResource, answer_terms};
use crate::atoms;
use crate::resources::binary_term;

/// The response of a kind as `{status, headers, body}`.
#[rustler::nif]
fn http_answer<'a>(env: Env<'a>, kind: Atom, details: Term<'a>) -> NifResult<Term<'a>> {
    Ok(answer_terms(env, answer(kind, details)?).encode(env))
}

fn answer(kind: Atom, details: Term<'_>) -> NifResult<HttpAnswer> {
    let undetailed = [
        (
            atoms::session_not_found(),
            http::session_not_found as fn() -> HttpAnswer,
        ),
        (atoms::stream_taken(), http::stream_taken),
        (atoms::resume_gone(), http::resume_gone),
        (atoms::resume_unknown(), http::resume_unknown),
        (atoms::head_too_large(), http::head_too_large),
        (atoms::malformed(), http::malformed),
        (atoms::request_timeout(), http::request_timeout),
        (atoms::shutting_down(), http::shutting_down),
        (atoms::internal_error(), http::internal_error),
    ];
    let patient = [
        (
            atoms::too_many_sessions(),
            http::too_many_sessions as fn(u32) -> HttpAnswer,
        ),
        (atoms::too_many_requests(), http::too_many_requests),
        (atoms::overloaded(), http::overloaded),
        (atoms::session_interrupted(), http::session_interrupted),
        (
            atoms::authorization_unavailable(),
            http::authorization_unavailable,
        ),
    ];
    if let Some((_, answer)) = undetailed.into_iter().find(|(name, _)| *name == kind) {
        return Ok(answer());
    }
    if let Some((_, answer)) = patient.into_iter().find(|(name, _)| *name == kind) {
        return Ok(answer(details.decode()?));
    }
    if kind == atoms::payload_too_large() {
        return Ok(http::payload_too_large(details.decode()?));
    }
    if kind == atoms::unauthorized() {
        return challenge_of(details, http::unauthorized);
    }
    if kind == atoms::invalid_authorization() {
        return challenge_of(details, http::invalid_authorization);
    }
    if kind == atoms::forbidden() {
        return challenge_of(details, http::forbidden);
    }
    Err(Error::BadArg)
}

/// Passes the challenge of the Elixir map `given` to the closure; absent keys are empty.
pub(crate) fn challenge_of<R>(
    given: Term<'_>,
    answer: impl FnOnce(&Challenge<'_>) -> R,
) -> NifResult<R> {
    let mut challenge = Challenge::default();
    let (mut scope, mut algs) = (Vec::new(), Vec::new());
    for (name, value) in MapIterator::new(given).ok_or(Error::BadArg)? {
        match name.atom_to_string()?.as_str() {
            "resource_metadata" => challenge.resource_metadata = value.decode()?,
            "error" => challenge.error = value.decode()?,
            "description" => challenge.description = value.decode()?,
            "scope" => scope = value.decode()?,
            "algs" => algs = value.decode()?,
            "bound_only" => challenge.bound_only = value.decode()?,
            _ => return Err(Error::BadArg),
        }
    }
    challenge.scope = &scope;
    challenge.algs = &algs;
    Ok(answer(&challenge))
}

/// The value of `WWW-Authenticate`.
#[rustler::nif]
fn http_challenge(challenge: Term<'_>) -> NifResult<String> {
    challenge_of(challenge, |challenge| format!("{challenge}"))
}

/// The URL of an endpoint's metadata, or `nil`.
#[rustler::nif]
fn http_metadata_url(policy: ResourceArc<PolicyResource>) -> Option<String> {
    policy.0.metadata_url().map(str::to_owned)
}

/// Whether the metadata of an endpoint is served at the path.
#[rustler::nif]
fn http_metadata_path(policy: ResourceArc<PolicyResource>, path: &str) -> bool {
    policy.0.is_metadata_path(path)
}

/// The headers of a response that is an event stream.
#[rustler::nif]
fn http_stream_headers(env: Env<'_>) -> Term<'_> {
    STREAM_HEADERS.to_vec().encode(env)
}

/// The text before and after the one line of an event.
#[rustler::nif]
fn http_event(env: Env<'_>, id: Option<(u64, u64)>) -> Term<'_> {
    let mut head = Vec::with_capacity(32);
    sse::open_event(&mut head, id.map(event_id));
    (
        binary_term(env, head),
        binary_term(env, sse::CLOSE_EVENT.to_vec()),
    )
        .encode(env)
}

/// The first event of a stream, which gives a client the id for its reconnection.
#[rustler::nif]
fn http_priming(env: Env<'_>, id: (u64, u64), retry_ms: Option<u64>) -> Term<'_> {
    let mut event = Vec::with_capacity(48);
    sse::write_priming(&mut event, event_id(id), retry_ms);
    binary_term(env, event)
}

/// The comment that keeps a quiet stream open.
#[rustler::nif]
fn http_keep_alive(env: Env<'_>) -> Term<'_> {
    binary_term(env, sse::KEEP_ALIVE.to_vec())
}

const fn event_id((stream, index): (u64, u64)) -> EventId {
    EventId { stream, index }
}
