//! Values that a schema may accept: its examples, and values at its limits.
//!
//! The values may be invalid, so callers validate them.

use serde_json::{Map, Value, json};

use super::hints::Hints;
use mcp_core::schema::Formats;

/// The most values tried for one subschema, and for a whole schema.
const MAX_INNER: usize = 48;
const MAX_WHOLE: usize = 2_000;

/// The deepest nesting of subschemas that is followed, including references.
const MAX_DEPTH: usize = 6;

/// The longest string, the longest list of scalars, and the longest list of other values.
const MAX_LENGTH: usize = 4_096;
const MAX_ITEMS: usize = 128;
const MAX_HELD_ITEMS: usize = 4;

/// The most values in all objects tried for one subschema.
const MAX_HELD: usize = 100_000;

/// The first sample of either schema that only `inner` accepts, according to `lost`.
pub(super) fn witness(
    outer: &Value,
    inner: &Value,
    lost: impl Fn(&Value) -> bool,
) -> Option<Value> {
    let hints = Hints::of([inner, outer]);
    let mut found = samples(inner, &hints);
    found.extend(samples(outer, &hints));
    found.into_iter().find(lost)
}

pub(super) fn samples(schema: &Value, hints: &Hints) -> Vec<Value> {
    let sampler = Sampler {
        root: schema,
        hints,
    };
    sampler.of(schema, 0)
}

struct Sampler<'s> {
    root: &'s Value,
    hints: &'s Hints,
}

impl Sampler<'_> {
    fn of(&self, schema: &Value, depth: usize) -> Vec<Value> {
        let Some(object) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return of_each_type();
        };
        let mut found = self.given(object, depth);
        for kind in kinds(object) {
            match kind {
                "string" => found.extend(self.strings(object)),
                "integer" | "number" => found.extend(self.numbers(object, kind)),
                "array" => found.extend(self.arrays(object, depth)),
                "object" => found.extend(self.objects(object, depth)),
                "boolean" => found.extend([json!(true), json!(false)]),
                _ => found.push(Value::Null),
            }
        }
        found.truncate(if depth == 0 { MAX_WHOLE } else { MAX_INNER });
        found
    }

    /// The values that the schema names, and the samples of its parts.
    fn given(&self, schema: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let mut found: Vec<Value> = schema.get("const").into_iter().cloned().collect();
        found.extend(schema.get("default").cloned());
        for keyword in ["enum", "examples"] {
            let members = schema.get(keyword).and_then(Value::as_array);
            found.extend(members.into_iter().flatten().cloned());
        }
        let inner = depth.saturating_add(1);
        let target = schema.get("$ref").and_then(Value::as_str);
        let target = target.and_then(|reference| self.root.pointer(reference.strip_prefix('#')?));
        found.extend(target.into_iter().flat_map(|target| self.of(target, inner)));
        for keyword in ["anyOf", "oneOf", "allOf"] {
            let branches = schema.get(keyword).and_then(Value::as_array);
            let branches = branches.into_iter().flatten();
            found.extend(branches.flat_map(|branch| self.of(branch, inner)));
        }
        found
    }

    fn strings(&self, schema: &Map<String, Value>) -> Vec<Value> {
        let own = [length(schema, "minLength").unwrap_or(1), 0];
        let lengths = own.into_iter().chain(self.hints.lengths.iter().copied());
        let texts = lengths
            .filter(|length| *length <= MAX_LENGTH)
            .map(|length| Value::from("a".repeat(length)));
        let format = schema.get("format").and_then(Value::as_str);
        let formatted = format.and_then(Formats::example).filter(|text| {
            let count = text.chars().count();
            length(schema, "minLength").is_none_or(|fewest| fewest <= count)
                && length(schema, "maxLength").is_none_or(|most| count <= most)
        });
        let formatted = formatted.map(Value::from);
        formatted.into_iter().chain(texts).collect()
    }

    fn numbers(&self, schema: &Map<String, Value>, kind: &str) -> Vec<Value> {
        let own = ["minimum", "maximum", "multipleOf"].map(|keyword| schema.get(keyword).cloned());
        let mut found: Vec<Value> = own.into_iter().flatten().collect();
        found.extend([json!(0), json!(1), json!(-1)]);
        found.extend(self.hints.numbers.iter().cloned());
        found.extend([json!(1_000_000_007), json!(-1_000_000_007)]);
        if kind == "number" {
            found.push(json!(0.5));
        }
        found
    }

    fn arrays(&self, schema: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let inner = depth.saturating_add(1);
        let items = schema.get("items").unwrap_or(&Value::Bool(true));
        let items = self.of(items, inner);
        let is_flat = items.iter().all(|item| weight(item) == 1);
        let most = if is_flat { MAX_ITEMS } else { MAX_HELD_ITEMS };
        let fewest = length(schema, "minItems").unwrap_or(0);
        let lengths = [fewest, 1]
            .into_iter()
            .chain(self.hints.lengths.iter().copied());
        let mut found: Vec<Value> = lengths
            .filter(|length| *length <= most)
            .map(|length| items.iter().cycle().take(length).cloned().collect())
            .collect();
        let count = fewest.clamp(1, most);
        found.extend(
            items
                .iter()
                .map(|item| Value::from(vec![item.clone(); count])),
        );
        found
    }

    /// One object with the required properties, then objects that differ in one property.
    fn objects(&self, schema: &Map<String, Value>, depth: usize) -> Vec<Value> {
        let inner = depth.saturating_add(1);
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&empty);
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let values = |name: &str| {
            properties
                .get(name)
                .map_or_else(of_each_type, |held| self.of(held, inner))
        };
        let base: Map<String, Value> = required
            .filter_map(|name| Some((name.to_owned(), values(name).into_iter().next()?)))
            .collect();
        let hinted = self
            .hints
            .names
            .iter()
            .filter(|name| !properties.contains_key(*name));
        let names: Vec<&String> = properties.keys().chain(hinted).collect();
        let mut found = vec![Value::Object(base.clone())];
        found.push(with(&base, "undeclared", Value::Null));
        let room = room(&base, depth);
        let each = room.checked_div(names.len()).unwrap_or(room).max(1);
        for name in names.into_iter().take(room) {
            let differing = values(name).into_iter().take(each);
            found.extend(differing.map(|value| with(&base, name, value)));
        }
        found
    }
}

fn with(base: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut object = base.clone();
    object.insert(name.to_owned(), value);
    Value::Object(object)
}

/// How many objects like `base` are tried.
fn room(base: &Map<String, Value>, depth: usize) -> usize {
    let held: usize = base.values().map(weight).sum();
    let most = if depth == 0 { MAX_WHOLE } else { MAX_INNER };
    let fitting = MAX_HELD.checked_div(held.saturating_add(1));
    fitting.unwrap_or(most).clamp(1, most)
}

/// The number of values in a value, including itself.
fn weight(value: &Value) -> usize {
    let held: usize = match value {
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(members) => members.values().map(weight).sum(),
        _ => 0,
    };
    held.saturating_add(1)
}

/// The types that a schema names, or else the types of its keywords, or else all types.
fn kinds(schema: &Map<String, Value>) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ if ["const", "enum", "$ref"]
            .iter()
            .any(|keyword| schema.contains_key(*keyword)) =>
        {
            Vec::new()
        }
        _ => vec!["object", "string", "number", "array", "boolean", "null"],
    }
}

fn length(schema: &Map<String, Value>, keyword: &str) -> Option<usize> {
    usize::try_from(schema.get(keyword)?.as_u64()?).ok()
}

/// One value of each type.
fn of_each_type() -> Vec<Value> {
    vec![
        json!("a"),
        json!(1),
        json!({}),
        json!([]),
        json!(true),
        Value::Null,
        json!(0.5),
    ]
}
