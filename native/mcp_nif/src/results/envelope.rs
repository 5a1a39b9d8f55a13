//! Response envelopes.

use std::sync::OnceLock;

use mcp_core::results::envelope::{
    DEFAULT_CODE, ERROR_CODES, ERROR_TYPES, ErrorType, Finding, Level, Retry, Rules, WARNING_CODES,
    advice, code_for, error_type, is_error_code, is_request_id, schema, severity_of_code,
    type_of_code,
};
use rustler::{Atom, Encoder, Env, Error, NifResult, OwnedEnv, Term};

use crate::atoms;
use crate::dirty::DirtyPermit;
use crate::json::INLINE_BYTES;
use crate::resources::on_large_stack;
use crate::terms::{Context, EncodeError, EncodeErrorKind, TermJson, TermNode, plain};

/// Compiled once, by the first who asks.
static RULES: OnceLock<Rules<TermJson>> = OnceLock::new();

fn rules() -> NifResult<&'static Rules<TermJson>> {
    if RULES.get().is_none() {
        let compiled = on_large_stack(Rules::new).and_then(Result::ok);
        // Whoever was faster compiled the same.
        let _ = RULES.set(compiled.ok_or(Error::RaiseAtom("internal"))?);
    }
    RULES.get().ok_or(Error::RaiseAtom("internal"))
}

/// What is wrong with an envelope, given as a map of its four members: a list of findings, with
/// warnings where there is nothing worse and they are asked for; or `{:error, reason}` when it cannot
/// be JSON.
#[rustler::nif]
fn envelope_findings<'a>(env: Env<'a>, envelope: Term<'a>, warnings: bool) -> NifResult<Term<'a>> {
    findings(env, envelope, warnings, INLINE_BYTES)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn envelope_findings_dirty<'a>(
    env: Env<'a>,
    envelope: Term<'a>,
    warnings: bool,
) -> NifResult<Term<'a>> {
    match DirtyPermit::take(env) {
        Some(_permit) => findings(env, envelope, warnings, usize::MAX),
        None => Ok(atoms::busy().to_term(env)),
    }
}

fn findings<'a>(
    env: Env<'a>,
    envelope: Term<'a>,
    warnings: bool,
    budget: usize,
) -> NifResult<Term<'a>> {
    let rules = rules()?;
    let envelope = match shallow(env, envelope, &Context::whole(budget)) {
        Ok(envelope) => envelope,
        Err(error) if error.kind() == EncodeErrorKind::OverBudget => {
            return Ok(atoms::over_budget().to_term(env));
        }
        Err(error) => return Ok(env.error_tuple(error)),
    };
    let found = if !rules.is_valid(TermNode::new(envelope)) {
        // As in `schema::check`: the search holds on to the term for longer than a call can promise.
        OwnedEnv::new().run(|own| rules.errors(TermNode::new(envelope.in_env(own))))
    } else if warnings {
        advice::<TermJson>(&TermNode::new(envelope))
    } else {
        Vec::new()
    };
    let found = found.iter().map(|finding| finding_term(env, finding));
    Ok(found.collect::<NifResult<Vec<_>>>()?.encode(env))
}

/// The envelope as the validator may look at it, but for what is inside of `data`: the rules look at
/// its own keys only, and it may be large.
fn shallow<'a>(
    env: Env<'a>,
    envelope: Term<'a>,
    context: &Context,
) -> Result<Term<'a>, EncodeError> {
    match envelope.map_get("data") {
        Ok(data) if is_plain_map(data) => {
            let rest = envelope.map_remove("data").unwrap_or(envelope);
            let rest = plain(env, rest, context)?;
            Ok(rest.map_put("data", data).unwrap_or(rest))
        }
        _ => plain(env, envelope, context),
    }
}

/// An envelope's four members as a map; any other term as it is.
///
/// A struct has to be written before a schema can be asked about it, and its data may be large.
pub(crate) fn members<'a>(env: Env<'a>, term: Term<'a>) -> Term<'a> {
    let is_envelope = term
        .map_get(atoms::struct_())
        .is_ok_and(|module| atoms::envelope() == module);
    if !is_envelope {
        return term;
    }
    let fields = [
        ("success", atoms::success()),
        ("data", atoms::data()),
        ("error", atoms::error()),
        ("meta", atoms::meta()),
    ];
    let pairs: Result<Vec<(Term<'a>, Term<'a>)>, Error> = fields
        .iter()
        .map(|(name, field)| Ok((name.encode(env), term.map_get(*field)?)))
        .collect();
    pairs
        .and_then(|pairs| Term::map_from_pairs(env, &pairs))
        .unwrap_or(term)
}

fn is_plain_map(term: Term<'_>) -> bool {
    term.is_map() && term.map_get(atoms::struct_()).is_err()
}

fn finding_term<'a>(env: Env<'a>, finding: &Finding) -> NifResult<Term<'a>> {
    let level = match finding.level {
        Level::Error => atoms::error(),
        Level::Warning => atoms::warning(),
    };
    Term::map_from_pairs(
        env,
        &[
            (atoms::level(), level.encode(env)),
            (atoms::pointer(), finding.pointer.encode(env)),
            (atoms::reason(), finding.reason.encode(env)),
            (atoms::message(), finding.message.encode(env)),
        ],
    )
}

/// An error's code, type and remediation, from what is known of them.
#[rustler::nif]
fn envelope_error<'a>(env: Env<'a>, code: Option<&'a str>, kind: Option<&'a str>) -> Term<'a> {
    let given = match kind.map(|name| error_type(name).ok_or(atoms::invalid_type())) {
        Some(Err(reason)) => return env.error_tuple(reason),
        Some(Ok(kind)) => Some(kind),
        None => None,
    };
    let code = code.or(given.map(|kind| kind.code)).unwrap_or(DEFAULT_CODE);
    if !is_error_code(code) {
        return env.error_tuple(atoms::invalid_code());
    }
    let kind = given
        .or_else(|| type_of_code(code))
        .or_else(|| type_of_code(DEFAULT_CODE));
    let (name, remediation) = kind.map_or(("", ""), |kind| (kind.name, kind.remediation));
    (atoms::ok(), (code, name, remediation)).encode(env)
}

/// A type's HTTP status and retry advice; `nil` for one that there is not.
#[rustler::nif]
fn envelope_error_type(name: &str) -> Option<(u16, Atom)> {
    error_type(name).map(|kind| (kind.status, retry(kind)))
}

fn retry(kind: &ErrorType) -> Atom {
    match kind.retry {
        Retry::No => atoms::no(),
        Retry::Maybe => atoms::maybe(),
        Retry::AfterDelay => atoms::after_delay(),
        Retry::Backoff => atoms::backoff(),
    }
}

/// The code that reports a situation.
#[rustler::nif]
fn envelope_code_for(situation: &str) -> Option<&'static str> {
    code_for(situation)
}

/// A warning code's severity.
#[rustler::nif]
fn envelope_severity(code: &str) -> Option<&'static str> {
    severity_of_code(code)
}

/// Whether an id can be an envelope's.
#[rustler::nif]
fn envelope_request_id(id: &str) -> bool {
    is_request_id(id)
}

/// The codes with their types, the types, and the warning codes with their severities.
#[rustler::nif]
fn envelope_tables(env: Env<'_>) -> Term<'_> {
    let types: Vec<&str> = ERROR_TYPES.iter().map(|kind| kind.name).collect();
    (ERROR_CODES.to_vec(), types, WARNING_CODES.to_vec()).encode(env)
}

/// The JSON Schema of an envelope, as text.
#[rustler::nif]
fn envelope_schema() -> String {
    schema().to_string()
}
