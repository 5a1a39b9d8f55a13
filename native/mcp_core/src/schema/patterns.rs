//! How much the regular expressions of a schema may take.

use jsonschema::{PatternOptions, Regex};
use serde_json::Value;

use super::SchemaLimits;

/// Bytes all regular expressions of one schema may take together, in multiples of what one may.
const SHARE: usize = 16;

/// The regular expressions of a schema and its documents share [`SHARE`] times the limit of one.
pub(super) fn patterns<'v>(
    schemas: impl Iterator<Item = &'v Value>,
    limits: &SchemaLimits,
) -> PatternOptions<Regex> {
    let share = limits.max_regex_bytes.saturating_mul(SHARE);
    let count = count_patterns(schemas.collect());
    let each = share.checked_div(count).unwrap_or(share);
    let size = each.min(limits.max_regex_bytes);
    PatternOptions::regex()
        .size_limit(size)
        .dfa_size_limit(size)
}

/// How many patterns there are at most: every `pattern` and every name in a `patternProperties`.
fn count_patterns(mut open: Vec<&Value>) -> usize {
    let mut count = 0_usize;
    while let Some(value) = open.pop() {
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    let patterns = match (name.as_str(), member) {
                        ("pattern", Value::String(_)) => 1,
                        ("patternProperties", Value::Object(properties)) => properties.len(),
                        _ => 0,
                    };
                    count = count.saturating_add(patterns);
                }
                open.extend(members.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    count
}
