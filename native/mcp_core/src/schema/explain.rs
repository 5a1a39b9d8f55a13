//! Turns the validator's errors into problems.

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::Location;
use serde_json::{Map, Value};

use super::Problem;
use super::branches;
use super::describe::quoted;
use super::keywords::{Target, children};
use super::nearest::nearest;
use super::problem::{MAX_NAME, cut, is_presentable};
use super::sentences::{explained, last_segment};
use super::sources::Sources;
use super::words::expected;

/// Problems reported for one value.
const MAX_PROBLEMS: usize = 20;

/// Declared names that a problem shows.
const MAX_NAMES: usize = 20;
const MAX_NAME_BYTES: usize = 500;

/// Nested levels of alternatives that are explained.
const MAX_LEVELS: usize = 32;

/// Nested levels of combinators that are searched for declared names.
const MAX_DECLARING: usize = 4;

/// The context for explaining errors.
pub(super) struct Explainer<'e> {
    sources: &'e Sources,
    /// The names of the properties received at a place.
    received: &'e dyn Fn(&Location) -> Vec<String>,
}

impl<'e> Explainer<'e> {
    pub(super) fn new(
        sources: &'e Sources,
        received: &'e dyn Fn(&Location) -> Vec<String>,
    ) -> Self {
        Self { sources, received }
    }

    /// The distinct problems behind `errors`.
    pub(super) fn explain(&self, errors: &[ValidationError<'_>]) -> Vec<Problem> {
        let mut problems = Vec::new();
        self.add_all(errors, 0, &mut problems);
        problems
    }

    fn add_all(&self, errors: &[ValidationError<'_>], level: usize, problems: &mut Vec<Problem>) {
        for error in errors {
            if problems.len() >= MAX_PROBLEMS {
                return;
            }
            self.add(error, level, problems);
        }
    }

    fn add(&self, error: &ValidationError<'_>, level: usize, problems: &mut Vec<Problem>) {
        match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                for name in unexpected.iter().take(MAX_PROBLEMS) {
                    push(problems, self.unexpected(error, name));
                }
            }
            Kind::Required { property } => push(problems, self.missing(error, property)),
            Kind::AnyOf { context } | Kind::OneOfNotValid { context } => {
                self.add_closest(error, context, level, problems);
            }
            Kind::FalseSchema if is_closed_object(error) => self.add_unexpected(error, problems),
            _ => push(problems, self.problem(error)),
        }
    }

    /// The problems of an object with unexpected properties.
    fn add_unexpected(&self, error: &ValidationError<'_>, problems: &mut Vec<Problem>) {
        let declared = self.declared(error);
        let received = (self.received)(error.instance_path());
        let unexpected = received
            .iter()
            .filter(|name| !declared.contains(&name.as_str()));
        for name in unexpected.take(MAX_PROBLEMS) {
            let mut problem = self.unexpected(error, name);
            "additionalProperties".clone_into(&mut problem.keyword);
            push(problems, problem);
        }
    }

    fn problem(&self, error: &ValidationError<'_>) -> Problem {
        match explained(error, self.sources) {
            Some((keyword, words)) => {
                Problem::new(error.instance_path().as_str(), &keyword, &words)
            }
            None => by_kind(error, error.kind()),
        }
    }

    /// The problems of the closest alternative, or the common demand of all alternatives.
    fn add_closest(
        &self,
        error: &ValidationError<'_>,
        alternatives: &[Vec<ValidationError<'static>>],
        level: usize,
        problems: &mut Vec<Problem>,
    ) {
        if let Some(problem) = branches::common(error.kind().keyword(), alternatives) {
            return push(problems, problem);
        }
        match branches::closest(error.instance_path(), alternatives) {
            Some(errors) if level < MAX_LEVELS => {
                self.add_all(errors, level.saturating_add(1), problems);
            }
            _ => push(problems, self.problem(error)),
        }
    }

    fn unexpected(&self, error: &ValidationError<'_>, name: &str) -> Problem {
        let place = error.instance_path().join(name);
        let mut problem = Problem::new(place.as_str(), error.kind().keyword(), "absent");
        let declared = self.declared(error);
        problem.nearest = nearest(name, declared.iter().copied()).map(|name| cut(name, MAX_NAME));
        if problem.nearest.is_none() {
            problem.allowed = some_of(&declared);
        }
        problem
    }

    fn missing(&self, error: &ValidationError<'_>, property: &Value) -> Problem {
        let mut problem = by_kind(error, error.kind());
        let declared = self.declared(error);
        let received = (self.received)(error.instance_path());
        self.add_reason(error, property, &received, &mut problem);
        let undeclared = received.iter().map(String::as_str);
        let undeclared = undeclared.filter(|name| is_presentable(name) && !declared.contains(name));
        let name = property.as_str().unwrap_or_default();
        problem.nearest = nearest(name, undeclared).map(str::to_owned);
        problem
    }

    /// Names the property that requires the missing one.
    fn add_reason(
        &self,
        error: &ValidationError<'_>,
        property: &Value,
        received: &[String],
        problem: &mut Problem,
    ) {
        let keyword = last_segment(error.schema_path().as_str());
        if !matches!(keyword, "dependentRequired" | "dependencies") {
            return;
        }
        let asking = self.sources.keyword(error).and_then(Value::as_object);
        let mut asking = asking.into_iter().flatten().filter(|(name, needed)| {
            let needed = needed.as_array();
            received.contains(*name) && needed.is_some_and(|needed| needed.contains(property))
        });
        if let Some((name, _)) = asking.next() {
            let words = format!("{}, as it has {}", problem.expected, quoted(&[name], "and"));
            *problem = Problem::new(error.instance_path().as_str(), keyword, &words);
        }
    }

    /// The property names declared beside the keyword at fault.
    fn declared(&self, error: &ValidationError<'_>) -> Vec<&'e str> {
        let mut names = Vec::new();
        if let Some(schema) = self.sources.holder(error) {
            collect_declared(schema, MAX_DECLARING, &mut names);
        }
        names
    }
}

/// The first of these names, within the limits.
fn some_of(names: &[&str]) -> Vec<String> {
    let mut shown: Vec<String> = Vec::new();
    let mut bytes = 0_usize;
    for name in names {
        let name = cut(name, MAX_NAME);
        bytes = bytes.saturating_add(name.len());
        if shown.len() == MAX_NAMES || bytes > MAX_NAME_BYTES {
            shown.push("…".to_owned());
            break;
        }
        shown.push(name);
    }
    shown
}

fn collect_declared<'s>(schema: &'s Map<String, Value>, levels: usize, names: &mut Vec<&'s str>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    names.extend(
        properties
            .iter()
            .flat_map(|properties| properties.keys().map(String::as_str)),
    );
    let Some(levels) = levels.checked_sub(1) else {
        return;
    };
    for (target, child) in children(schema) {
        if let (Target::Same, Some(child)) = (target, child.as_object()) {
            collect_declared(child, levels, names);
        }
    }
}

/// Adds a problem once: two subschemas may report the same one.
fn push(problems: &mut Vec<Problem>, problem: Problem) {
    if problems.len() < MAX_PROBLEMS && !problems.contains(&problem) {
        problems.push(problem);
    }
}

/// Whether the error is about the object, not about its unexpected properties.
fn is_closed_object(error: &ValidationError<'_>) -> bool {
    last_segment(error.schema_path().as_str()) == "additionalProperties"
}

fn by_kind(error: &ValidationError<'_>, kind: &Kind) -> Problem {
    let (text, allowed) = expected(kind);
    let mut problem = Problem::new(error.instance_path().as_str(), kind.keyword(), &text);
    problem.allowed = allowed;
    problem
}

/// The problem of an invalid schema.
pub(super) fn explain_schema_error(error: &ValidationError<'_>) -> Problem {
    let place = error.instance_path().as_str();
    match error.kind() {
        Kind::Format { format } if format == "regex" => Problem::new(
            place,
            "pattern",
            &format!(
                "a valid regular expression of limited size without look-around and backreferences, got: {}",
                cut(&error.instance().to_string(), MAX_NAME)
            ),
        ),
        _ => {
            let nothing = |_: &Location| Vec::new();
            let sources = Sources::new(Value::Null, Vec::new());
            let explainer = Explainer::new(&sources, &nothing);
            let problems = explainer.explain(std::slice::from_ref(error));
            let fallback = || Problem::new(place, error.kind().keyword(), "a valid schema");
            problems.into_iter().next().unwrap_or_else(fallback)
        }
    }
}
