//! The native part of `McpServer.JSON`: encodes and decodes terms.

use mcp_core::json::{JsonError, JsonErrorKind, Limits};
use mcp_core::revision::Revision;
use rustler::{Atom, Binary, Encoder, Env, NifResult, Term};

use crate::atoms;
use crate::dirty::{Effort, on_dirty, twins};
use crate::pretty::pretty;
use crate::resources::{buffer, report_work};
use crate::terms::{
    Context, finished, is_known_struct, plan_struct, read_term_with, write_in_order,
};

/// Whether to indent; the peer's revision, or `None` to write every field; the order of keys.
type EncodeOptions<'a> = (bool, Option<&'a str>, Term<'a>);

/// `max_bytes`, `max_depth`, `max_values`, `max_digits`; whether the last of equal keys wins.
type DecodeOptions = (usize, usize, usize, usize, bool);

twins!("json_encode": json_encode, json_encode_dirty(
    term: Term<'a>,
    options: EncodeOptions<'a>,
) => encode(term, options));

fn encode<'a>(
    env: Env<'a>,
    term: Term<'a>,
    options: EncodeOptions<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let budget = effort.budget();
    let (is_pretty, revision, order) = options;
    let context = match revision {
        None => Context::whole(budget),
        Some(name) => Context::of(Revision::parse(name).ok_or(rustler::Error::BadArg)?, budget),
    };
    let mut text = buffer(budget);
    let written = write_in_order(&mut text, term, order, &context);
    if written.is_ok() && is_pretty {
        text = pretty(&text);
    }
    report_work(env, text.len());
    Ok(finished(env, written, text))
}

#[rustler::nif]
fn json_decode<'a>(
    env: Env<'a>,
    text: Binary<'a>,
    options: DecodeOptions,
    views: bool,
) -> Term<'a> {
    report_work(env, text.len());
    decode(env, text, options, views)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn json_decode_dirty<'a>(
    env: Env<'a>,
    text: Binary<'a>,
    options: DecodeOptions,
    views: bool,
) -> NifResult<Term<'a>> {
    on_dirty(env, || Ok(decode(env, text, options, views)))
}

/// `views` says whether large strings may refer to the text instead of a copy.
fn decode<'a>(env: Env<'a>, text: Binary<'a>, options: DecodeOptions, views: bool) -> Term<'a> {
    let (max_bytes, max_depth, max_values, max_digits, keeps_last) = options;
    let limits = Limits {
        max_bytes,
        max_depth,
        max_values,
        max_digits,
    };
    let source = views.then_some(text);
    match read_term_with(env, text.as_slice(), source, &limits, keeps_last) {
        Ok(term) => (atoms::ok(), term).encode(env),
        Err(JsonError { kind, offset }) => env.error_tuple((kind_atom(kind), offset)),
    }
}

/// Registers the fields that the structs of a module send.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn json_plan_struct(env: Env<'_>, module: Atom, fields: Vec<Atom>) -> Atom {
    plan_struct(env, module, &fields);
    atoms::ok()
}

/// Whether the library has a table that writes the structs of a module.
#[rustler::nif]
fn json_knows_struct(module: Term<'_>) -> bool {
    is_known_struct(module)
}

fn kind_atom(kind: JsonErrorKind) -> Atom {
    match kind {
        JsonErrorKind::UnexpectedEnd => atoms::unexpected_end(),
        JsonErrorKind::TrailingBytes => atoms::trailing_bytes(),
        JsonErrorKind::InvalidUtf8 => atoms::invalid_utf8(),
        JsonErrorKind::ControlCharacter => atoms::control_character(),
        JsonErrorKind::InvalidEscape => atoms::invalid_escape(),
        JsonErrorKind::LoneSurrogate => atoms::lone_surrogate(),
        JsonErrorKind::InvalidNumber => atoms::invalid_number(),
        JsonErrorKind::NumberOutOfRange => atoms::number_out_of_range(),
        JsonErrorKind::TooManyDigits => atoms::too_many_digits(),
        JsonErrorKind::TooLarge => atoms::too_large(),
        JsonErrorKind::TooDeep => atoms::too_deep(),
        JsonErrorKind::TooManyValues => atoms::too_many_values(),
        JsonErrorKind::DuplicateKey => atoms::duplicate_key(),
        // The enum may grow: a new kind is a syntax error until it has a name here.
        _ => atoms::syntax(),
    }
}
