//! Presentations.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::results::presentation::extraction::{Finding, NotFound, reason};
use mcp_core::results::presentation::format::Format;
use mcp_core::results::presentation::kind::{Kind, Verdict, judge};
use mcp_core::results::presentation::markers::Contract;
use mcp_core::results::presentation::tool_error::{Classified, Code};
use mcp_core::results::presentation::{
    MAX_OUTPUT_BYTES, markdown, markers, needs_input, provenance, search, summary, tool_error,
};
use rustler::{Atom, Encoder, Env, Error, NifResult, Term};

use crate::atoms;
use crate::dirty::DirtyPermit;
use crate::resources::report_work;

/// `{name, markdown?, json?}`; `nil` for a format that there is not.
#[rustler::nif]
fn presentation_format(given: Option<&str>) -> Option<(&'static str, bool, bool)> {
    let format = Format::resolve(given).ok()?;
    Some((format.name(), format.has_markdown(), format.has_json()))
}

/// The name and the version of a kind.
#[rustler::nif]
fn presentation_kind(text: &str) -> Option<(&str, u32)> {
    Kind::parse(text).ok().map(|kind| (kind.name, kind.version))
}

/// `:known`, `:unknown`, or the version that is known.
#[rustler::nif]
fn presentation_judge<'a>(env: Env<'a>, kind: &str, known: Vec<&'a str>) -> Term<'a> {
    match judge(kind, known) {
        Verdict::Known => atoms::known().to_term(env),
        Verdict::OtherVersion(other) => other.encode(env),
        Verdict::Unknown => atoms::unknown().to_term(env),
    }
}

/// A marker; `nil` where name or version cannot be one.
#[rustler::nif]
fn presentation_marker(name: &str, version: &str) -> Option<String> {
    (markers::is_name(name) && markers::is_name(version)).then(|| markers::marker(name, version))
}

/// How often each marker counts.
#[rustler::nif]
fn presentation_count(env: Env<'_>, text: &str, wanted: Vec<&str>) -> Vec<usize> {
    let counts = markers::count(text, &wanted);
    report_work(env, text.len());
    counts
}

#[rustler::nif(schedule = "DirtyCpu")]
fn presentation_count_dirty<'a>(env: Env<'a>, text: &str, wanted: Vec<&str>) -> Term<'a> {
    match DirtyPermit::take(env) {
        Some(_permit) => markers::count(text, &wanted).encode(env),
        None => atoms::busy().to_term(env),
    }
}

/// What a text breaks of its contract, in words; `nil` for nothing.
#[rustler::nif]
fn presentation_mismatch(index: usize, cards: usize, rendered: usize) -> Option<String> {
    let contract = Contract {
        index,
        cards,
        rendered,
    };
    contract.check().err().map(|mismatch| mismatch.to_string())
}

/// What is done to a text; a code block has a language.
fn transform(form: Atom, text: &str, language: &str) -> NifResult<String> {
    let make = match form {
        form if form == atoms::code_block() => return Ok(markdown::code_block(text, language)),
        form if form == atoms::line() => markdown::line,
        form if form == atoms::cell() => markdown::cell,
        form if form == atoms::code_span() => markdown::code_span,
        form if form == atoms::block() => markdown::block,
        form if form == atoms::summary() => summary::summarize,
        _ => return Err(Error::BadArg),
    };
    Ok(make(text))
}

#[rustler::nif]
fn presentation_text(env: Env<'_>, form: Atom, text: &str, language: &str) -> NifResult<String> {
    let transformed = transform(form, text, language);
    report_work(env, text.len());
    transformed
}

#[rustler::nif(schedule = "DirtyCpu")]
fn presentation_text_dirty<'a>(
    env: Env<'a>,
    form: Atom,
    text: &str,
    language: &str,
) -> NifResult<Term<'a>> {
    match DirtyPermit::take(env) {
        Some(_permit) => Ok(transform(form, text, language)?.encode(env)),
        None => Ok(atoms::busy().to_term(env)),
    }
}

/// A row of a table.
#[rustler::nif]
fn presentation_row(env: Env<'_>, cells: Vec<&str>) -> String {
    let row = markdown::row(cells);
    report_work(env, row.len());
    row
}

/// Bytes of a result, matches of a search, cards and the most cards, unless the server says otherwise.
#[rustler::nif]
fn presentation_limits() -> (usize, usize, usize, usize) {
    (
        MAX_OUTPUT_BYTES,
        search::TOO_BROAD,
        search::CARDS,
        search::MAX_CARDS,
    )
}

#[rustler::nif]
fn presentation_empty_query(query: Option<&str>) -> bool {
    search::is_empty_query(query)
}

#[rustler::nif]
fn presentation_too_broad(matches: usize, is_filtered: bool, threshold: usize) -> bool {
    search::is_too_broad(matches, is_filtered, threshold)
}

/// How many cards a search renders.
#[rustler::nif]
fn presentation_cards(listed: usize, limit: usize, format: &str) -> NifResult<usize> {
    let format = Format::resolve(Some(format)).map_err(|_| Error::BadArg)?;
    Ok(search::rendered_cards(listed, limit, format))
}

/// The places of the options, in the order they are offered in.
#[rustler::nif]
fn presentation_grouped(fields: Vec<&str>, options: Vec<Option<&str>>) -> Vec<usize> {
    needs_input::grouped(&fields, &options)
}

/// The kinds that every server has, with their schemas as JSON text.
#[rustler::nif]
fn presentation_schemas() -> Vec<(&'static str, &'static str)> {
    vec![
        (needs_input::KIND, needs_input::SCHEMA),
        (tool_error::KIND, tool_error::SCHEMA),
    ]
}

/// The codes of tool errors.
#[rustler::nif]
fn presentation_codes() -> Vec<&'static str> {
    Code::ALL.map(Code::name).to_vec()
}

/// `{code, retryable}` of an HTTP status.
#[rustler::nif]
fn presentation_of_status(status: u16) -> (&'static str, bool) {
    pair(tool_error::of_status(status))
}

/// `{code, retryable}` of a failure with a name.
#[rustler::nif]
fn presentation_of_reason(name: &str) -> (&'static str, bool) {
    pair(tool_error::of_reason(name))
}

const fn pair(classified: Classified) -> (&'static str, bool) {
    (classified.code.name(), classified.retryable)
}

/// Whether a member may be told as where a result is from.
#[rustler::nif]
fn presentation_is_private(name: &str, value: &str) -> bool {
    provenance::is_secret_name(name)
        || provenance::names_local_path(value)
        || provenance::holds_secret(value)
}

/// Why no data was found: `{reason, kind, message}`. A finding is `nil`, `{:unknown_kind, kind}` or
/// `{:mismatch, kind}`.
#[rustler::nif]
fn presentation_not_found<'a>(
    env: Env<'a>,
    findings: Vec<Option<(Atom, &'a str)>>,
) -> NifResult<Term<'a>> {
    let findings: Vec<Finding<'a>> = findings
        .into_iter()
        .map(finding)
        .collect::<NifResult<_>>()?;
    let reason = reason(findings);
    let (name, kind) = match reason {
        NotFound::UnknownKind(kind) => (atoms::unknown_kind(), Some(kind)),
        NotFound::Mismatch(kind) => (atoms::mismatch(), Some(kind)),
        _ => (atoms::not_found(), None),
    };
    Ok((name, kind, reason.to_string()).encode(env))
}

fn finding(found: Option<(Atom, &str)>) -> NifResult<Finding<'_>> {
    match found {
        None => Ok(Finding::Other),
        Some((name, kind)) if name == atoms::unknown_kind() => Ok(Finding::UnknownKind(kind)),
        Some((name, kind)) if name == atoms::mismatch() => Ok(Finding::Mismatch(kind)),
        Some(_) => Err(Error::BadArg),
    }
}
