//! Requests for input: results that ask for input, and requests to a client.

use mcp_core::catalog::Extras as ResultExtras;
use mcp_core::json::write_string;
use mcp_core::protocol::{
    InputKind, InputNeed, InputUse, Refusal, may_include_context, open_request, open_result_head,
    required_capabilities,
};
use mcp_core::revision::Revision;
use rustler::{Encoder, Env, Error, MapIterator, NifResult, ResourceArc, Term};
use serde_json::{Map, Value};

use super::{CatalogResource, TermId, revision};
use crate::atoms;
use crate::resources::binary_term;
use crate::terms::{Context, EncodeError, Extras, write_shape};

const INCLUDE_CONTEXT: &str = "includeContext";

/// A method and its parameters.
type InputTerm<'a> = (&'a str, Term<'a>);

fn kind_of(input: &InputTerm<'_>) -> NifResult<InputKind> {
    InputKind::of_method(input.0).ok_or(Error::BadArg)
}

/// A parameter that is neither absent nor `nil`.
fn param<'a>(params: Term<'a>, name: &str) -> Option<Term<'a>> {
    let nil = atoms::nil().to_term(params.get_env());
    params.map_get(name).ok().filter(|value| *value != nil)
}

/// Whether the parameter is one of these strings.
fn is_one_of(params: Term<'_>, name: &str, strings: &[&str]) -> bool {
    param(params, name)
        .and_then(text)
        .is_some_and(|value| strings.contains(&value.as_str()))
}

fn need_of(input: &InputTerm<'_>, revision: Revision) -> NifResult<InputNeed> {
    let uses = InputUse {
        by_url: is_one_of(input.1, "mode", &["url"]),
        with_tools: ["tools", "toolChoice"]
            .iter()
            .any(|name| param(input.1, name).is_some()),
    };
    Ok(InputNeed::of(kind_of(input)?, uses, revision))
}

/// A capability may have parts; the members of a part are settings.
const LEVELS_OF_CAPABILITIES: usize = 2;

/// The objects in a client's capabilities. Everything else is null, because the rules ask only for
/// objects, and clients may send numbers that [`Value`] cannot hold.
fn outline(declared: Term<'_>, levels: usize) -> Value {
    let Some(members) = MapIterator::new(declared) else {
        return Value::Null;
    };
    let Some(levels) = levels.checked_sub(1) else {
        return Value::Object(Map::new());
    };
    let member = |(key, value): (Term<'_>, Term<'_>)| Some((text(key)?, outline(value, levels)));
    Value::Object(members.filter_map(member).collect())
}

/// A string, or an atom in its place: a value that an author wrote, or a key of a test.
fn text(term: Term<'_>) -> Option<String> {
    term.decode().or_else(|_| term.atom_to_string()).ok()
}

fn declared(capabilities: Term<'_>) -> Value {
    outline(capabilities, LEVELS_OF_CAPABILITIES)
}

/// The needs of these inputs that a client does not meet.
fn unmet(
    capabilities: Term<'_>,
    inputs: &[InputTerm<'_>],
    revision: Revision,
) -> NifResult<Vec<InputNeed>> {
    let declared = declared(capabilities);
    let mut unmet = Vec::new();
    for input in inputs {
        let need = need_of(input, revision)?;
        if !need.is_met(&declared) {
            unmet.push(need);
        }
    }
    Ok(unmet)
}

/// Whether a client may be asked for the input of this capability.
#[rustler::nif]
fn offers_input(revision_name: &str, capabilities: Term<'_>, capability: &str) -> NifResult<bool> {
    let kind = InputKind::of_capability(capability).ok_or(Error::BadArg)?;
    Ok(mcp_core::protocol::offers_input(
        kind,
        &declared(capabilities),
        revision(revision_name)?,
    ))
}

/// The names of the missing capabilities.
#[rustler::nif]
fn missing_capabilities<'a>(
    revision_name: &str,
    capabilities: Term<'a>,
    inputs: Vec<InputTerm<'a>>,
) -> NifResult<Vec<String>> {
    let unmet = unmet(capabilities, &inputs, revision(revision_name)?)?;
    Ok(unmet.into_iter().map(InputNeed::name).collect())
}

/// The parameters without those that the client should not get.
#[rustler::nif]
fn supported_params<'a>(
    revision_name: &str,
    capabilities: Term<'a>,
    input: InputTerm<'a>,
) -> NifResult<Term<'a>> {
    let params = input.1;
    let of_servers = kind_of(&input)? == InputKind::Sampling
        && is_one_of(params, INCLUDE_CONTEXT, &["thisServer", "allServers"]);
    if of_servers && !may_include_context(&declared(capabilities), revision(revision_name)?) {
        return params.map_remove(INCLUDE_CONTEXT);
    }
    Ok(params)
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
    let unmet = unmet(capabilities, &asked, Revision::NEWEST)?;
    if !unmet.is_empty() {
        let missing = required_capabilities(&unmet, &declared(capabilities));
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
