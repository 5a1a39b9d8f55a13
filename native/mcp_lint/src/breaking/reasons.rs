//! The differences of two schemas, in words.
//!
//! It compares the texts of the schemas place by place. The differences probably explain why one
//! schema does not contain the other; `relation` decides whether it does.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use mcp_core::json::pointer;

/// The direction of the reported differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// Values that are no longer allowed: arguments.
    Narrowed,
    /// Values that are newly allowed: results.
    Widened,
}

/// The most reasons in a list.
const MAX_REASONS: usize = 20;

/// Keywords with a lower limit; `MOST` has those with an upper limit.
const LEAST: &[&str] = &[
    "exclusiveMinimum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
];
const MOST: &[&str] = &[
    "exclusiveMaximum",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
];

/// Keywords for which only the fact of a difference is reported.
const OPAQUE: &[&str] = &[
    "$dynamicRef",
    "$ref",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

/// Keywords that hold schemas by name.
const NAMED: &[&str] = &["properties", "$defs", "definitions"];

pub(super) fn reasons(was: &Value, is: &Value, at: &str, direction: Direction) -> Vec<String> {
    let mut differ = Differ {
        direction,
        found: Vec::new(),
    };
    differ.schemas(was, is, at);
    let count = differ.found.len();
    if let Some(more) = count.checked_sub(MAX_REASONS).filter(|more| *more > 0) {
        differ.found.truncate(MAX_REASONS);
        differ.found.push(format!("and {more} more"));
    }
    differ.found
}

struct Differ {
    direction: Direction,
    found: Vec<String>,
}

impl Differ {
    fn say(&mut self, at: &str, narrowed: impl Into<String>, widened: impl Into<String>) {
        let text = match self.direction {
            Direction::Narrowed => narrowed.into(),
            Direction::Widened => widened.into(),
        };
        self.found.push(format!("{at}: {text}"));
    }

    /// The schema that allows the values, then the schema that refuses them.
    fn ordered<'v>(
        &self,
        was: &'v Map<String, Value>,
        is: &'v Map<String, Value>,
    ) -> [&'v Map<String, Value>; 2] {
        match self.direction {
            Direction::Narrowed => [was, is],
            Direction::Widened => [is, was],
        }
    }

    fn schemas(&mut self, was: &Value, is: &Value, at: &str) {
        if was == is {
            return;
        }
        let (Some(was), Some(is)) = (was.as_object(), is.as_object()) else {
            self.found
                .push(format!("{at}: the schema was {was} and is {is}"));
            return;
        };
        self.types(was, is, at);
        self.members(was, is, at);
        self.required(was, is, at);
        self.properties(was, is, at);
        self.limits(was, is, at);
        for keyword in OPAQUE {
            self.opaque(was, is, keyword, at);
        }
        for keyword in NAMED {
            let held = |schema: &Map<String, Value>| {
                schema.get(*keyword).and_then(Value::as_object).cloned()
            };
            let (Some(was), Some(is)) = (held(was), held(is)) else {
                continue;
            };
            for (name, was) in &was {
                if let Some(is) = is.get(name) {
                    let name = pointer::segment(name);
                    self.schemas(was, is, &format!("{at}/{keyword}/{name}"));
                }
            }
        }
        for keyword in ["items", "additionalProperties"] {
            self.inner(was, is, keyword, at);
        }
    }

    fn inner(
        &mut self,
        was: &Map<String, Value>,
        is: &Map<String, Value>,
        keyword: &str,
        at: &str,
    ) {
        let [was, is] = [was, is].map(|schema| schema.get(keyword));
        let at = format!("{at}/{keyword}");
        match (was, is) {
            (Some(was @ Value::Object(_)), Some(is @ Value::Object(_))) => {
                self.schemas(was, is, &at);
            }
            (None, Some(Value::Object(_))) => {
                self.say(&at, "they have a schema now", "they have a schema now");
            }
            (Some(Value::Object(_)), None) => self.say(
                &at,
                "they have no schema any more",
                "they have no schema any more",
            ),
            _ => {}
        }
    }

    fn types(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        let [allows, refuses] = self.ordered(was, is).map(types);
        let lost: Vec<&str> = allows
            .into_iter()
            .filter(|kind| {
                let is_number = *kind == "integer" && refuses.contains("number");
                !is_number && !refuses.contains(kind)
            })
            .collect();
        if !lost.is_empty() {
            let lost = lost.join(", ");
            self.say(
                at,
                format!("no longer of type {lost}"),
                format!("may now be of type {lost}"),
            );
        }
    }

    fn members(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        let [allows, refuses] = self
            .ordered(was, is)
            .map(|schema| schema.get("enum").and_then(Value::as_array));
        match (allows, refuses) {
            (None, Some(_)) => self.say(
                at,
                "only the values of `enum` are accepted now",
                "the values are no longer limited by `enum`",
            ),
            (Some(allows), Some(refuses)) => {
                for member in allows.iter().filter(|member| !refuses.contains(member)) {
                    self.say(
                        at,
                        format!("{member} is no longer one of the values"),
                        format!("{member} is a new value"),
                    );
                }
            }
            _ => {}
        }
    }

    fn required(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        let [allows, refuses] = self.ordered(was, is).map(required);
        for name in refuses.difference(&allows) {
            self.say(
                at,
                format!("the property {name:?} is now required"),
                format!("the property {name:?} may now be missing"),
            );
        }
    }

    fn properties(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        let ordered = self.ordered(was, is);
        let [allows, refuses] = ordered.map(properties);
        let [allows_only, refuses_others] =
            ordered.map(|schema| schema.get("additionalProperties") == Some(&Value::Bool(false)));
        for name in allows.difference(&refuses).filter(|_| refuses_others) {
            self.say(
                at,
                format!("the property {name:?} is no longer accepted"),
                format!("the property {name:?} may now be there"),
            );
        }
        for name in refuses.difference(&allows).filter(|_| !allows_only) {
            self.say(
                at,
                format!("the property {name:?}, which could be anything, has a schema now"),
                format!("the property {name:?}, which had a schema, may be anything now"),
            );
        }
        if refuses_others && !allows_only {
            self.say(
                at,
                "properties that are not declared are no longer accepted",
                "properties that are not declared may now be there",
            );
        }
    }

    fn limits(&mut self, was: &Map<String, Value>, is: &Map<String, Value>, at: &str) {
        let [allows, refuses] = self.ordered(was, is);
        for (keywords, is_least) in [(LEAST, true), (MOST, false)] {
            for keyword in keywords {
                let limit =
                    |schema: &Map<String, Value>| schema.get(*keyword).and_then(Value::as_f64);
                let is_tighter = match (limit(allows), limit(refuses)) {
                    (None, Some(_)) => true,
                    (Some(loose), Some(tight)) if is_least => loose < tight,
                    (Some(loose), Some(tight)) => loose > tight,
                    _ => false,
                };
                if is_tighter {
                    self.differs(was, is, keyword, at);
                }
            }
        }
    }

    fn opaque(
        &mut self,
        was: &Map<String, Value>,
        is: &Map<String, Value>,
        keyword: &str,
        at: &str,
    ) {
        let [allows, refuses] = self.ordered(was, is);
        // A removed keyword refuses nothing.
        if refuses.contains_key(keyword) && allows.get(keyword) != refuses.get(keyword) {
            self.differs(was, is, keyword, at);
        }
    }

    fn differs(
        &mut self,
        was: &Map<String, Value>,
        is: &Map<String, Value>,
        keyword: &str,
        at: &str,
    ) {
        let text = match (was.get(keyword), is.get(keyword)) {
            (Some(was), Some(is)) if is_plain(was) && is_plain(is) => {
                format!("`{keyword}` was {was} and is {is}")
            }
            (None, Some(is)) if is_plain(is) => format!("`{keyword}` {is} is new"),
            (Some(was), None) if is_plain(was) => format!("`{keyword}` {was} is gone"),
            (None, _) => format!("`{keyword}` is new"),
            (_, None) => format!("`{keyword}` is gone"),
            _ => format!("`{keyword}` was changed"),
        };
        self.found.push(format!("{at}: {text}"));
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_object() && !value.is_array()
}

fn types(schema: &Map<String, Value>) -> BTreeSet<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => BTreeSet::from([kind.as_str()]),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::from([
            "array", "boolean", "integer", "null", "number", "object", "string",
        ]),
    }
}

fn required(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let names = schema.get("required").and_then(Value::as_array);
    names
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn properties(schema: &Map<String, Value>) -> BTreeSet<&str> {
    let names = schema.get("properties").and_then(Value::as_object);
    names
        .into_iter()
        .flat_map(Map::keys)
        .map(String::as_str)
        .collect()
}
