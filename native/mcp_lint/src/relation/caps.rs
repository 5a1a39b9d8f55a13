//! Limits for questions to the algebra: it has budgets too, but spends seconds before it gives up.
//!
//! Measured with the optimised crate: an `allOf` of ten `not`s takes 5 s and of ten `if`s 2 s. The
//! difference of two objects with 200 properties takes 7 s, of two enums with 10,000 members 3 s.
//! Within these caps the slowest of 12,000 questions about random schemas took a sixth of a second.

use serde_json::Value;

/// The most subschemas and other objects of a schema that is compared with another.
pub(super) const MAX_COMPARED: usize = 64;

/// The most subschemas and other objects of a schema that is only read.
pub(super) const MAX_READ: usize = 1_000;

/// The most `not` and `if` keywords: each splits the intermediate result.
const MAX_SPLITS: usize = 4;

/// The most members of all `anyOf`, `oneOf` and `allOf` together.
const MAX_BRANCHES: usize = 48;

/// The most members of all `enum` together.
const MAX_MEMBERS: usize = 1_000;

/// Whether a schema is small enough for the algebra.
pub(super) fn within(schema: &Value, max_objects: usize) -> bool {
    let (mut objects, mut splits, mut branches, mut members) = (0_usize, 0_usize, 0_usize, 0_usize);
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(object) => {
                objects = objects.saturating_add(1);
                for (keyword, held) in object {
                    let length = held.as_array().map_or(0, Vec::len);
                    match keyword.as_str() {
                        "not" | "if" => splits = splits.saturating_add(1),
                        "anyOf" | "oneOf" | "allOf" => branches = branches.saturating_add(length),
                        "enum" => {
                            members = members.saturating_add(length);
                            continue;
                        }
                        "const" | "default" | "examples" => continue,
                        _ => {}
                    }
                    open.push(held);
                }
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    objects <= max_objects
        && splits <= MAX_SPLITS
        && branches <= MAX_BRANCHES
        && members <= MAX_MEMBERS
}

/// Whether a schema has references.
pub(crate) fn refers(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.iter().any(|(keyword, held)| {
            matches!(keyword.as_str(), "$ref" | "$dynamicRef" | "$recursiveRef") || refers(held)
        }),
        Value::Array(items) => items.iter().any(refers),
        _ => false,
    }
}
