//! Schemas that clients refuse or misread. `guides/lint.md` names the clients and the reports.

use serde_json::{Map, Value};

use super::finding::{Code, Findings};
use crate::places::{Place, Role, places};
use mcp_core::arguments::{ArgumentRule, Cast};
use mcp_core::catalog::ToolRule;
use mcp_core::json::pointer;
use mcp_core::schema::{Formats, dialect};

/// Keywords that clients refuse at the root of an input schema. `then` and `else` mean nothing
/// without `if`.
const ROOT: &[&str] = &[
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "if",
    "dependentSchemas",
    "enum",
    "const",
    "propertyNames",
    "patternProperties",
];

/// Keywords that some clients do not support below the root.
const NESTED: &[&str] = &["oneOf", "allOf", "not", "if"];

const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// With one of these keywords a property has a type, or its type cannot be known.
const TYPED: &[&str] = &[
    "type",
    "enum",
    "const",
    "$ref",
    "$dynamicRef",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
];

/// The longest name of a property.
const MAX_NAME: usize = 64;

pub(super) fn check_input(schema: &Value, rule: &ToolRule, found: &mut Findings) {
    check_root(schema, found);
    let draft = dialect(schema, &[]).unwrap_or_default();
    let mut is_told_of_reference = false;
    for place in places(schema) {
        let at = format!("/inputSchema{}", place.pointer);
        let Some(object) = place.schema.as_object() else {
            check_boolean(&place, &at, found);
            continue;
        };
        let cast = cast(rule.arguments.as_ref(), &place.pointer);
        check_type(object, &place, cast, &at, found);
        check_array(object, &at, found);
        // The author has chosen the type, such as `:date`, and cannot leave its format out.
        if cast.is_none() {
            check_format(
                object,
                |format| rule.formats.asserts(draft, format),
                &at,
                found,
            );
        }
        check_enum(object, &at, found);
        if place.role != Role::Root {
            check_nested(object, &at, found);
        }
        if !is_told_of_reference {
            is_told_of_reference = check_reference(object, &at, found);
        }
    }
}

/// Before 2026-07-28 an output schema must describe an object.
pub(super) fn check_output(schema: &Value, found: &mut Findings) {
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        found.add(
            Code::OutputRoot,
            "/outputSchema",
            "the output schema does not say `\"type\": \"object\"`: clients of revisions before 2026-07-28 do not get it"
                .to_owned(),
            "Return an object that holds the value, or accept that older clients know no output schema.",
        );
    }
}

fn check_root(schema: &Value, found: &mut Findings) {
    for keyword in ROOT {
        if schema.get(*keyword).is_some() {
            found.add(
                Code::RootCombinator,
                &format!("/inputSchema/{keyword}"),
                format!("`{keyword}` stands at the root of the input schema"),
                "Declare all properties at the root, say in their descriptions which go together, and check it in the handler.",
            );
        }
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    for name in properties
        .into_iter()
        .flat_map(Map::keys)
        .filter(|name| !is_plain(name))
    {
        found.add(
            Code::PropertyName,
            &format!("/inputSchema/properties/{}", pointer::segment(name)),
            format!("the argument {name:?} is not named by 1 to {MAX_NAME} characters of A-Z a-z 0-9 _ . -"),
            "Rename it, and map the name in the handler.",
        );
    }
}

fn is_plain(name: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(is_allowed)
}

fn check_boolean(place: &Place<'_>, at: &str, found: &mut Findings) {
    if matches!(place.role, Role::Property | Role::Items) {
        let advice = match (place.schema, place.role) {
            (Value::Bool(true), _) => "Say which type it has, in an object.",
            (_, Role::Property) => {
                "Leave the property out; `\"additionalProperties\": false` refuses it, too."
            }
            _ => "Bound the number of elements with `maxItems`.",
        };
        found.add(
            Code::BooleanSchema,
            at,
            format!("the schema is `{}`, which is no object", place.schema),
            advice,
        );
    }
}

fn check_type(
    object: &Map<String, Value>,
    place: &Place<'_>,
    cast: Option<Cast>,
    at: &str,
    found: &mut Findings,
) {
    if let Some(Value::Array(types)) = object.get("type") {
        let types: Vec<&str> = types.iter().filter_map(Value::as_str).collect();
        // A decimal is always a string or a number.
        if cast != Some(Cast::Decimal) || types != ["string", "number"] {
            found.add(
                Code::TypeUnion,
                at,
                format!("the type is a list: {}", types.join(", ")),
                "Choose one type; what may be null can be left out of `required` instead.",
            );
        }
    }
    if place.role == Role::Property && !TYPED.iter().any(|keyword| object.contains_key(*keyword)) {
        found.add(
            Code::MissingType,
            at,
            "the property has no `type`".to_owned(),
            "Say which type it has.",
        );
    }
}

fn check_array(object: &Map<String, Value>, at: &str, found: &mut Findings) {
    let is_array = match object.get("type") {
        Some(Value::String(kind)) => kind == "array",
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        _ => false,
    };
    if is_array && !object.contains_key("items") {
        found.add(
            Code::ArrayItems,
            at,
            "the array has no `items`".to_owned(),
            "Say what its elements are, such as `items: :string`.",
        );
    }
}

/// The type that strings at this place are converted to, and so must be valid for.
fn cast(rule: Option<&ArgumentRule>, pointer: &str) -> Option<Cast> {
    let mut rule = rule;
    let mut segments = pointer.split('/').skip(1);
    while let Some(segment) = segments.next() {
        rule = match (segment, rule) {
            ("items", Some(rule)) => rule.items.as_deref(),
            ("properties", Some(rule)) => {
                let name = segments.next().map(pointer::name);
                name.and_then(|name| rule.properties.get(&name))
            }
            _ => None,
        };
    }
    rule.and_then(|rule| rule.cast)
}

fn check_format(
    object: &Map<String, Value>,
    is_checked: impl Fn(&str) -> bool,
    at: &str,
    found: &mut Findings,
) {
    let format = object.get("format").and_then(Value::as_str);
    let Some(format) = format.filter(|format| *format != "date-time") else {
        return;
    };
    let advice = if is_checked(format) {
        "Describe the form in words beside it, and ignore this where every client takes it; calls are checked either way."
    } else if Formats::known().any(|known| known == format) {
        "Describe the form in words beside it. Calls are not checked for it: name it in `formats:` of the tool or the router if they should be."
    } else {
        "Describe the form in words beside it. Calls are not checked for it: the server does not know this format; write a `pattern` if they should be."
    };
    found.add(
        Code::Format,
        at,
        format!("the format {format:?} is one that some clients refuse"),
        advice,
    );
}

fn check_enum(object: &Map<String, Value>, at: &str, found: &mut Findings) {
    let Some(members) = object.get("enum").and_then(Value::as_array) else {
        return;
    };
    if members.iter().any(|member| !member.is_string()) {
        found.add(
            Code::EnumType,
            at,
            "the enum has members that are no strings".to_owned(),
            "Use strings, or describe the allowed values with `minimum` and `maximum` or in words.",
        );
    } else if !object.contains_key("type") {
        found.add(
            Code::EnumType,
            at,
            "the enum has no `type` beside it".to_owned(),
            "Add `\"type\": \"string\"`.",
        );
    }
}

fn check_nested(object: &Map<String, Value>, at: &str, found: &mut Findings) {
    for keyword in NESTED
        .iter()
        .filter(|keyword| object.contains_key(**keyword))
    {
        found.add(
            Code::Combinator,
            &format!("{at}/{keyword}"),
            format!("`{keyword}` is not known to every client"),
            "Use `anyOf`, or one plain schema and a description.",
        );
    }
}

fn check_reference(object: &Map<String, Value>, at: &str, found: &mut Findings) -> bool {
    let keyword = REFERENCES
        .iter()
        .find(|keyword| object.contains_key(**keyword));
    if let Some(keyword) = keyword {
        found.add(
            Code::Reference,
            &format!("{at}/{keyword}"),
            format!("`{keyword}` is not followed by every client"),
            "Write the schema where it is used.",
        );
    }
    keyword.is_some()
}
