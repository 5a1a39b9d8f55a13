//! A message's era, and the first checks of each era.

use jsonschema::json::Json;

use super::admission::{Admission, Admitted, EMPTY_RESULT, admit_method, prebuilt};
use super::answered::Answered;
use super::capabilities::require_capabilities;
use super::context::{Context, SessionContext};
use super::header_agreement;
use super::initialize::open_session;
use super::limits::MessageLimits;
use super::meta;
use super::method::Method;
use super::refusal::Refusal;
use super::request::Work;
use crate::catalog::Offer;
use crate::json::View;
use crate::jsonrpc::Id;
use crate::revision::{Era, Revision};

/// The admission, and the revision to use for a refusal.
pub(super) fn admit_request<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
    context: Context<'_>,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> (Revision, Admitted<'c, 'a>) {
    let sized = meta::check_size(meta::of(params), "_meta", limits);
    let stateless = context.is_stateless()
        || meta::claims_stateless(params)
        || (context.session.is_none() && Method::is_stateless_only(method));
    if stateless {
        return (
            Revision::NEWEST,
            sized.and_then(|()| admit_stateless(catalog, context, id, method, params, limits)),
        );
    }
    let revision = context
        .session
        .map_or(Revision::NEWEST_SESSION, |session| session.revision);
    let admitted =
        context
            .check_session_version()
            .and(sized)
            .and_then(|()| match context.session {
                Some(session) => admit_in_session(catalog, session, id, method, params, limits),
                None => admit_before_session(catalog, context, id, method, params, limits),
            });
    (revision, admitted)
}

fn admit_stateless<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
    context: Context<'_>,
    id: &Id,
    method_name: &str,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Admitted<'c, 'a> {
    let version =
        meta::version(params).map_err(|refusal| context.future_version().unwrap_or(refusal))?;
    let client = meta::client(params)?;
    if let Some(head) = context.http {
        header_agreement::check_version(&head.mirrored, &version)?;
    }
    let revision = Revision::parse(&version)
        .filter(|revision| revision.era() == Era::Stateless)
        .ok_or_else(|| Refusal::unsupported_version(&version, &Revision::STATELESS))?;
    if let Some(head) = context.http {
        header_agreement::check_target(&head.mirrored, method_name, params)?;
    }
    let method = Method::find(method_name, revision).ok_or_else(Refusal::method_not_found)?;
    let mut admission = admit_method(catalog, revision, id, method, params, Some(client), limits)?;
    if let Admission::Request(request) = &mut admission {
        if let Some(head) = context.http {
            header_agreement::check_parameters(&head.mirrored, catalog, &request.work, params)?;
        }
        match (
            require_capabilities(catalog, &request.work, params),
            &request.work,
        ) {
            (Err(refusal), Work::Tool { .. }) => {
                request.unmet = Some(refusal.answer(Some(id), revision));
            }
            (required, _) => required?,
        }
        require_stream(context, &request.work)?;
    }
    Ok(admission)
}

/// Refuses a request for a stream if the client does not accept one.
fn require_stream(context: Context<'_>, work: &Work<'_>) -> Result<(), Refusal> {
    match (context.http, work) {
        (Some(head), Work::Listen { .. }) if !head.accepts_events => Err(Refusal::needs_stream()),
        _ => Ok(()),
    }
}

fn admit_in_session<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
    session: SessionContext,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Admitted<'c, 'a> {
    let method = Method::find(method, session.revision).ok_or_else(Refusal::method_not_found)?;
    if method == Method::Initialize {
        return Err(Refusal::invalid_request(
            "the session is already initialized",
        ));
    }
    admit_method(catalog, session.revision, id, method, params, None, limits)
}

fn admit_before_session<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
    context: Context<'_>,
    id: &Id,
    method: &str,
    params: Option<View<'_, 'a>>,
    limits: &MessageLimits,
) -> Admitted<'c, 'a> {
    match Method::find(method, Revision::NEWEST_SESSION) {
        Some(Method::Initialize) => open_session(catalog.all(), id, params, limits)
            .map(|opening| Admission::Open(Box::new(opening))),
        Some(Method::Ping) => Ok(prebuilt(Answered::Ping, id, EMPTY_RESULT)),
        _ if context.http.is_some() => Err(Refusal::session_missing()),
        Some(_) => Err(Refusal::invalid_request(
            "initialize first, or send _meta of 2026-07-28",
        )),
        None => Err(Refusal::method_not_found()),
    }
}

/// Over HTTP a notification must belong to a session or to the stateless era.
pub(super) fn check_notification(
    context: Context<'_>,
    params: Option<View<'_, '_>>,
) -> Result<(), Refusal> {
    context.check_session_version()?;
    if context.is_sessionless() && !context.is_stateless() && !meta::claims_stateless(params) {
        return Err(Refusal::session_missing());
    }
    Ok(())
}

/// Over HTTP the server sends requests only within a session, so a response outside one is refused.
pub(super) fn check_response(context: Context<'_>) -> Result<(), Refusal> {
    context.check_session_version()?;
    if context.is_sessionless() {
        return Err(Refusal::invalid_request("nothing was asked of this client"));
    }
    Ok(())
}
