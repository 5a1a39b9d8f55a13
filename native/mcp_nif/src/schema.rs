//! `McpServer.Schema.Validator`'s half: schemas compiled once, terms checked against them.

use mcp_core::revision::Revision;
use mcp_core::schema::{Problem, SchemaLimits, Validator, compile};
use rustler::{Binary, Encoder, Env, NifResult, OwnedEnv, ResourceArc, Term};

use crate::atoms;
use crate::json::INLINE_BYTES;
use crate::options;
use crate::resources::{DirtyPermit, SchemaResource, on_large_stack};
use crate::terms::{Context, EncodeErrorKind, TermJson, TermNode, plain};

/// Compiles a schema: `{:ok, reference}` or `{:error, {kind, detail}}`. Limits that are not given
/// are the core's.
#[rustler::nif(schedule = "DirtyCpu")]
fn schema_compile<'a>(env: Env<'a>, schema: Binary<'a>, limits: Term<'a>) -> Term<'a> {
    let limits = match schema_limits(limits) {
        Ok(limits) => limits,
        Err(error) => return env.error_tuple(("limits", error)),
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

/// A map of limits; those it leaves out are the core's.
pub(crate) fn schema_limits(given: Term<'_>) -> Result<SchemaLimits, String> {
    let mut limits = SchemaLimits::default();
    options::each(given, |name, value| {
        let limit = match name {
            "max_bytes" => &mut limits.max_bytes,
            "max_depth" => &mut limits.max_depth,
            "max_subschemas" => &mut limits.max_subschemas,
            "max_regex_bytes" => &mut limits.max_regex_bytes,
            "max_refs_on_path" => &mut limits.max_refs_on_path,
            "max_problems" => &mut limits.max_problems,
            "max_steps" => {
                limits.max_steps = options::value(name, value)?;
                return Ok(());
            }
            _ => return options::unknown(name),
        };
        *limit = options::value(name, value)?;
        Ok(())
    })?;
    Ok(limits)
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
    let steps = match effort {
        Effort::Inline => INLINE_STEPS,
        Effort::Whole => u64::MAX,
    };
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
