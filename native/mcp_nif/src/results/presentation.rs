//! The texts of presentations.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::results::presentation::{markdown, markers};
use rustler::{Atom, Encoder, Env, Error, NifResult, Term};

use crate::atoms;
use crate::dirty::{Effort, twins};
use crate::resources::report_work;

twins!("presentation_count": presentation_count, presentation_count_dirty(
    text: &'a str,
    wanted: Vec<&'a str>,
) => count(text, wanted));

/// The count of each marker, or `:over_budget`.
fn count<'a>(env: Env<'a>, text: &str, wanted: Vec<&str>, effort: Effort) -> NifResult<Term<'a>> {
    within(env, text, effort, || {
        Ok(markers::count(text, &wanted).encode(env))
    })
}

/// The result of the work, if the text is short enough for the effort.
fn within<'a>(
    env: Env<'a>,
    text: &str,
    effort: Effort,
    make: impl FnOnce() -> NifResult<Term<'a>>,
) -> NifResult<Term<'a>> {
    if text.len() > effort.budget() {
        return Ok(atoms::over_budget().to_term(env));
    }
    report_work(env, text.len());
    make()
}

/// Converts a text to a form; a code block has a language.
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

twins!("presentation_text": presentation_text, presentation_text_dirty(
    form: Atom,
    text: &'a str,
    language: &'a str,
) => reformed(form, text, language));

/// The text in another form, or `:over_budget`.
fn reformed<'a>(
    env: Env<'a>,
    form: Atom,
    text: &str,
    language: &str,
    effort: Effort,
) -> NifResult<Term<'a>> {
    within(env, text, effort, || {
        Ok(transform(form, text, language)?.encode(env))
    })
}
