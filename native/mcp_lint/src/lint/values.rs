//! Defaults, examples and enum members that their own schema refuses.

use serde_json::{Map, Value};

use super::finding::{Code, Findings};
use crate::places::{Place, places};
use crate::relation::refers;
use mcp_core::schema::{Formats, SchemaLimits, SchemaOptions, SerdeJson, Validator, compile_with};

/// The most subschemas of one schema whose values are checked: each must be compiled.
const MAX_CHECKED: usize = 256;

/// The URI of a schema without an absolute `$id`.
const UNNAMED: &str = "mcp-lint:///schema";

/// The most bytes that the reference to a place adds to a schema.
const MAX_REFERENCE: usize = 64 * 1024;

pub(super) fn check(
    member: &str,
    schema: &Value,
    formats: &Formats,
    limits: &SchemaLimits,
    found: &mut Findings,
) {
    let checker = Checker {
        root: schema,
        formats,
        limits,
    };
    let places = places(schema).into_iter();
    let objects = places.filter_map(|place| Some((place.schema.as_object()?, place)));
    let holding = objects.filter(|(object, _)| {
        ["default", "examples", "enum"]
            .iter()
            .any(|keyword| object.contains_key(*keyword))
    });
    for (object, place) in holding.take(MAX_CHECKED) {
        let Some(validator) = checker.validator(object, &place) else {
            continue;
        };
        let at = format!("/{member}{}", place.pointer);
        check_values(object, &validator, &at, found);
        check_enum(object, &validator, &at, found);
    }
}

fn check_values(
    object: &Map<String, Value>,
    validator: &Validator<SerdeJson>,
    at: &str,
    found: &mut Findings,
) {
    let default = object.get("default");
    let examples = object.get("examples").and_then(Value::as_array);
    if let Some(default) = default.filter(|value| !validator.is_valid(value)) {
        found.add(
            Code::InvalidDefault,
            &format!("{at}/default"),
            format!(
                "the default {} is refused by its own schema{}",
                shown(default),
                why(validator, default)
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
                    why(validator, example)
                ),
                "Change the example or the schema.",
            );
        }
    }
}

fn check_enum(
    object: &Map<String, Value>,
    validator: &Validator<SerdeJson>,
    at: &str,
    found: &mut Findings,
) {
    let Some(members) = object.get("enum").and_then(Value::as_array) else {
        return;
    };
    // The finding about the unsatisfiable place covers its members.
    if found.has(Code::Unsatisfiable, at) {
        return;
    }
    // The enum accepts its members, so other keywords refuse the member.
    for (index, member) in members.iter().enumerate() {
        if !validator.is_valid(member) {
            found.add(
                Code::InvalidEnum,
                &format!("{at}/enum/{index}"),
                format!(
                    "the member {} is refused by the rest of its schema{}",
                    shown(member),
                    why(validator, member)
                ),
                "Remove the member, or change what stands beside the enum.",
            );
        }
    }
}

/// Compiles subschemas of a schema.
struct Checker<'c> {
    root: &'c Value,
    formats: &'c Formats,
    limits: &'c SchemaLimits,
}

impl Checker<'_> {
    /// `None` if the meaning of the subschema depends on the path to it, or if the subschema does
    /// not compile.
    fn validator(
        &self,
        object: &Map<String, Value>,
        place: &Place<'_>,
    ) -> Option<Validator<SerdeJson>> {
        let dialect = self.root.get("$schema").cloned();
        let dialect = dialect.map(|dialect| ("$schema".to_owned(), dialect));
        if !refers(place.schema) {
            let mut alone = object.clone();
            alone.extend(dialect.filter(|_| !object.contains_key("$schema")));
            return self.compile(alone, &[]);
        }
        if is_dynamic(self.root) {
            return None;
        }
        let id = ["$id", "id"]
            .iter()
            .find_map(|id| self.root.get(*id)?.as_str());
        let uri = id
            .filter(|id| id.contains(':'))
            .map_or(UNNAMED, |id| id.trim_end_matches('#'));
        let mut reference = Map::from_iter(dialect);
        let target = format!("{uri}#{}", fragment(&place.pointer));
        reference.insert("$ref".to_owned(), Value::from(target));
        let text = self.root.to_string();
        self.compile(reference, &[(uri, text.as_bytes())])
    }

    fn compile(
        &self,
        schema: Map<String, Value>,
        documents: &[(&str, &[u8])],
    ) -> Option<Validator<SerdeJson>> {
        let limits = SchemaLimits {
            max_bytes: self.limits.max_bytes.saturating_add(MAX_REFERENCE),
            max_subschemas: self.limits.max_subschemas.saturating_add(1),
            max_refs_on_path: self.limits.max_refs_on_path.saturating_add(1),
            ..*self.limits
        };
        let options = SchemaOptions {
            limits,
            formats: self.formats.clone(),
            documents,
        };
        compile_with(Value::Object(schema).to_string().as_bytes(), &options).ok()
    }
}

/// Whether a schema has references whose target depends on the path to them.
fn is_dynamic(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => object.iter().any(|(keyword, held)| {
            matches!(keyword.as_str(), "$dynamicRef" | "$recursiveRef") || is_dynamic(held)
        }),
        Value::Array(items) => items.iter().any(is_dynamic),
        _ => false,
    }
}

/// A JSON Pointer as the fragment of a URI (RFC 6901, section 6).
fn fragment(pointer: &str) -> String {
    let encoded = pointer.bytes().map(|byte| match byte {
        b'/' | b'~' | b'-' | b'.' | b'_' | b'$' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    });
    encoded.collect()
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

/// A value as text, shortened.
fn shown(value: &Value) -> String {
    const SHOWN: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
    }
}
