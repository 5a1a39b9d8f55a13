//! The calls of `McpServer.Lint`, `McpServer.Breaking` and `McpServer.Schema.Relation`. Each
//! compiles schemas on a thread with a large stack, while a dirty scheduler waits.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::schema::{SchemaError, SchemaLimits};
use mcp_lint::breaking::{Change, compare, snapshot};
use mcp_lint::lint::{Budgets, Finding, lint};
use mcp_lint::relation::{Containment, contains, satisfiable};
use rustler::{Binary, Encoder, Env, NifResult, Term};

use crate::atoms;
use crate::options;
use crate::protocol::catalog_limits;
use crate::resources::on_large_stack;

/// The findings of a definition that is compiled within these limits: `{:ok, findings}` or
/// `{:error, message}`. Absent budgets and limits have the core's defaults.
#[rustler::nif(schedule = "DirtyCpu")]
fn lint_definition<'a>(
    env: Env<'a>,
    definition: Binary<'a>,
    given: Term<'a>,
    limits: Term<'a>,
) -> NifResult<Term<'a>> {
    let read = budgets(given).and_then(|budgets| Ok((budgets, catalog_limits(limits)?)));
    let (budgets, limits) = match read {
        Ok(read) => read,
        Err(error) => return Ok(env.error_tuple(error)),
    };
    let text = definition.as_slice();
    match on_large_stack(|| lint(text, &budgets, &limits)) {
        Some(Ok(found)) => {
            let found: NifResult<Vec<Term<'a>>> =
                found.iter().map(|found| finding(env, found)).collect();
            Ok((atoms::ok(), found?).encode(env))
        }
        Some(Err(error)) => Ok(env.error_tuple(error.to_string())),
        None => Ok(env.error_tuple("the definition cannot be read")),
    }
}

/// Reads a map of budgets; absent budgets have the core's defaults.
fn budgets(given: Term<'_>) -> Result<Budgets, String> {
    let mut budgets = Budgets::default();
    options::each(given, |name, value| {
        let budget = match name {
            "description_tokens" => &mut budgets.description,
            "instructions_tokens" => &mut budgets.instructions,
            "catalogue_tokens" => &mut budgets.catalogue,
            "max_tools" => &mut budgets.tools,
            _ => return options::unknown(name),
        };
        let given = value.decode().ok().filter(|value| *value > 0);
        *budget = given.ok_or("a budget is a positive integer")?;
        Ok(())
    })?;
    Ok(budgets)
}

fn finding<'a>(env: Env<'a>, finding: &Finding) -> NifResult<Term<'a>> {
    Term::map_from_pairs(
        env,
        &[
            (
                atoms::severity(),
                finding.code.severity().as_str().encode(env),
            ),
            (atoms::code(), finding.code.as_str().encode(env)),
            (atoms::kind(), finding.kind.as_str().encode(env)),
            (atoms::name(), finding.name.encode(env)),
            (atoms::pointer(), finding.pointer.encode(env)),
            (atoms::message(), finding.message.encode(env)),
            (atoms::advice(), finding.advice.encode(env)),
        ],
    )
}

/// The snapshot of a definition: `{:ok, text}` or `{:error, message}`.
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_snapshot<'a>(env: Env<'a>, definition: Binary<'a>) -> Term<'a> {
    match snapshot(definition.as_slice()) {
        Ok(text) => (atoms::ok(), text).encode(env),
        Err(error) => env.error_tuple(error.to_string()),
    }
}

/// The changes from the first snapshot to the second: `{:ok, changes}` or `{:error, message}`.
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_compare<'a>(env: Env<'a>, old: Binary<'a>, new: Binary<'a>) -> NifResult<Term<'a>> {
    let (old, new) = (old.as_slice(), new.as_slice());
    match on_large_stack(|| compare(old, new, &SchemaLimits::default())) {
        Some(Ok(changes)) => {
            let changes: NifResult<Vec<Term<'a>>> =
                changes.iter().map(|found| change(env, found)).collect();
            Ok((atoms::ok(), changes?).encode(env))
        }
        Some(Err(error)) => Ok(env.error_tuple(error.to_string())),
        None => Ok(env.error_tuple("the snapshots cannot be compared")),
    }
}

fn change<'a>(env: Env<'a>, change: &Change) -> NifResult<Term<'a>> {
    Term::map_from_pairs(
        env,
        &[
            (atoms::level(), change.level.as_str().encode(env)),
            (atoms::code(), change.code.encode(env)),
            (atoms::kind(), change.kind.encode(env)),
            (atoms::name(), change.name.encode(env)),
            (atoms::message(), change.message.encode(env)),
            (atoms::reasons(), change.reasons.encode(env)),
            (atoms::example(), change.example.encode(env)),
        ],
    )
}

/// Whether any value satisfies a schema: `{:ok, "yes" | "no" | "unknown"}` or `{:error, {{pointer, keyword}, detail}}`.
#[rustler::nif(schedule = "DirtyCpu")]
fn schema_satisfiable<'a>(env: Env<'a>, schema: Binary<'a>) -> Term<'a> {
    let text = schema.as_slice();
    let limits = SchemaLimits::default();
    match on_large_stack(|| satisfiable(&read(text)?, &limits)) {
        Some(Ok(answer)) => (atoms::ok(), answer.as_str()).encode(env),
        Some(Err(error)) => env.error_tuple((error.place(), error.to_string())),
        None => env.error_tuple((("", "internal"), "the schema could not be read")),
    }
}

/// Whether the first schema accepts every value of the second: `{:ok, {answer, witness}}`, with the
/// witness as JSON or `nil`; or `{:error, {{pointer, keyword}, detail}}`.
#[rustler::nif(schedule = "DirtyCpu")]
fn schema_contains<'a>(env: Env<'a>, outer: Binary<'a>, inner: Binary<'a>) -> Term<'a> {
    let (outer, inner) = (outer.as_slice(), inner.as_slice());
    let limits = SchemaLimits::default();
    match on_large_stack(|| contains(&read(outer)?, &read(inner)?, &limits)) {
        Some(Ok(Containment { answer, witness })) => {
            let witness = witness.map(|value| value.to_string());
            (atoms::ok(), (answer.as_str(), witness)).encode(env)
        }
        Some(Err(error)) => env.error_tuple((error.place(), error.to_string())),
        None => env.error_tuple((("", "internal"), "the schemas could not be read")),
    }
}

/// Reads a text that this library wrote: `serde_json` can only fail on its nesting.
fn read(text: &[u8]) -> Result<serde_json::Value, SchemaError> {
    serde_json::from_slice(text).map_err(|_| SchemaError::TooDeep {
        limit: SchemaLimits::default().max_depth,
    })
}
