//! Checking values.

use std::fmt;

use jsonschema::json::{Array, Json, Node, Object};
use jsonschema::paths::Location;
use serde_json::Value;

use super::counted::{Counted, CountedNode};
use super::explain::Explainer;
use super::meter::{Meter, Stop, guarded};
use super::sources::Sources;
use super::{Problem, SchemaLimits};

/// Steps that a search for problems may take in any case: a few milliseconds.
const EXPLAIN_STEPS: u64 = 500_000;

/// Received names that are looked at for a misspelling.
const MAX_NAMES: usize = 256;

/// A compiled schema, for values of the representation `J`.
///
/// It is immutable and can be shared between threads.
pub struct Validator<J: Json> {
    compiled: jsonschema::Validator<Counted<J>>,
    sources: Sources,
    max_refs: usize,
    max_steps: u64,
}

impl<J: Json> fmt::Debug for Validator<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Validator").finish_non_exhaustive()
    }
}

impl<J: Json> Validator<J> {
    pub(super) fn new(
        compiled: jsonschema::Validator<Counted<J>>,
        schema: Value,
        documents: Vec<(String, Value)>,
        limits: &SchemaLimits,
    ) -> Self {
        Self {
            compiled,
            sources: Sources::new(schema, documents),
            max_refs: limits.max_refs_on_path,
            max_steps: limits.max_steps,
        }
    }

    /// The schema itself.
    pub(super) fn schema(&self) -> &Value {
        self.sources.schema()
    }

    /// References that one value may be handed through.
    pub(super) fn max_refs(&self) -> usize {
        self.max_refs
    }

    /// Checks a value and says what is wrong with it.
    ///
    /// A value that cannot be checked within the limits is not valid either. The search for
    /// problems takes about as long as finding out that there are some: where the schema would make
    /// it much longer, only the first problem is reported, or that there is one.
    ///
    /// # Errors
    /// The problems, at least one and at most 20.
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
        let meter = Meter::new(self.max_steps);
        let counted = CountedNode::new(node.clone(), &meter);
        match guarded(|| self.compiled.is_valid(counted)) {
            Ok(true) => Ok(()),
            Ok(false) => {
                let taken = self.max_steps.saturating_sub(meter.left());
                Err(self.explain(&node, taken))
            }
            Err(stop) => Err(vec![unchecked(stop)]),
        }
    }

    /// Whether the value satisfies the schema.
    #[must_use]
    pub fn is_valid(&self, node: J::Node<'_>) -> bool {
        let meter = Meter::new(self.max_steps);
        let counted = CountedNode::new(node, &meter);
        guarded(|| self.compiled.is_valid(counted)).unwrap_or(false)
    }

    /// Looks for every problem, then for the first one, then gives up.
    ///
    /// `taken` is what finding out that there are some took. The first search may take as much
    /// again: where alternatives nest, the validator asks each of them again before it says what is
    /// wrong with it. The second need not go far in a value whose first error was found early.
    fn explain<'i>(&'i self, node: &J::Node<'i>, taken: u64) -> Vec<Problem> {
        let names = |place: &Location| received_names::<J>(node, place);
        let explainer = Explainer::new(&self.sources, &names);
        let counted = |steps: u64| {
            let meter = Meter::new(steps.saturating_add(EXPLAIN_STEPS));
            CountedNode::new(node.clone(), &meter)
        };
        let all = || {
            let errors: Vec<_> = self.compiled.iter_errors(counted(taken)).collect();
            explainer.explain(&errors)
        };
        let first = || {
            let steps = taken.min(EXPLAIN_STEPS);
            let error = self.compiled.validate(counted(steps)).err();
            explainer.explain(error.as_slice())
        };
        let found = guarded(all).or_else(|_| guarded(first));
        let found = found.unwrap_or_default();
        if found.is_empty() {
            return vec![unexplained()];
        }
        found
    }
}

fn unexplained() -> Problem {
    Problem::new("", "schema", "a value that satisfies the schema")
}

/// The problem of a value that could not be checked.
fn unchecked(stop: Stop) -> Problem {
    let expected = match stop {
        Stop::Spent | Stop::Errors => "a value simple enough to be checked against the schema",
        Stop::Panic => "a value that can be checked against the schema",
    };
    Problem::new("", "schema", expected)
}

/// The names of the properties of the object at `place`.
fn received_names<J: Json>(root: &J::Node<'_>, place: &Location) -> Vec<String> {
    let mut node = root.clone();
    for segment in place.as_str().split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
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
