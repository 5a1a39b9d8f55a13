//! Hints from the keywords of schemas for values to try: limits and names.

use serde_json::{Map, Value};

/// The most hints of each kind.
const MAX_HINTS: usize = 64;

/// Numbers, lengths and names from one or more schemas.
#[derive(Default)]
pub(super) struct Hints {
    /// Limits of numbers, and their neighbours.
    pub(super) numbers: Vec<Value>,
    /// Limits of lengths, and their neighbours.
    pub(super) lengths: Vec<usize>,
    /// Names of properties.
    pub(super) names: Vec<String>,
}

impl Hints {
    pub(super) fn of<'s>(schemas: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut hints = Self::default();
        let mut open: Vec<&Value> = schemas.into_iter().collect();
        while let Some(value) = open.pop() {
            match value {
                Value::Object(object) => {
                    hints.read(object);
                    open.extend(object.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        hints.names.sort();
        hints.names.dedup();
        hints.names.truncate(MAX_HINTS);
        hints.lengths.sort_unstable();
        hints.lengths.dedup();
        hints.lengths.truncate(MAX_HINTS);
        hints.numbers.truncate(MAX_HINTS);
        hints
    }

    fn read(&mut self, schema: &Map<String, Value>) {
        for (keyword, value) in schema {
            match keyword.as_str() {
                "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                    self.number(value);
                }
                "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties"
                | "maxProperties" => self.length(value),
                "properties" => {
                    let names = value.as_object().into_iter().flat_map(Map::keys);
                    self.names.extend(names.cloned());
                }
                "required" => {
                    let names = value.as_array().into_iter().flatten();
                    self.names
                        .extend(names.filter_map(|name| Some(name.as_str()?.to_owned())));
                }
                _ => {}
            }
        }
    }

    fn number(&mut self, limit: &Value) {
        let near = |add: i64| limit.as_i64().and_then(|limit| limit.checked_add(add));
        let whole = [near(0), near(1), near(-1)].into_iter().flatten();
        self.numbers.extend(whole.map(Value::from));
        if limit.as_i64().is_none() {
            let limit = limit.as_f64().unwrap_or_default();
            let near = [limit, limit.floor(), limit.ceil(), limit - 0.5, limit + 0.5];
            self.numbers.extend(near.map(Value::from));
        }
    }

    fn length(&mut self, limit: &Value) {
        let limit = limit.as_u64().and_then(|limit| usize::try_from(limit).ok());
        if let Some(limit) = limit {
            self.lengths
                .extend([limit.saturating_sub(1), limit, limit.saturating_add(1)]);
        }
    }
}
