//! `McpServer.Schema.Validator`'s half: schemas compiled once, terms checked against them.

use mcp_core::json::Limits;
use mcp_core::revision::Revision;
use mcp_core::schema::{
    Edit, Formats, Problem, Repaired, SchemaLimits, SchemaOptions, Validator, compile_with,
};
use rustler::{Atom, Binary, Encoder, Env, NifResult, OwnedEnv, ResourceArc, Term};

use crate::atoms;
use crate::dirty::DirtyPermit;
use crate::json::INLINE_BYTES;
use crate::options;
use crate::resources::{SchemaResource, on_large_stack};
use crate::terms::{Context, EncodeErrorKind, TermJson, TermNode, Values, edited, plain};

/// Compiles a schema: `{:ok, reference}` or `{:error, {{pointer, keyword}, detail}}`. Limits that are not given
/// are the core's; formats are `annotate`, `assert` or names; documents are pairs of URI and text.
/// Those who compile at once wait for each other like those who check.
#[rustler::nif(schedule = "DirtyCpu")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn schema_compile<'a>(
    env: Env<'a>,
    schema: Binary<'a>,
    limits: Term<'a>,
    formats: Term<'a>,
    documents: Vec<(&'a str, Binary<'a>)>,
) -> NifResult<Term<'a>> {
    let Some(_permit) = DirtyPermit::take(env) else {
        return Ok(atoms::busy().to_term(env));
    };
    let limits = match schema_limits(limits) {
        Ok(limits) => limits,
        Err(error) => return Ok(env.error_tuple((("", "limits"), error))),
    };
    let text = schema.as_slice();
    let formats = schema_formats(formats)?;
    let documents: Vec<(&str, &[u8])> = documents
        .iter()
        .map(|(uri, text)| (*uri, text.as_slice()))
        .collect();
    let options = SchemaOptions {
        limits,
        formats,
        documents: &documents,
    };
    Ok(
        match on_large_stack(|| compile_with::<TermJson>(text, &options)) {
            Some(Ok(validator)) => {
                (atoms::ok(), ResourceArc::new(SchemaResource(validator))).encode(env)
            }
            Some(Err(error)) => env.error_tuple((error.place(), error.to_string())),
            None => env.error_tuple((("", "internal"), "the schema could not be compiled")),
        },
    )
}

fn schema_formats(given: Term<'_>) -> NifResult<Formats> {
    if given.is_list() {
        return Ok(Formats::Only(given.decode()?));
    }
    Ok(if atoms::assert().eq(&given) {
        Formats::Assert
    } else {
        Formats::Annotate
    })
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
    match DirtyPermit::take(env) {
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
    let term = match plain_term(env, term, budget) {
        Ok(term) => term,
        Err(refusal) => return Ok(refusal),
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
    let meter = validator.meter(steps);
    let verdict = TermNode::of(&values).and_then(|root| validator.verdict_by(root, &meter));
    verdict == Some(true)
}

/// `{:ok, term, kinds}`: a term that fits as it is has no kinds.
#[rustler::nif(schedule = "DirtyCpu")]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn schema_repair<'a>(
    env: Env<'a>,
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    let Some(_permit) = DirtyPermit::take(env) else {
        return Ok(atoms::busy().to_term(env));
    };
    let plain = match plain_term(env, term, usize::MAX) {
        Ok(plain) => plain,
        Err(refusal) => return Ok(refusal),
    };
    let Some(Err(problems)) = check(&schema.0, plain, Effort::Whole) else {
        return Ok((atoms::ok(), term, Vec::<Atom>::new()).encode(env));
    };
    match repair(env, &schema.0, plain, &Limits::default()) {
        Some((repaired, kinds)) => Ok((atoms::ok(), repaired, kinds).encode(env)),
        None => Ok(env.error_tuple(problem_terms(env, &problems)?)),
    }
}

/// A term as JSON would have it, or what to answer instead.
fn plain_term<'a>(env: Env<'a>, term: Term<'a>, budget: usize) -> Result<Term<'a>, Term<'a>> {
    let context = Context::of(Revision::NEWEST, budget);
    plain(env, term, &context).map_err(|error| match error.kind() {
        EncodeErrorKind::OverBudget => atoms::over_budget().to_term(env),
        _ => env.error_tuple((atoms::unsupported(), error)),
    })
}

/// A term that does not fit as it was meant to be, and the kinds of the changes; `room` is for what is
/// read out of strings.
pub(crate) fn repair<'a>(
    env: Env<'a>,
    validator: &Validator<TermJson>,
    term: Term<'a>,
    room: &Limits,
) -> Option<(Term<'a>, Vec<Atom>)> {
    let mut repaired = term;
    let apply = |_: &TermNode<'a>, edits: &[Edit]| {
        repaired = edited(env, repaired, edits, 0)?;
        Some(TermNode::new(repaired))
    };
    let Repaired { kinds, .. } = validator.repair(TermNode::new(term), room, apply)?;
    Some((repaired, kinds.into_iter().map(kind_atom).collect()))
}

fn kind_atom(kind: &str) -> Atom {
    match kind {
        "number" => atoms::number(),
        "boolean" => atoms::boolean(),
        "json" => atoms::json(),
        _ => atoms::list(),
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
