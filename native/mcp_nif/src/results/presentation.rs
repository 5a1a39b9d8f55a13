//! The texts of presentations.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::results::presentation::{markdown, markers};
use rustler::{Atom, Encoder, Env, Error, NifResult, Term};

use crate::atoms;
use crate::dirty::DirtyPermit;
use crate::resources::{INLINE_BYTES, report_work};

/// How often each marker counts, or `:over_budget`.
#[rustler::nif]
fn presentation_count<'a>(env: Env<'a>, text: &str, wanted: Vec<&str>) -> Term<'a> {
    if text.len() > INLINE_BYTES {
        return atoms::over_budget().to_term(env);
    }
    report_work(env, text.len());
    markers::count(text, &wanted).encode(env)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn presentation_count_dirty<'a>(env: Env<'a>, text: &str, wanted: Vec<&str>) -> Term<'a> {
    match DirtyPermit::take(env) {
        Some(_permit) => markers::count(text, &wanted).encode(env),
        None => atoms::busy().to_term(env),
    }
}

/// What is done to a text; a code block has a language.
fn transform(form: Atom, text: &str, language: &str) -> NifResult<String> {
    let make = match form {
        form if form == atoms::code_block() => return Ok(markdown::code_block(text, language)),
        form if form == atoms::line() => markdown::line,
        form if form == atoms::cell() => markdown::cell,
        form if form == atoms::code_span() => markdown::code_span,
        form if form == atoms::block() => markdown::block,
        _ => return Err(Error::BadArg),
    };
    Ok(make(text))
}

/// The text in another form, or `:over_budget`.
#[rustler::nif]
fn presentation_text<'a>(
    env: Env<'a>,
    form: Atom,
    text: &str,
    language: &str,
) -> NifResult<Term<'a>> {
    if text.len() > INLINE_BYTES {
        return Ok(atoms::over_budget().to_term(env));
    }
    report_work(env, text.len());
    Ok(transform(form, text, language)?.encode(env))
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
