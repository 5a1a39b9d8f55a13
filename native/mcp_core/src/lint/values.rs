//! Defaults, examples and enum members that their own schema refuses.

use serde_json::{Map, Value};

use super::finding::{Code, Findings};
use super::places::places;
use crate::schema::{SchemaLimits, SerdeJson, Validator, compile};

/// Subschemas of one schema whose values are checked: each is compiled for it.
const MAX_CHECKED: usize = 256;

pub(super) fn check(member: &str, schema: &Value, limits: &SchemaLimits, found: &mut Findings) {
    let places = places(schema).into_iter();
    let objects = places.filter_map(|place| Some((place.pointer, place.schema.as_object()?)));
    let holding = objects.filter(|(_, object)| {
        ["default", "examples", "enum"]
            .iter()
            .any(|keyword| object.contains_key(*keyword))
    });
    for (pointer, object) in holding.take(MAX_CHECKED) {
        let at = format!("/{member}{pointer}");
        check_values(object, schema, &at, limits, found);
        check_enum(object, schema, &at, limits, found);
    }
}

fn check_values(
    object: &Map<String, Value>,
    root: &Value,
    at: &str,
    limits: &SchemaLimits,
    found: &mut Findings,
) {
    let default = object.get("default");
    let examples = object.get("examples").and_then(Value::as_array);
    if default.is_none() && examples.is_none() {
        return;
    }
    let Some(validator) = validator(object, root, limits) else {
        return;
    };
    if let Some(default) = default.filter(|value| !validator.is_valid(value)) {
        found.add(
            Code::InvalidDefault,
            &format!("{at}/default"),
            format!(
                "the default {} is refused by its own schema{}",
                shown(default),
                why(&validator, default)
            ),
            "Change the default or the schema.",
        );
    }
    for (index, example) in examples.into_iter().flatten().enumerate() {
        if !validator.is_valid(example) {
            found.add(
                Code::InvalidExample,
                &format!("{at}/examples/{index}"),
                format!(
                    "the example {} is refused by its own schema{}",
                    shown(example),
                    why(&validator, example)
                ),
                "Change the example or the schema.",
            );
        }
    }
}

fn check_enum(
    object: &Map<String, Value>,
    root: &Value,
    at: &str,
    limits: &SchemaLimits,
    found: &mut Findings,
) {
    let Some(members) = object.get("enum").and_then(Value::as_array) else {
        return;
    };
    // That none of them is allowed has been found already.
    if found.has(Code::Unsatisfiable, at) {
        return;
    }
    let mut rest = object.clone();
    rest.shift_remove("enum");
    let Some(validator) = validator(&rest, root, limits) else {
        return;
    };
    for (index, member) in members.iter().enumerate() {
        if !validator.is_valid(member) {
            found.add(
                Code::InvalidEnum,
                &format!("{at}/enum/{index}"),
                format!(
                    "the member {} is refused by the rest of its schema{}",
                    shown(member),
                    why(&validator, member)
                ),
                "Remove the member, or change what stands beside the enum.",
            );
        }
    }
}

/// A subschema on its own, with the definitions it may refer to; `None` where it refers to
/// something else.
fn validator(
    object: &Map<String, Value>,
    root: &Value,
    limits: &SchemaLimits,
) -> Option<Validator<SerdeJson>> {
    let mut alone = object.clone();
    for keyword in ["$schema", "$defs", "definitions"] {
        if let Some(value) = root.get(keyword)
            && !alone.contains_key(keyword)
        {
            alone.insert(keyword.to_owned(), value.clone());
        }
    }
    compile(Value::Object(alone).to_string().as_bytes(), limits).ok()
}

fn why(validator: &Validator<SerdeJson>, value: &Value) -> String {
    let problems = validator.check(value).err().unwrap_or_default();
    match problems.first() {
        Some(problem) if problem.pointer.is_empty() => {
            format!(", which wants {} ({})", problem.expected, problem.keyword)
        }
        Some(problem) => format!(", at {problem}"),
        None => String::new(),
    }
}

/// A value as far as it is worth showing.
fn shown(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
