//! Requests for input: results that ask for input, and requests to a client.

use mcp_core::catalog::Extras as ResultExtras;
use mcp_core::json::write_string;
use mcp_core::protocol::{InputKind, Refusal, open_request, open_result_head};
use mcp_core::revision::Revision;
use rustler::{Encoder, Env, Error, NifResult, ResourceArc, Term};
use serde_json::{Map, Value};

use super::{CatalogResource, TermId, revision};
use crate::atoms;
use crate::resources::binary_term;
use crate::terms::{Context, EncodeError, Extras, write_shape, write_value};

/// A method and its parameters.
type InputTerm<'a> = (&'a str, Term<'a>);

fn kind_of(input: &InputTerm<'_>) -> NifResult<InputKind> {
    InputKind::of_method(input.0).ok_or(Error::BadArg)
}

/// Whether the user opens a page instead of a form.
fn is_by_url(params: Term<'_>) -> bool {
    params
        .map_get("mode")
        .is_ok_and(|mode| mode.decode::<&str>().is_ok_and(|mode| mode == "url"))
}

/// The capabilities that a client lacks for these inputs.
fn missing(capabilities: Term<'_>, inputs: &[InputTerm<'_>]) -> NifResult<Map<String, Value>> {
    let context = Context::of(Revision::NEWEST, usize::MAX);
    let mut text = Vec::new();
    write_value(&mut text, capabilities, &context).map_err(|_| Error::BadArg)?;
    let declared: Value = serde_json::from_slice(&text).map_err(|_| Error::BadArg)?;
    let mut missing = Map::new();
    for input in inputs {
        let (kind, by_url) = (kind_of(input)?, is_by_url(input.1));
        if !kind.is_supported(by_url, &declared) {
            let (capability, modes) = kind.required(by_url);
            missing.insert(capability.to_owned(), modes);
        }
    }
    Ok(missing)
}

/// The names of the missing capabilities.
#[rustler::nif]
fn missing_capabilities<'a>(
    capabilities: Term<'a>,
    inputs: Vec<InputTerm<'a>>,
) -> NifResult<Vec<String>> {
    Ok(missing(capabilities, &inputs)?
        .into_iter()
        .map(|(name, _)| name)
        .collect())
}

/// An `input_required` result (2026-07-28), or an error that names the missing capabilities.
#[rustler::nif]
fn encode_input_required<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    id: TermId,
    capabilities: Term<'a>,
    inputs: Vec<(&'a str, InputTerm<'a>)>,
    state: Option<&'a str>,
) -> NifResult<Term<'a>> {
    let asked: Vec<InputTerm<'a>> = inputs.iter().map(|(_, input)| *input).collect();
    let missing = missing(capabilities, &asked)?;
    if !missing.is_empty() {
        let answer = Refusal::missing_capabilities(&missing).answer(Some(&id.0), Revision::NEWEST);
        let reason = (atoms::missing_capability(), binary_term(env, answer.body));
        return Ok((atoms::error(), reason).encode(env));
    }
    let extras = ResultExtras {
        fields: b"\"resultType\":\"input_required\"".to_vec(),
        ..catalog.0.extras(Revision::NEWEST).clone()
    };
    let mut out = Vec::with_capacity(512);
    open_result_head(&mut out, &id.0);
    extras.open_result(&mut out);
    out.extend_from_slice(b"\"inputRequests\":{");
    for (place, (key, input)) in inputs.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write_string(&mut out, key);
        out.push(b':');
        if let Err(error) = write_input(&mut out, input)? {
            return Ok((atoms::error(), error).encode(env));
        }
    }
    out.push(b'}');
    if let Some(state) = state {
        out.extend_from_slice(b",\"requestState\":");
        write_string(&mut out, state);
    }
    extras.close_result(&mut out);
    Ok((atoms::ok(), binary_term(env, out)).encode(env))
}

/// `{"method":…,"params":…}`
fn write_input(out: &mut Vec<u8>, input: &InputTerm<'_>) -> NifResult<Result<(), EncodeError>> {
    let kind = kind_of(input)?;
    out.extend_from_slice(b"{\"method\":");
    write_string(out, kind.method());
    out.extend_from_slice(b",\"params\":");
    let written = write_params(out, kind, input.1, Revision::NEWEST);
    out.push(b'}');
    Ok(written)
}

fn write_params(
    out: &mut Vec<u8>,
    kind: InputKind,
    params: Term<'_>,
    revision: Revision,
) -> Result<(), EncodeError> {
    let context = Context::of(revision, usize::MAX);
    write_shape(out, kind.shape(), params, &context, &Extras::default())
}

/// A request to the client (session era).
#[rustler::nif]
fn encode_request<'a>(
    env: Env<'a>,
    revision_name: &str,
    id: TermId,
    input: InputTerm<'a>,
) -> NifResult<Term<'a>> {
    let kind = kind_of(&input)?;
    let revision = revision(revision_name)?;
    if revision < kind.since() {
        let reason = (
            atoms::unsupported(),
            Vec::<Term<'a>>::new(),
            "the session's revision has no such request",
        );
        return Ok((atoms::error(), reason).encode(env));
    }
    let mut out = Vec::with_capacity(256);
    open_request(&mut out, &id.0, kind.method());
    if let Err(error) = write_params(&mut out, kind, input.1, revision) {
        return Ok((atoms::error(), error).encode(env));
    }
    out.push(b'}');
    Ok((atoms::ok(), binary_term(env, out)).encode(env))
}
