//! `McpServer.Schema.Validator`'s half: schemas compiled once, terms checked against them.

use std::collections::BTreeMap;

use mcp_core::revision::Revision;
use mcp_core::schema::{Problem, SchemaLimits, Validator, compile};
use rustler::serde::from_term;
use rustler::{Binary, Encoder, Env, NifResult, OwnedEnv, ResourceArc, Term};

use crate::atoms;
use crate::json::INLINE_BYTES;
use crate::resources::{DirtyPermit, SchemaResource, on_large_stack};
use crate::terms::{Context, EncodeErrorKind, TermJson, TermNode, Values, plain};

/// Compiles a schema: `{:ok, reference}` or `{:error, {kind, detail}}`. Limits that are not given
/// are the core's.
#[rustler::nif(schedule = "DirtyCpu")]
fn schema_compile<'a>(env: Env<'a>, schema: Binary<'a>, limits: Term<'a>) -> Term<'a> {
    let Some(limits) = schema_limits(limits) else {
        return env.error_tuple(("limits", "a limit is a positive integer"));
    };
    let text = schema.as_slice();
    match on_large_stack(|| compile::<TermJson>(text, &limits)) {
        Some(Ok(validator)) => {
            (atoms::ok(), ResourceArc::new(SchemaResource(validator))).encode(env)
        }
        Some(Err(error)) => env.error_tuple((error.kind(), error.to_string())),
        None => env.error_tuple(("internal", "the schema could not be compiled")),
    }
}

/// The core's limits, but for those in a map of names and positive integers.
fn schema_limits(given: Term<'_>) -> Option<SchemaLimits> {
    let mut limits = SchemaLimits::default();
    for (name, value) in from_term::<BTreeMap<String, u64>>(given).ok()? {
        let size = usize::try_from(value).ok().filter(|size| *size > 0)?;
        match name.as_str() {
            "max_bytes" => limits.max_bytes = size,
            "max_depth" => limits.max_depth = size,
            "max_subschemas" => limits.max_subschemas = size,
            "max_regex_bytes" => limits.max_regex_bytes = size,
            "max_refs_on_path" => limits.max_refs_on_path = size,
            "max_steps" => limits.max_steps = value,
            _ => return None,
        }
    }
    Some(limits)
}

#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn schema_validate<'a>(
    env: Env<'a>,
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    validate(env, &schema, term, INLINE_BYTES)
}

#[rustler::nif(schedule = "DirtyCpu")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn schema_validate_dirty<'a>(
    env: Env<'a>,
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    match DirtyPermit::take() {
        Some(_permit) => validate(env, &schema, term, usize::MAX),
        None => Ok(atoms::busy().to_term(env)),
    }
}

fn validate<'a>(
    env: Env<'a>,
    schema: &ResourceArc<SchemaResource>,
    term: Term<'a>,
    budget: usize,
) -> NifResult<Term<'a>> {
    if fits(&schema.0, term, budget) {
        return Ok(atoms::ok().to_term(env));
    }
    let context = Context::of(Revision::NEWEST, budget);
    let term = match plain(env, term, &context) {
        Ok(term) => term,
        Err(error) if error.kind() == EncodeErrorKind::OverBudget => {
            return Ok(atoms::over_budget().to_term(env));
        }
        Err(error) => return Ok(env.error_tuple((atoms::unsupported(), error))),
    };
    match check(&schema.0, term, Effort::within(budget)) {
        Some(Ok(())) => Ok(atoms::ok().to_term(env)),
        Some(Err(problems)) => Ok(env.error_tuple(problem_terms(env, &problems)?)),
        None => Ok(atoms::over_budget().to_term(env)),
    }
}

/// Whether a term satisfies the schema, found out in the quickest way; where it does not, or is not one that
/// can be looked at so, [`plain`] and [`check`] say what is to be said about it.
pub(crate) fn fits(validator: &Validator<TermJson>, term: Term<'_>, budget: usize) -> bool {
    let steps = Effort::within(budget).steps();
    let Some(values) = Values::of(term, budget) else {
        return false;
    };
    let verdict = TermNode::of(&values).and_then(|root| validator.verdict(root, steps));
    verdict == Some(true)
}

/// How much looking at a term may take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// What a normal scheduler can be held for: the size of a term says little about the time that a
    /// schema takes with it.
    Inline,
    /// As much as the schema's own limit allows.
    Whole,
}

impl Effort {
    /// That of a call which may write so many bytes.
    pub(crate) fn within(budget: usize) -> Self {
        if budget == usize::MAX {
            Self::Whole
        } else {
            Self::Inline
        }
    }

    const fn steps(self) -> u64 {
        match self {
            Self::Inline => INLINE_STEPS,
            Self::Whole => u64::MAX,
        }
    }
}

/// Looks at a term while a normal scheduler waits: 0.2 to 0.4 ms for the verdict, and as much for the problems.
const INLINE_STEPS: u64 = 20_000;

/// What is wrong with a plain term; `None` where finding out takes more than the effort.
///
/// The search for problems holds on to the term for as long as to the schema, which no term of a call
/// can promise; so it gets a copy with a lifetime of its own. A valid term is not copied.
pub(crate) fn check(
    validator: &Validator<TermJson>,
    term: Term<'_>,
    effort: Effort,
) -> Option<Result<(), Vec<Problem>>> {
    let steps = effort.steps();
    if validator.verdict(TermNode::new(term), steps)? {
        return Some(Ok(()));
    }
    OwnedEnv::new().run(|env| {
        let node = TermNode::new(term.in_env(env));
        match effort {
            Effort::Inline => validator.check_within(node, steps),
            Effort::Whole => Some(validator.check(node)),
        }
    })
}

/// Problems as maps.
pub(crate) fn problem_terms<'a>(env: Env<'a>, problems: &[Problem]) -> NifResult<Vec<Term<'a>>> {
    problems
        .iter()
        .map(|problem| problem_term(env, problem))
        .collect()
}

fn problem_term<'a>(env: Env<'a>, problem: &Problem) -> NifResult<Term<'a>> {
    Term::map_from_pairs(
        env,
        &[
            (atoms::pointer(), problem.pointer.encode(env)),
            (atoms::keyword(), problem.keyword.encode(env)),
            (atoms::expected(), problem.expected.encode(env)),
            (atoms::allowed(), problem.allowed.encode(env)),
            (atoms::nearest(), problem.nearest.encode(env)),
            (atoms::message(), problem.to_string().encode(env)),
        ],
    )
}
