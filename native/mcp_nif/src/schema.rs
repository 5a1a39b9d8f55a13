//! The native part of `McpServer.Schema.Validator`: compiles schemas once and validates terms.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::array;
use std::cell::{Cell, OnceCell};

use mcp_core::json::Limits;
use mcp_core::revision::Revision;
use mcp_core::schema::{
    Edit, Formats, Problem, Repaired, SchemaLimits, SchemaOptions, Validator, compile_with,
};
use rustler::{Atom, Binary, Encoder, Env, NifResult, ResourceArc, Term};

use crate::atoms;
use crate::dirty::{DirtyPermit, Effort, twins};
use crate::options;
use crate::resources::on_large_stack;
use crate::terms::{
    Context, EncodeError, EncodeErrorKind, TermJson, TermNode, Values, edited, normal_values,
    normalize,
};

/// A compiled schema.
pub(crate) struct SchemaResource(pub(crate) Validator<TermJson>);

#[rustler::resource_impl]
impl rustler::Resource for SchemaResource {}

/// Compiles a schema: `{:ok, reference}` or `{:error, {{pointer, keyword}, detail}}`. Absent limits
/// have the core's defaults; formats are `annotate`, `assert` or names; documents are pairs of URI
/// and text. A compilation needs a permit for a dirty scheduler, as a check does.
#[rustler::nif(schedule = "DirtyCpu")]
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

/// Reads a map of limits; absent limits have the core's defaults.
pub(crate) fn schema_limits(given: Term<'_>) -> Result<SchemaLimits, String> {
    let mut limits = SchemaLimits::default();
    options::read!(given, limits => [
        max_bytes, max_depth, max_subschemas, max_regex_bytes, max_refs_on_path, max_problems, max_steps,
    ])?;
    Ok(limits)
}

twins!("schema_validate": schema_validate, schema_validate_dirty(
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
) => validate(schema, term));

fn validate<'a>(
    env: Env<'a>,
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let values = match values(env, term, effort.budget()) {
        Ok(values) => values,
        Err(refusal) => return Ok(refusal),
    };
    let allowance = Allowance::of(effort);
    match check(&schema.0, &values, &allowance) {
        Some(Ok(())) => Ok(atoms::ok().to_term(env)),
        Some(Err(problems)) => Ok(env.error_tuple(problem_terms(env, &problems)?)),
        None => Ok(atoms::over_budget().to_term(env)),
    }
}

/// `{:ok, term, kinds}`: a valid term has no kinds.
#[rustler::nif(schedule = "DirtyCpu")]
fn schema_repair<'a>(
    env: Env<'a>,
    schema: ResourceArc<SchemaResource>,
    term: Term<'a>,
) -> NifResult<Term<'a>> {
    let Some(_permit) = DirtyPermit::take(env) else {
        return Ok(atoms::busy().to_term(env));
    };
    let context = Context::of(Revision::NEWEST, usize::MAX);
    let normal = match normalize(env, term, &context) {
        Ok(normal) => normal,
        Err(error) => return Ok(refusal(env, error)),
    };
    let values = match values(env, normal, usize::MAX) {
        Ok(values) => values,
        Err(refusal) => return Ok(refusal),
    };
    let whole = Allowance::of(Effort::Whole);
    let Some(Err(problems)) = check(&schema.0, &values, &whole) else {
        return Ok((atoms::ok(), term, Vec::<Atom>::new()).encode(env));
    };
    match repair(env, &schema.0, normal, &Limits::default(), &whole) {
        Some((repaired, kinds)) => Ok((atoms::ok(), repaired, kinds).encode(env)),
        None => Ok(env.error_tuple(problem_terms(env, &problems)?)),
    }
}

/// The values of a term as JSON, or the NIF's result if the term has no JSON form.
fn values<'a>(env: Env<'a>, term: Term<'a>, budget: usize) -> Result<Values<'a>, Term<'a>> {
    let context = Context::of(Revision::NEWEST, budget);
    normal_values(env, term, &context).map_err(|error| refusal(env, error))
}

fn refusal(env: Env<'_>, error: EncodeError) -> Term<'_> {
    match error.kind() {
        EncodeErrorKind::OverBudget => atoms::over_budget().to_term(env),
        _ => env.error_tuple((atoms::unsupported(), error)),
    }
}

/// The term and the result of each round of a repair.
const MAX_TERMS: usize = 4;

/// Repairs an invalid term; returns the kinds of the changes too. `room` limits the JSON that is
/// read out of strings.
pub(crate) fn repair<'a>(
    env: Env<'a>,
    validator: &Validator<TermJson>,
    term: Term<'a>,
    room: &Limits,
    allowance: &Allowance,
) -> Option<(Term<'a>, Vec<Atom>)> {
    // The values of the term and of each round's result; the nodes borrow them.
    let seen: [OnceCell<Option<Values<'a>>>; MAX_TERMS] = array::from_fn(|_| OnceCell::new());
    let mut unused = seen.iter();
    let mut look = |term| {
        let place = unused.next()?;
        let values = place.get_or_init(|| Values::of(term, usize::MAX));
        values.as_ref().and_then(TermNode::of)
    };
    let first = look(term)?;
    let mut repaired = term;
    let apply = |_: &TermNode<'_>, edits: &[Edit]| {
        repaired = edited(env, repaired, edits, 0)?;
        look(repaired)
    };
    let mut steps = allowance.left(validator);
    let result = validator.repair_within(first, room, &mut steps, apply);
    allowance.leave(steps);
    let Repaired { kinds, .. } = result?;
    Some((repaired, kinds.into_iter().map(kind_atom).collect()))
}

/// The term without the members that are `null` in place of a value; `None` if it has none.
pub(crate) fn without_nulls<'a>(
    env: Env<'a>,
    validator: &Validator<TermJson>,
    term: Term<'a>,
    values: &Values<'_>,
) -> Option<Term<'a>> {
    let absent = validator.absent(TermNode::of(values)?);
    if absent.is_empty() {
        return None;
    }
    edited(env, term, &absent, 0)
}

fn kind_atom(kind: &str) -> Atom {
    match kind {
        "number" => atoms::number(),
        "boolean" => atoms::boolean(),
        "json" => atoms::json(),
        _ => atoms::list(),
    }
}

/// Steps on a normal scheduler: 0.2 to 0.4 ms for the verdict, and as much for the problems.
const INLINE_STEPS: u64 = 20_000;

/// Steps for the problems of one term: a batch has enough steps for the problems of a few terms.
const REFUSAL_STEPS: u64 = INLINE_STEPS / 4;

/// The rest of an effort that several terms share: `steps` until the check is repeated elsewhere,
/// and for the calls of a batch `budget` until they are refused. At first the budget is all steps
/// of one check.
pub(crate) struct Allowance {
    effort: Effort,
    steps: Cell<u64>,
    batch: bool,
    budget: Cell<Option<u64>>,
}

impl Allowance {
    pub(crate) const fn of(effort: Effort) -> Self {
        let steps = match effort {
            Effort::Inline => INLINE_STEPS,
            Effort::Whole => u64::MAX,
        };
        Self {
            effort,
            steps: Cell::new(steps),
            batch: false,
            budget: Cell::new(None),
        }
    }

    /// The same for the calls of a batch, which share the steps of one check.
    pub(crate) fn of_batch(&self) -> Self {
        Self {
            effort: self.effort,
            steps: self.steps.clone(),
            batch: true,
            budget: Cell::new(None),
        }
    }

    /// The steps until a term is refused, if they are shared.
    fn left(&self, validator: &Validator<TermJson>) -> u64 {
        if !self.batch {
            return u64::MAX;
        }
        let all = validator.max_steps();
        self.budget.get().unwrap_or(all)
    }

    fn leave(&self, steps: u64) {
        self.budget.set(Some(steps));
    }

    /// Whether the calls of a batch have used up their steps.
    pub(crate) fn exhausted(&self) -> bool {
        self.batch && self.budget.get() == Some(0)
    }

    pub(crate) const fn effort(&self) -> Effort {
        self.effort
    }

    /// The number of steps left.
    pub(crate) const fn steps(&self) -> u64 {
        self.steps.get()
    }

    pub(crate) fn spend(&self, steps: u64) {
        if self.effort == Effort::Inline {
            self.steps.set(self.steps.get().saturating_sub(steps));
        }
    }
}

/// The problems of a term's values; `None` if the check needs more steps than are left.
pub(crate) fn check(
    validator: &Validator<TermJson>,
    values: &Values<'_>,
    allowance: &Allowance,
) -> Option<Result<(), Vec<Problem>>> {
    let root = TermNode::of(values)?;
    let (steps, left) = (allowance.steps.get(), allowance.left(validator));
    let meter = validator.meter(steps.min(left));
    let verdict = validator.verdict_by(root.clone(), &meter);
    allowance.spend(meter.spent());
    match (verdict, allowance.effort) {
        (Some(true), _) => {
            allowance.leave(left.saturating_sub(meter.spent()));
            Some(Ok(()))
        }
        (_, Effort::Whole) => {
            let mut left = left;
            let checked = validator.check_from(root, &mut left);
            allowance.leave(left);
            Some(checked)
        }
        (Some(false), Effort::Inline) => {
            allowance.spend(REFUSAL_STEPS);
            validator.check_within(root, steps)
        }
        (None, Effort::Inline) => None,
    }
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
