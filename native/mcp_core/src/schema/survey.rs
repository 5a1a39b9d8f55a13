//! Estimates the cost of a schema before it is compiled.
//!
//! The compiler and the validator follow references without remembering visited ones. A few
//! kilobytes of `anyOf` pairs, embedded resources or `unevaluatedProperties` keep them busy for
//! very long. The survey follows the same paths, remembers visited subschemas, and counts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jsonschema::{Draft, Registry, Uri};
use referencing::{List, Resolver};
use serde_json::{Map, Value};

use super::dialect::named_dialect;
use super::keywords::{Target, asks_for_evaluated, children, is_silent, references};
use super::meter::Weights;
use super::patterns::PatternWeights;
use super::{Formats, SchemaError, SchemaLimits};

/// Paths by which subschemas apply to one value. A lattice of 20 levels of pairs has this many, and
/// checking it takes 13 ms.
const MAX_PATHS: u64 = 1 << 20;

/// The same limit for paths that a check cannot count (the schema `true` at the end of a path,
/// property names). It also limits paths whose compilation takes time (`unevaluatedProperties`).
const MAX_UNCOUNTED_PATHS: u64 = 1 << 12;

/// Subschemas that the compiler may build. It builds a subschema again for each sequence of
/// embedded resources that leads to it.
const MAX_STATES: usize = 10_000;

/// Nested visits of subschemas; each takes some kilobytes of stack.
const MAX_OPEN: usize = 4_000;

/// Refuses, without recursion, a schema that nests too deeply or has too many subschemas. `counted`
/// is the number of subschemas in earlier texts. Returns the new total.
pub(super) fn measure(
    schema: &Value,
    counted: usize,
    limits: &SchemaLimits,
) -> Result<usize, SchemaError> {
    let mut count = counted;
    let mut open = vec![(1_usize, schema)];
    while let Some((depth, schema)) = open.pop() {
        count = count.saturating_add(1);
        if depth > limits.max_depth {
            return Err(SchemaError::TooDeep {
                limit: limits.max_depth,
            });
        }
        if count > limits.max_subschemas {
            return Err(SchemaError::TooManySubschemas {
                limit: limits.max_subschemas,
            });
        }
        let held = schema.as_object().map(children).unwrap_or_default();
        open.extend(
            held.into_iter()
                .map(|(_, child)| (depth.saturating_add(1), child)),
        );
    }
    Ok(count)
}

/// Refuses a schema with a broken reference or with too costly references. Otherwise returns what a
/// byte of a string and of a property's name may cost. `formats` are asserted.
pub(super) fn survey(
    schema: &Value,
    base: Uri<String>,
    draft: Draft,
    registry: &Registry<'_>,
    patterns: &PatternWeights,
    formats: &Formats,
    limits: &SchemaLimits,
) -> Result<Weights, SchemaError> {
    let mut survey = Survey {
        limits,
        registry,
        patterns,
        formats,
        format_weight: 0,
        name_weight: 0,
        known: HashMap::new(),
        open: HashSet::new(),
        uncounted: 0,
        depth: 0,
    };
    survey.visit(schema, &registry.resolver(base), draft)?;
    Ok(Weights {
        text: patterns.heaviest().max(survey.format_weight),
        name: survey.name_weight.max(1),
    })
}

/// The identity of a subschema in the compiler.
#[derive(PartialEq, Eq, Hash)]
struct State {
    address: usize,
    base: Arc<Uri<String>>,
    scope: List<Uri<String>>,
}

/// The cost of applying a subschema to one value.
#[derive(Clone, Copy, Default)]
struct Cost {
    /// Paths to a subschema that applies no other.
    paths: u64,
    /// The paths among them that end without reading the value.
    silent: u64,
    /// References in a row.
    refs: usize,
    /// Weights of the patterns and formats on all paths, for the value and for its property names.
    text_weight: u64,
    name_weight: u64,
}

struct Survey<'s> {
    limits: &'s SchemaLimits,
    registry: &'s Registry<'s>,
    patterns: &'s PatternWeights,
    formats: &'s Formats,
    /// The largest weight of a format.
    format_weight: u64,
    /// The largest weight for one name.
    name_weight: u64,
    known: HashMap<State, Cost>,
    /// The references being followed. The compiler also stops at a reference that leads to itself.
    open: HashSet<Arc<Uri<String>>>,
    uncounted: u64,
    depth: usize,
}

impl Survey<'_> {
    fn visit(
        &mut self,
        schema: &Value,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Result<Cost, SchemaError> {
        let Some(object) = schema.as_object() else {
            return Ok(Cost {
                paths: 1,
                silent: 1,
                ..Cost::default()
            });
        };
        let state = State {
            address: std::ptr::from_ref(schema).addr(),
            base: resolver.base_uri(),
            scope: resolver.dynamic_scope(),
        };
        if let Some(cost) = self.known.get(&state) {
            return Ok(*cost);
        }
        if self.known.len() >= MAX_STATES || self.depth >= MAX_OPEN {
            return Err(SchemaError::TooComplex);
        }
        let key = State {
            base: Arc::clone(&state.base),
            scope: state.scope.clone(),
            ..state
        };
        self.known.insert(state, Cost::default());
        self.depth = self.depth.saturating_add(1);
        let cost = self.cost(object, resolver, draft)?;
        self.depth = self.depth.saturating_sub(1);
        self.known.insert(key, cost);
        Ok(cost)
    }

    fn cost(
        &mut self,
        schema: &Map<String, Value>,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Result<Cost, SchemaError> {
        let mut cost = Cost::default();
        for (is_recursive, reference) in references(schema) {
            let target = self.follow(reference, is_recursive, resolver)?;
            cost.add(Cost {
                refs: target.refs.saturating_add(1),
                ..target
            });
        }
        // Before 2019-09 a reference hides the keywords beside it.
        if cost.refs == 0 || draft >= Draft::Draft201909 {
            self.descend(schema, resolver, draft, &mut cost)?;
        }
        let names = self.patterns.of_names(schema);
        let format = schema.get("format").and_then(Value::as_str);
        let format = format.map_or(0, |format| self.formats.weight(draft, format));
        self.format_weight = self.format_weight.max(format);
        cost.text_weight = cost
            .text_weight
            .saturating_add(self.patterns.of_text(schema))
            .saturating_add(format);
        cost.name_weight = cost.name_weight.saturating_add(names);
        self.name_weight = self.name_weight.max(names);
        if cost.paths == 0 {
            cost.paths = 1;
            cost.silent = u64::from(is_silent(schema));
        }
        if asks_for_evaluated(schema) {
            self.uncounted = self.uncounted.saturating_add(cost.paths);
            // The keyword matches a name against the patterns of all its siblings.
            self.name_weight = self.name_weight.max(cost.name_weight);
        }
        self.judge(cost)?;
        Ok(cost)
    }

    /// Visits the subschemas held by `schema`.
    fn descend(
        &mut self,
        schema: &Map<String, Value>,
        resolver: &Resolver<'_>,
        draft: Draft,
        cost: &mut Cost,
    ) -> Result<(), SchemaError> {
        for (target, child) in children(schema) {
            match target {
                Target::Same => cost.add(self.enter(child, resolver, draft)?),
                Target::Child => drop(self.enter(child, resolver, draft)?),
                Target::Name => {
                    let names = self.enter(child, resolver, draft)?;
                    self.uncounted = self.uncounted.saturating_add(names.paths);
                    self.name_weight = self.name_weight.max(names.text_weight);
                }
                Target::None => {}
            }
        }
        Ok(())
    }

    /// Visits a subschema that may be an embedded resource or name a different dialect.
    fn enter(
        &mut self,
        schema: &Value,
        resolver: &Resolver<'_>,
        draft: Draft,
    ) -> Result<Cost, SchemaError> {
        let draft = self.own_draft(schema, draft)?;
        let resource = draft.create_resource_ref(schema);
        let resolver = resolver
            .in_subresource(resource)
            .map_err(|error| SchemaError::from_resolver(&error))?;
        self.visit(schema, &resolver, draft)
    }

    /// The draft of a subschema that may have a `$schema`.
    fn own_draft(&self, schema: &Value, outer: Draft) -> Result<Draft, SchemaError> {
        match outer.detect(schema) {
            Draft::Unknown => {
                let uri = named_dialect(schema);
                let is_given = self.registry.contains_resource(uri.trim_end_matches('#'));
                is_given
                    .then_some(outer)
                    .ok_or_else(|| SchemaError::unknown_dialect(uri))
            }
            draft => Ok(draft),
        }
    }

    /// Visits the target of a reference, with the resolver of its resource.
    fn follow(
        &mut self,
        reference: &str,
        is_recursive: bool,
        resolver: &Resolver<'_>,
    ) -> Result<Cost, SchemaError> {
        let found = if is_recursive {
            resolver.lookup_recursive_ref()
        } else {
            resolver.lookup(reference)
        };
        let found = found.map_err(|error| SchemaError::from_resolver(&error))?;
        let uri = resolver.resolve_uri(&resolver.base_uri().borrow(), reference);
        let uri = uri.map_err(|error| SchemaError::from_resolver(&error))?;
        if !self.open.insert(Arc::clone(&uri)) {
            return Ok(Cost::default());
        }
        let (target, resolver, draft) = found.into_inner();
        let draft = self.own_draft(target, draft)?;
        let cost = self.visit(target, &resolver, draft);
        self.open.remove(&uri);
        cost
    }

    fn judge(&self, cost: Cost) -> Result<(), SchemaError> {
        if cost.refs > self.limits.max_refs_on_path {
            return Err(SchemaError::TooManyRefs {
                limit: self.limits.max_refs_on_path,
            });
        }
        let uncounted = self.uncounted.max(cost.silent);
        if cost.paths > MAX_PATHS || uncounted > MAX_UNCOUNTED_PATHS {
            return Err(SchemaError::TooComplex);
        }
        Ok(())
    }
}

impl Cost {
    fn add(&mut self, other: Self) {
        self.paths = self.paths.saturating_add(other.paths);
        self.silent = self.silent.saturating_add(other.silent);
        self.text_weight = self.text_weight.saturating_add(other.text_weight);
        self.name_weight = self.name_weight.saturating_add(other.name_weight);
        self.refs = self.refs.max(other.refs);
    }
}
