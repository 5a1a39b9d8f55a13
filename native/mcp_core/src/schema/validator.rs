//! Checks values against a compiled schema.

use std::fmt;
use std::rc::Rc;

use jsonschema::json::{Array, Json, Node, Object};
use jsonschema::paths::Location;
use serde_json::Value;

use super::counted::{Counted, CountedNode};
use super::explain::Explainer;
use super::meter::{Meter, Stop, Weights, guarded};
use super::sources::Sources;
use super::{Problem, SchemaLimits};
use crate::json::pointer;

/// Steps that every search for problems may take: a few milliseconds.
const EXPLAIN_STEPS: u64 = 500_000;

/// Received names that are searched for a misspelling.
const MAX_NAMES: usize = 256;

/// A compiled schema, for values of the representation `J`.
///
/// It is immutable and can be shared between threads.
pub struct Validator<J: Json> {
    compiled: jsonschema::Validator<Counted<J>>,
    weights: Weights,
    sources: Sources,
    max_refs: usize,
    max_steps: u64,
    max_problems: usize,
}

impl<J: Json> fmt::Debug for Validator<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

impl<J: Json> Validator<J> {
    pub(super) fn new(
        compiled: jsonschema::Validator<Counted<J>>,
        weights: Weights,
        schema: Value,
        documents: Vec<(String, Value)>,
        limits: &SchemaLimits,
    ) -> Self {
        Self {
            compiled,
            weights,
            sources: Sources::new(schema, documents),
            max_refs: limits.max_refs_on_path,
            max_steps: limits.max_steps,
            max_problems: limits.max_problems,
        }
    }

    /// The schema itself.
    pub(super) fn schema(&self) -> &Value {
        self.sources.schema()
    }

    /// The most steps of one check.
    #[must_use]
    pub fn max_steps(&self) -> u64 {
        self.max_steps
    }

    /// References in a chain that applies to one value.
    pub(super) fn max_refs(&self) -> usize {
        self.max_refs
    }

    /// Checks a value and reports its problems.
    ///
    /// A value that exceeds the limits of the check is invalid. The search for problems takes about
    /// as long as the first check. If the schema makes the search much longer, only the first
    /// problem or a general one is reported.
    ///
    /// # Errors
    /// At least one problem and at most [`SchemaLimits::max_problems`].
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::{SchemaLimits, SerdeJson, compile};
    ///
    /// let schema = br#"{"properties": {"operation": {"enum": ["add", "subtract"]}}}"#;
    /// let validator = compile::<SerdeJson>(schema, &SchemaLimits::default())?;
    /// let problems = validator.check(&serde_json::json!({"operation": "ad"})).unwrap_err();
    /// assert_eq!(
    ///     problems[0].to_string(),
    ///     r#"/operation: must be one of "add", "subtract" (enum)"#
    /// );
    /// # Ok::<(), mcp_core::schema::SchemaError>(())
    /// ```
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a node is a handle on a value: it is passed like a reference"
    )]
    pub fn check<'i>(&'i self, node: J::Node<'i>) -> Result<(), Vec<Problem>> {
        let mut steps = u64::MAX;
        self.check_from(node, &mut steps)
    }

    /// As [`Validator::check`]; takes the steps of the check and of the search for problems from
    /// `steps`, so that several checks can share them. Without steps every value is invalid.
    ///
    /// # Errors
    /// As [`Validator::check`].
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a node is a handle on a value: it is passed like a reference"
    )]
    pub fn check_from<'i>(
        &'i self,
        node: J::Node<'i>,
        steps: &mut u64,
    ) -> Result<(), Vec<Problem>> {
        let before = *steps;
        match self.judge(node.clone(), steps) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.explain(&node, before.saturating_sub(*steps), steps)),
            Err(stop) => Err(vec![unchecked(stop)]),
        }
    }

    /// Whether the value satisfies the schema, or why the check was stopped.
    fn judge(&self, node: J::Node<'_>, steps: &mut u64) -> Result<bool, Stop> {
        self.metered(self.max_steps, steps, |meter| {
            guarded(|| self.compiled.is_valid(CountedNode::new(node, meter)))
        })
    }

    /// Work with at most so many steps, which are taken from `steps`. Stopped work takes them all:
    /// it may have left a few that do not suffice for its next one.
    fn metered<T>(
        &self,
        most: u64,
        steps: &mut u64,
        work: impl FnOnce(&Rc<Meter>) -> Result<T, Stop>,
    ) -> Result<T, Stop> {
        let given = most.min(*steps);
        let meter = Meter::new(given, self.weights);
        let result = work(&meter);
        let taken = result.as_ref().map_or(given, |_| meter.spent());
        *steps = steps.saturating_sub(taken);
        result
    }

    /// Whether the value satisfies the schema.
    #[must_use]
    pub fn is_valid(&self, node: J::Node<'_>) -> bool {
        self.verdict(node, u64::MAX).unwrap_or(false)
    }

    /// Whether the value satisfies the schema; `None` if the check needs more than `steps` steps.
    ///
    /// For callers that must not block for long: on `None`, repeat the check where it may take
    /// longer.
    #[must_use]
    pub fn verdict(&self, node: J::Node<'_>, steps: u64) -> Option<bool> {
        let mut left = steps;
        self.verdict_from(node, &mut left)
    }

    /// As [`Validator::verdict`]; takes the steps from `steps`.
    pub(super) fn verdict_from(&self, node: J::Node<'_>, steps: &mut u64) -> Option<bool> {
        let most = *steps;
        match self.judge(node, steps) {
            Ok(valid) => Some(valid),
            Err(_) if most < self.max_steps => None,
            Err(_) => Some(false),
        }
    }

    /// The budget for [`Validator::verdict_by`]: `steps` steps, or the schema's limit if that is
    /// lower.
    #[must_use]
    pub fn meter(&self, steps: u64) -> Meter {
        Meter::of(steps.min(self.max_steps), self.weights)
    }

    /// As [`Validator::verdict`], but faster: the caller keeps the meter for as long as the value.
    /// `None` if the meter did not suffice.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::{SchemaLimits, SerdeJson, compile};
    ///
    /// let validator = compile::<SerdeJson>(br#"{"items": {"type": "string"}}"#, &SchemaLimits::default())?;
    /// let value = serde_json::json!(["a", 1]);
    /// assert_eq!(validator.verdict_by(&value, &validator.meter(1_000)), Some(false));
    /// assert_eq!(validator.verdict_by(&value, &validator.meter(1)), None);
    /// # Ok::<(), mcp_core::schema::SchemaError>(())
    /// ```
    #[must_use]
    pub fn verdict_by<'n>(&self, node: J::Node<'n>, meter: &'n Meter) -> Option<bool> {
        let counted = CountedNode::lent(node, meter);
        guarded(|| self.compiled.is_valid(counted)).ok()
    }

    /// As [`Validator::check`]; `None` if the check or the search for problems needs more than
    /// `steps` steps.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::{SchemaLimits, SerdeJson, compile};
    ///
    /// let validator = compile::<SerdeJson>(br#"{"items": {"type": "string"}}"#, &SchemaLimits::default())?;
    /// let value = serde_json::json!(["a", 1]);
    /// assert_eq!(validator.check_within(&value, 1_000), Some(validator.check(&value)));
    /// assert_eq!(validator.check_within(&value, 1), None);
    /// # Ok::<(), mcp_core::schema::SchemaError>(())
    /// ```
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a node is a handle on a value: it is passed like a reference"
    )]
    pub fn check_within<'i>(
        &'i self,
        node: J::Node<'i>,
        steps: u64,
    ) -> Option<Result<(), Vec<Problem>>> {
        if self.verdict(node.clone(), steps)? {
            return Some(Ok(()));
        }
        let problems = self
            .problems(&node, &Meter::brief(steps, self.weights))
            .ok()?;
        Some(Err(or_unexplained(problems)))
    }

    /// At most `max_problems` problems, or the reason that stopped the search.
    fn problems<'i>(&'i self, node: &J::Node<'i>, meter: &Rc<Meter>) -> Result<Vec<Problem>, Stop> {
        let names = |place: &Location| received_names::<J>(node, place);
        guarded(|| {
            let counted = CountedNode::new(node.clone(), meter);
            let errors: Vec<_> = self.compiled.iter_errors(counted).collect();
            let mut problems = Explainer::new(&self.sources, &names).explain(&errors);
            problems.truncate(self.max_problems.max(1));
            problems
        })
    }

    /// Searches for all problems, then for the first one, and reports a general problem if both
    /// fail.
    ///
    /// `taken` is the number of steps of the first check. The first search may take twice as many,
    /// because the validator evaluates each keyword again before it reports an error. Nested
    /// alternatives repeat this at each level. The second search is short if the first error comes
    /// early in the value.
    fn explain<'i>(&'i self, node: &J::Node<'i>, taken: u64, steps: &mut u64) -> Vec<Problem> {
        let most = |steps: u64| steps.saturating_add(EXPLAIN_STEPS);
        let found = self.metered(most(taken.saturating_mul(2)), steps, |meter| {
            self.problems(node, meter)
        });
        let found = found.or_else(|_stop| {
            self.metered(most(taken.min(EXPLAIN_STEPS)), steps, |meter| {
                self.first_problem(node, meter)
            })
        });
        or_unexplained(found.unwrap_or_default())
    }

    fn first_problem<'i>(
        &'i self,
        node: &J::Node<'i>,
        meter: &Rc<Meter>,
    ) -> Result<Vec<Problem>, Stop> {
        let names = |place: &Location| received_names::<J>(node, place);
        guarded(|| {
            let counted = CountedNode::new(node.clone(), meter);
            let error = self.compiled.validate(counted).err();
            Explainer::new(&self.sources, &names).explain(error.as_slice())
        })
    }
}

fn or_unexplained(problems: Vec<Problem>) -> Vec<Problem> {
    if problems.is_empty() {
        return vec![unexplained()];
    }
    problems
}

fn unexplained() -> Problem {
    Problem::new("", "schema", "a value that satisfies the schema")
}

/// The problem of a value whose check was stopped.
fn unchecked(stop: Stop) -> Problem {
    let expected = match stop {
        Stop::Spent | Stop::Errors => return Problem::too_long(),
        Stop::Panic => "a value that can be checked against the schema",
    };
    Problem::new("", "schema", expected)
}

/// The names of the properties of the object at `place`.
fn received_names<J: Json>(root: &J::Node<'_>, place: &Location) -> Vec<String> {
    let mut node = root.clone();
    for segment in place.as_str().split('/').skip(1) {
        let name = pointer::name(segment);
        let next = match (node.as_object(), node.as_array()) {
            (Some(object), _) => object.get(&J::prepare_key(&name)),
            (_, Some(array)) => name
                .parse()
                .ok()
                .and_then(|index: usize| array.elements().nth(index)),
            _ => None,
        };
        let Some(next) = next else { return Vec::new() };
        node = next;
    }
    let object = node.as_object();
    let members = object.iter().flat_map(Object::members).take(MAX_NAMES);
    members.map(|(name, _)| name.as_ref().to_owned()).collect()
}
