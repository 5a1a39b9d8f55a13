//! Limits and costs of the regular expressions of a schema.
//!
//! The engine is linear in the length of a text, but the cost per byte differs. It builds each
//! state of an automaton on first use, and then a byte takes about a nanosecond. If the states do
//! not fit into its cache, it follows all paths through the expression in parallel. A byte then
//! takes some nanoseconds for each path. `a.{0,1000}b` is an example: it must remember every `a`.
//! So each automaton is explored once when the schema is compiled. A byte weighs one if all states
//! fit into the cache. It weighs as much as building a small state if nearly all fit. Otherwise it
//! weighs as much as the expression has paths.

use std::collections::{HashMap, HashSet};

use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::DFA;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::alphabet::Unit;
use regex_automata::util::start;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};
use regex_syntax::hir::{Hir, Look};
use serde_json::{Map, Value};

use super::SchemaLimits;

/// Bytes of all regular expressions of one schema, in multiples of the limit of one.
const SHARE: usize = 16;

/// The weight that each state of an expression adds to a byte. Following a state takes half a step;
/// a byte of weight one takes a sixteenth.
const STATE_WEIGHT: u64 = 8;

/// The weight of a byte for which the engine builds a small state.
const MADE_WEIGHT: u64 = 256;

/// Exploration stops at this multiple of the memory in which the engine keeps states.
const WALKED_SHARE: usize = 2;

/// Bytes of states that the exploration of one automaton may visit, some nanoseconds each, in
/// multiples of the limit of one expression; and the total for one schema.
const LOOKED_AT_SHARE: usize = 16;
const LOOKED_AT_SHARE_IN_ALL: usize = 2 * LOOKED_AT_SHARE;

/// The regular expressions of a schema and its documents share [`SHARE`] times the limit of one.
pub(super) fn regex_size<'v>(
    schemas: impl Iterator<Item = &'v Value>,
    limits: &SchemaLimits,
) -> usize {
    let share = limits.max_regex_bytes.saturating_mul(SHARE);
    let mut count = 0_usize;
    each_pattern(schemas.collect(), |_| count = count.saturating_add(1));
    let each = share.checked_div(count).unwrap_or(share);
    each.min(limits.max_regex_bytes)
}

/// Every possible `pattern`, and every name in a `patternProperties`.
fn each_pattern<'v>(mut open: Vec<&'v Value>, mut found: impl FnMut(&'v str)) {
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    match (name.as_str(), member) {
                        ("pattern", Value::String(pattern)) => found(pattern),
                        ("patternProperties", Value::Object(properties)) => {
                            properties.keys().for_each(|pattern| found(pattern));
                        }
                        _ => {}
                    }
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
}

/// The weight of each pattern of a schema: its time for a byte, in multiples of reading the byte.
pub(super) struct PatternWeights(HashMap<String, u64>);

impl PatternWeights {
    /// Weighs patterns of at most `size` bytes each.
    pub(super) fn of<'v>(
        schemas: impl Iterator<Item = &'v Value>,
        size: usize,
        limits: &SchemaLimits,
    ) -> Self {
        let mut weights = HashMap::new();
        let mut left = limits
            .max_regex_bytes
            .saturating_mul(LOOKED_AT_SHARE_IN_ALL);
        each_pattern(schemas.collect(), |pattern| {
            if !weights.contains_key(pattern) {
                weights.insert(pattern.to_owned(), weight(pattern, size, &mut left));
            }
        });
        Self(weights)
    }

    /// The largest weight.
    pub(super) fn heaviest(&self) -> u64 {
        self.0.values().copied().max().unwrap_or(1)
    }

    /// The weight of the `pattern` of a subschema.
    pub(super) fn of_text(&self, schema: &Map<String, Value>) -> u64 {
        let pattern = schema.get("pattern").and_then(Value::as_str);
        pattern.map_or(0, |pattern| self.weight(pattern))
    }

    /// The weight of its `patternProperties`.
    pub(super) fn of_names(&self, schema: &Map<String, Value>) -> u64 {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.into_iter().flat_map(Map::keys);
        patterns.fold(0, |sum, pattern| sum.saturating_add(self.weight(pattern)))
    }

    fn weight(&self, pattern: &str) -> u64 {
        self.0.get(pattern).copied().unwrap_or(1)
    }
}

/// One if the schema compiler refuses the pattern or does not compile it to a regular expression.
fn weight(pattern: &str, size: usize, left: &mut usize) -> u64 {
    if jsonschema_regex::analyze_pattern(pattern).is_some() {
        return 1;
    }
    let translated = jsonschema_regex::to_rust_regex(pattern);
    let Some(hir) = translated.ok().and_then(|text| syntax::parse(&text).ok()) else {
        return 1;
    };
    let Some(forward) = automaton(&hir, size, false) else {
        return 1;
    };
    let states = u64::try_from(forward.states().len()).unwrap_or(u64::MAX);
    let most = states.saturating_mul(STATE_WEIGHT);
    let forward = walked(forward, size, Anchored::No, left);
    // Unless the pattern is anchored at the start, the engine may search backward from the end.
    let backward = if hir.properties().look_set_prefix().contains(Look::Start) {
        Some(1)
    } else {
        automaton(&hir, size, true).and_then(|backward| walked(backward, size, Anchored::Yes, left))
    };
    match (forward, backward) {
        (Some(forward), Some(backward)) => forward.max(backward).min(most),
        _ => most,
    }
}

fn automaton(hir: &Hir, size: usize, reverse: bool) -> Option<NFA> {
    let config = thompson::Config::new()
        .reverse(reverse)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(size));
    thompson::Compiler::new()
        .configure(config)
        .build_from_hir(hir)
        .ok()
}

/// The weight of a byte in this automaton; `None` if it has too many states, or if the engine would
/// give up on a byte.
fn walked(states: NFA, size: usize, anchored: Anchored, left: &mut usize) -> Option<u64> {
    // The engine uses the same configuration.
    let config = DFA::config()
        .match_kind(MatchKind::LeftmostFirst)
        .unicode_word_boundary(true)
        .skip_cache_capacity_check(true)
        .cache_capacity(size.saturating_mul(WALKED_SHARE));
    let mut builder = DFA::builder();
    let automaton = builder.configure(config).build_from_nfa(states).ok()?;
    let given = (*left).min(size.saturating_mul(LOOKED_AT_SHARE));
    let mut unspent = given;
    let memory = walk(&automaton, anchored, &mut unspent);
    *left = left.saturating_sub(given.saturating_sub(unspent));
    Some(if memory? <= size { 1 } else { MADE_WEIGHT })
}

/// Visits every state and returns the memory of all states.
fn walk(automaton: &DFA, anchored: Anchored, left: &mut usize) -> Option<usize> {
    let mut cache = automaton.create_cache();
    let empty = cache.memory_usage();
    let classes = automaton.byte_classes();
    let bytes: Vec<u8> = classes
        .representatives(0..=255)
        .filter_map(Unit::as_u8)
        .collect();
    let row_bytes = size_of::<LazyStateID>()
        .saturating_mul(classes.alphabet_len())
        .next_power_of_two();
    let start = start::Config::new().anchored(anchored);
    let start = automaton.start_state(&mut cache, &start).ok()?;
    let mut known: HashSet<LazyStateID> = HashSet::from([start]);
    let mut open = vec![start];
    while let Some(state) = open.pop() {
        // The time of a transition grows with the size of the state, without its transitions.
        let states = cache.memory_usage().saturating_sub(empty);
        let state_bytes = states.checked_div(known.len())?;
        let looked_at = state_bytes.saturating_sub(row_bytes).max(1);
        *left = left.checked_sub(bytes.len().saturating_mul(looked_at))?;
        for byte in &bytes {
            let next = automaton.next_state(&mut cache, state, *byte).ok()?;
            if cache.clear_count() > 0 || next.is_quit() {
                return None;
            }
            // The search ends at a match.
            if !next.is_dead() && !next.is_match() && known.insert(next) {
                open.push(next);
            }
        }
    }
    Some(cache.memory_usage())
}

#[cfg(test)]
mod tests {
    use super::{LOOKED_AT_SHARE_IN_ALL, MADE_WEIGHT, weight};

    fn weighed(pattern: &str) -> u64 {
        const SIZE: usize = 1024 * 1024;
        weight(pattern, SIZE, &mut (SIZE * LOOKED_AT_SHARE_IN_ALL))
    }

    #[test]
    fn what_common_patterns_read_weighs_one() {
        for pattern in [
            r"^[a-z0-9-]+$",
            r"^\d{4}-\d{2}-\d{2}$",
            r"^[a-zA-Z0-9._%+-]+@[a-zA-Z0-9.-]+\.[a-zA-Z]{2,}$",
            r"[a-z0-9._%+-]+@[a-z0-9.-]+\.[a-z]{2,}$",
            r"^https?://[^\s/$.?#].[^\s]*$",
            r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
            r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==)?$",
            r"^.{1,255}$",
            r"\w+\s*=\s*\w+",
            r"\d{1,20}-\d{1,20}$",
            "^x-",
            "^(get|put)$",
        ] {
            assert_eq!(weighed(pattern), 1, "{pattern}");
        }
        assert_eq!(weighed(r"^[^\s@]{1,64}@[^\s@]{1,255}$"), MADE_WEIGHT);
    }

    #[test]
    fn a_pattern_that_has_to_remember_much_weighs_as_much_as_it_has_ways() {
        assert_eq!(weighed("a.{0,1000}b"), 72_088);
        assert_eq!(weighed("a.{0,50}b"), 3_640);
        assert_eq!(weighed("^.*a.{0,100}$"), 7_304);
        assert_eq!(weighed("BEGIN.{0,500}END"), 36_088);
        // The automaton handles `\b` for ASCII only.
        assert_eq!(weighed(r"\b\d{3}-\d{4}\b"), 104);
    }
}
