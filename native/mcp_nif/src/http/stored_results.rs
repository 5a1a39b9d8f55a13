//! The endpoints of dual responses: converts terms for the core's rules.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::http::Challenge;
use mcp_core::results::dual::{
    Action, CSV_HEADERS, Capability, Endpoint, EndpointOptions, Form, HEADERS, JSON_HEADERS,
    NDJSON_HEADERS, Order, Refusal, Selection, Wanted, check_head, refuse, select,
};
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use super::answers::challenge_of;
use super::rules::{answer_terms, refused, with_head};
use crate::atoms;
use crate::options;
use crate::resources::report_work;

/// Checked options of an endpoint.
pub(crate) struct EndpointResource(pub(crate) Endpoint);

#[rustler::resource_impl]
impl rustler::Resource for EndpointResource {}

#[rustler::nif]
fn dual_endpoint<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    let endpoint = endpoint_options(options)
        .and_then(|options| Endpoint::new(options).map_err(|error| error.to_string()));
    match endpoint {
        Ok(endpoint) => (atoms::ok(), ResourceArc::new(EndpointResource(endpoint))).encode(env),
        Err(error) => env.error_tuple(error),
    }
}

/// Reads a map of options; absent options have the core's defaults.
fn endpoint_options(given: Term<'_>) -> Result<EndpointOptions, String> {
    let mut read = EndpointOptions::default();
    options::read!(given, read => [
        prefix, allowed_hosts, allowed_origins, max_body_bytes, default_limit, max_limit,
    ])?;
    Ok(read)
}

/// `{:ok, wanted, cors_headers}`, or `{:answer, status, headers, body}`.
#[rustler::nif]
fn dual_check_head<'a>(
    env: Env<'a>,
    endpoint: ResourceArc<EndpointResource>,
    method: Binary<'a>,
    target: Binary<'a>,
    authority: Option<Binary<'a>>,
    headers: Vec<(Binary<'a>, Binary<'a>)>,
) -> Term<'a> {
    let given = (method, target, authority, headers);
    match with_head(&given, |head| check_head(&endpoint.0, head)) {
        Ok(wanted) => (atoms::ok(), wanted_term(env, &wanted), &wanted.cors_headers).encode(env),
        Err(answer) => refused(env, answer),
    }
}

/// `{:ok, selection}`, or `{:answer, status, headers, body}`.
#[rustler::nif]
fn dual_select<'a>(
    env: Env<'a>,
    endpoint: ResourceArc<EndpointResource>,
    form: Atom,
    body: Binary<'a>,
) -> NifResult<Term<'a>> {
    let forms = [Form::Page, Form::Ndjson, Form::Csv];
    let form = forms.into_iter().find(|known| form_atom(*known) == form);
    let selected = select(&endpoint.0, form.ok_or(Error::BadArg)?, body.as_slice());
    report_work(env, body.len());
    Ok(match selected {
        Ok(selection) => (atoms::ok(), selection_term(env, &selection)).encode(env),
        Err(answer) => refused(env, answer),
    })
}

/// `{action, id, form, capability}`
pub(crate) fn wanted_term<'a>(env: Env<'a>, wanted: &Wanted) -> Term<'a> {
    let capability = match &wanted.capability {
        Capability::None => atoms::nil().encode(env),
        Capability::Malformed => atoms::malformed().encode(env),
        Capability::Signed {
            expires_at,
            signature,
        } => (*expires_at, signature).encode(env),
    };
    let (action, form) = (action_atom(wanted.action), form_atom(wanted.form));
    (action, &wanted.id, form, capability).encode(env)
}

/// `{offset, limit, [{field, order}]}`
pub(crate) fn selection_term<'a>(env: Env<'a>, selection: &Selection) -> Term<'a> {
    let keys: Vec<(&str, Atom)> = selection
        .sort
        .iter()
        .map(|key| (key.field.as_str(), order_atom(key.order)))
        .collect();
    (selection.offset, selection.limit, keys).encode(env)
}

fn action_atom(action: Action) -> Atom {
    match action {
        Action::Metadata => atoms::metadata(),
        Action::Fetch => atoms::fetch(),
        Action::Pin => atoms::pin(),
        Action::Delete => atoms::delete(),
    }
}

fn form_atom(form: Form) -> Atom {
    match form {
        Form::Page => atoms::page(),
        Form::Ndjson => atoms::ndjson(),
        Form::Csv => atoms::csv(),
    }
}

fn order_atom(order: Order) -> Atom {
    match order {
        Order::Asc => atoms::asc(),
        Order::Desc => atoms::desc(),
    }
}

/// The refusal of a kind as `{status, headers, body}`.
#[rustler::nif]
fn dual_refuse<'a>(env: Env<'a>, kind: Atom, details: Term<'a>) -> NifResult<Term<'a>> {
    let undetailed = [
        (atoms::not_found(), Refusal::NotFound),
        (atoms::forbidden(), Refusal::Forbidden),
        (atoms::request_timeout(), Refusal::RequestTimeout),
        (atoms::malformed(), Refusal::Malformed),
        (atoms::internal_error(), Refusal::Internal),
        (atoms::timeout(), Refusal::Timeout),
    ];
    if let Some((_, refusal)) = undetailed.iter().find(|(name, _)| *name == kind) {
        return Ok(answer_terms(env, refuse(refusal)).encode(env));
    }
    let answer = if kind == atoms::unauthorized() {
        challenge_of(details, |challenge: &Challenge<'_>| {
            refuse(&Refusal::Unauthorized(*challenge))
        })?
    } else if kind == atoms::query_failed() {
        refuse(&Refusal::QueryFailed(details.decode()?))
    } else if kind == atoms::invalid_sort() {
        refuse(&Refusal::InvalidSort(details.decode()?))
    } else if kind == atoms::payload_too_large() {
        refuse(&Refusal::PayloadTooLarge(details.decode()?))
    } else if kind == atoms::storage_unavailable() {
        refuse(&Refusal::StorageUnavailable(details.decode()?))
    } else if kind == atoms::overloaded() {
        refuse(&Refusal::Overloaded(details.decode()?))
    } else {
        return Err(Error::BadArg);
    };
    Ok(answer_terms(env, answer).encode(env))
}

/// The headers of a response in a form, or of a response without a body.
#[rustler::nif]
fn dual_headers(env: Env<'_>, form: Atom) -> Term<'_> {
    if form == atoms::page() {
        JSON_HEADERS.to_vec().encode(env)
    } else if form == atoms::ndjson() {
        NDJSON_HEADERS.to_vec().encode(env)
    } else if form == atoms::csv() {
        CSV_HEADERS.to_vec().encode(env)
    } else {
        HEADERS.to_vec().encode(env)
    }
}
