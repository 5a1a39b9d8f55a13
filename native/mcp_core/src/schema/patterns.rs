//! What the regular expressions of a schema may take, and what they weigh.
//!
//! Their engine is linear in the length of a text, and that is not enough: it walks a text with an
//! automaton of which it makes each state when it first gets there, a byte in about a nanosecond; but
//! where the states are too many to be kept (`a.{0,1000}b`, which has to remember where every `a` was)
//! it follows all ways through the expression side by side, a byte in some nanoseconds for each of them.
//! So the automaton is walked once when the schema is compiled: if all of it can be kept a byte weighs
//! one, if nearly all of it can as much as making a small state does, and else as much as the expression
//! has ways.

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

/// Bytes all regular expressions of one schema may take together, in multiples of what one may.
const SHARE: usize = 16;

/// What a state of an expression adds to the weight of a byte: following it takes half of a step, and
/// a byte of weight one a sixteenth.
const STATE_WEIGHT: u64 = 8;

/// What a byte weighs where a state of the automaton is made for it, but a small one.
const MADE_WEIGHT: u64 = 256;

/// Automata are walked as far as this many times the memory that the engine keeps states in.
const WALKED_SHARE: usize = 2;

/// Bytes of states that the walk through one automaton may look at, each for some nanoseconds, in multiples
/// of what an expression may take; and that all walks for one schema may.
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

/// Every `pattern` there may be, and every name in a `patternProperties`.
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

/// What each pattern of a schema weighs: the time that it takes with a byte, in multiples of reading it.
pub(super) struct PatternWeights(HashMap<String, u64>);

impl PatternWeights {
    /// Of patterns none of which may take more than `size` bytes.
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

    /// The weight of the heaviest.
    pub(super) fn heaviest(&self) -> u64 {
        self.0.values().copied().max().unwrap_or(1)
    }

    /// Of the `pattern` of a subschema.
    pub(super) fn of_text(&self, schema: &Map<String, Value>) -> u64 {
        let pattern = schema.get("pattern").and_then(Value::as_str);
        pattern.map_or(0, |pattern| self.weight(pattern))
    }

    /// Of its `patternProperties`.
    pub(super) fn of_names(&self, schema: &Map<String, Value>) -> u64 {
        let patterns = schema.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.into_iter().flat_map(Map::keys);
        patterns.fold(0, |sum, pattern| sum.saturating_add(self.weight(pattern)))
    }

    fn weight(&self, pattern: &str) -> u64 {
        self.0.get(pattern).copied().unwrap_or(1)
    }
}

/// One where the compiler of the schema refuses the pattern, or makes no regular expression of it.
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
    // From the end of the text is another way to look for what may begin anywhere.
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

/// What a byte weighs with this automaton; `None` where its states are too many, or the engine would give
/// up on a byte.
fn walked(states: NFA, size: usize, anchored: Anchored, left: &mut usize) -> Option<u64> {
    // As the engine has it.
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

/// Goes to every state there is, and says what memory they take.
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
        // Each byte takes as long as the states are large, without the row of where they lead.
        let states = cache.memory_usage().saturating_sub(empty);
        let state_bytes = states.checked_div(known.len())?;
        let looked_at = state_bytes.saturating_sub(row_bytes).max(1);
        *left = left.checked_sub(bytes.len().saturating_mul(looked_at))?;
        for byte in &bytes {
            let next = automaton.next_state(&mut cache, state, *byte).ok()?;
            if cache.clear_count() > 0 || next.is_quit() {
                return None;
            }
            // At a match the search ends.
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
        // It is for ASCII alone.
        assert_eq!(weighed(r"\b\d{3}-\d{4}\b"), 104);
    }
}
