//! The keywords that hold subschemas, and the values that those subschemas apply to.

use serde_json::{Map, Value};

use crate::json::pointer;

/// The value that a subschema applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// The value of the parent schema.
    Same,
    /// The name of a property.
    Name,
    /// An item or a property.
    Child,
    /// No value: the subschema is only a target of references.
    None,
}

/// How a keyword holds its subschemas.
#[derive(Clone, Copy)]
enum Holds {
    One,
    List,
    Map,
}

/// Keywords of every draft that hold subschemas. A keyword that holds a schema in one draft and a
/// list in another (`items`) is listed as `One`: the type of its value shows a list.
const APPLICATORS: &[(&str, Holds, Target)] = &[
    ("allOf", Holds::List, Target::Same),
    ("anyOf", Holds::List, Target::Same),
    ("oneOf", Holds::List, Target::Same),
    ("not", Holds::One, Target::Same),
    ("if", Holds::One, Target::Same),
    ("then", Holds::One, Target::Same),
    ("else", Holds::One, Target::Same),
    ("dependentSchemas", Holds::Map, Target::Same),
    ("dependencies", Holds::Map, Target::Same),
    ("propertyNames", Holds::One, Target::Name),
    ("properties", Holds::Map, Target::Child),
    ("patternProperties", Holds::Map, Target::Child),
    ("additionalProperties", Holds::One, Target::Child),
    ("unevaluatedProperties", Holds::One, Target::Child),
    ("items", Holds::One, Target::Child),
    ("prefixItems", Holds::List, Target::Child),
    ("additionalItems", Holds::One, Target::Child),
    ("unevaluatedItems", Holds::One, Target::Child),
    ("contains", Holds::One, Target::Child),
    ("contentSchema", Holds::One, Target::Child),
    ("$defs", Holds::Map, Target::None),
    ("definitions", Holds::Map, Target::None),
];

/// Keywords without constraints.
const ANNOTATIONS: &[&str] = &[
    "$comment",
    "default",
    "deprecated",
    "description",
    "examples",
    "readOnly",
    "title",
    "writeOnly",
];

/// Keywords that hold data, never a schema.
const DATA: &[&str] = &["const", "default", "enum", "example", "examples"];

/// Keywords that check the value itself.
const ASSERTIONS: &[&str] = &[
    "const",
    "dependentRequired",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "pattern",
    "required",
    "type",
    "uniqueItems",
];

/// Whether a keyword is an annotation in every draft.
#[must_use]
pub fn is_annotation(keyword: &str) -> bool {
    ANNOTATIONS.contains(&keyword)
}

/// The subschemas that `schema` holds directly. The content of an unknown keyword counts as one,
/// because a reference may lead there.
pub(super) fn children(schema: &Map<String, Value>) -> Vec<(Target, &Value)> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let (holds, target) = match applicator(keyword) {
            Some(entry) => entry,
            None if DATA.contains(&keyword.as_str()) => continue,
            None => (Holds::One, Target::None),
        };
        // Only applicators give booleans the meaning of a schema.
        let boolean = target != Target::None || matches!(holds, Holds::Map);
        let held = held(holds, value);
        found.extend(
            held.filter(|value| value.is_object() || (boolean && value.is_boolean()))
                .map(|value| (target, value)),
        );
    }
    found
}

/// A subschema with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Subschema<'s> {
    /// The keyword that holds it.
    pub keyword: &'s str,
    /// JSON Pointer from the schema that has the keyword.
    pub pointer: String,
    /// An object or a boolean.
    pub schema: &'s Value,
}

/// The subschemas in the keywords of `schema`, in source order.
///
/// # Examples
/// ```
/// use mcp_core::schema::subschemas;
///
/// let schema = serde_json::json!({"properties": {"a/b": true}, "items": {}, "enum": [{}]});
/// let found = subschemas(schema.as_object().unwrap());
/// let pointers: Vec<&str> = found.iter().map(|found| found.pointer.as_str()).collect();
/// assert_eq!(pointers, ["/properties/a~1b", "/items"]);
/// ```
#[must_use]
pub fn subschemas(schema: &Map<String, Value>) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    for (keyword, value) in schema {
        let mut add = |pointer: String, schema| {
            found.push(Subschema {
                keyword,
                pointer,
                schema,
            });
        };
        match (applicator(keyword), value) {
            (Some((Holds::Map, _)), Value::Object(members)) => {
                for (name, member) in members {
                    add(format!("/{keyword}/{}", pointer::segment(name)), member);
                }
            }
            // Before 2020-12 `items` may also be a list.
            (Some((Holds::List | Holds::One, _)), Value::Array(members)) => {
                for (index, member) in members.iter().enumerate() {
                    add(format!("/{keyword}/{index}"), member);
                }
            }
            (Some((Holds::One, _)), one) => add(format!("/{keyword}"), one),
            _ => {}
        }
    }
    found.retain(|found| found.schema.is_object() || found.schema.is_boolean());
    found
}

/// The schema with `change` applied to each subschema, and to each value that may be one.
#[must_use]
pub fn rewritten(schema: &Value, change: &impl Fn(&mut Map<String, Value>)) -> Value {
    match schema {
        Value::Object(members) => {
            let mut members = members.clone();
            change(&mut members);
            for (keyword, held) in &mut members {
                if DATA.contains(&keyword.as_str()) {
                    continue;
                }
                match (applicator(keyword), &mut *held) {
                    (Some((Holds::Map, _)), Value::Object(named)) => {
                        for member in named.values_mut() {
                            *member = rewritten(member, change);
                        }
                    }
                    _ => *held = rewritten(held, change),
                }
            }
            Value::Object(members)
        }
        Value::Array(items) => items.iter().map(|item| rewritten(item, change)).collect(),
        other => other.clone(),
    }
}

fn applicator(keyword: &str) -> Option<(Holds, Target)> {
    let entry = APPLICATORS.iter().find(|(name, ..)| *name == keyword);
    entry.map(|&(_, holds, target)| (holds, target))
}

fn held(holds: Holds, value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match (holds, value) {
        (Holds::Map, Value::Object(members)) => Box::new(members.values()),
        (Holds::Map, _) => Box::new(std::iter::empty()),
        (_, Value::Array(items)) => Box::new(items.iter()),
        (_, single) => Box::new(std::iter::once(single)),
    }
}

/// Whether no keyword of `schema` reads the value: such a subschema spends no steps.
pub(super) fn is_silent(schema: &Map<String, Value>) -> bool {
    !schema.keys().any(|keyword| {
        ASSERTIONS.contains(&keyword.as_str())
            || applicator(keyword).is_some_and(|(_, target)| target != Target::None)
    })
}

/// The references of `schema`, and whether each is a `$recursiveRef`.
pub(super) fn references(schema: &Map<String, Value>) -> impl Iterator<Item = (bool, &str)> {
    ["$ref", "$dynamicRef", "$recursiveRef"]
        .into_iter()
        .filter_map(|keyword| {
            let reference = schema.get(keyword)?.as_str()?;
            Some((keyword == "$recursiveRef", reference))
        })
}

/// Whether `schema` depends on the properties or items that other keywords have evaluated.
pub(super) fn asks_for_evaluated(schema: &Map<String, Value>) -> bool {
    schema.contains_key("unevaluatedProperties") || schema.contains_key("unevaluatedItems")
}
