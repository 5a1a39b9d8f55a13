//! Describes the expectation of a keyword, in words that follow "must be".

use jsonschema::JsonType;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// Total bytes of the allowed values of one problem.
const MAX_ALLOWED: usize = 384;

pub(super) const NULL: &str = "null";

/// The expectation, and the values that the schema lists.
pub(super) fn expected(kind: &Kind) -> (String, Vec<String>) {
    match kind {
        Kind::Constant { expected_value } => one_of(std::iter::once(expected_value.as_ref())),
        Kind::Enum { options } => one_of(
            options
                .as_array()
                .map(Vec::as_slice)
                .unwrap_or_default()
                .iter(),
        ),
        // An error of [`super::exact`].
        Kind::Custom { keyword, message } if keyword == "const" => {
            let value: Value = serde_json::from_str(message).unwrap_or_default();
            one_of(std::iter::once(&value))
        }
        other => (described(other), Vec::new()),
    }
}

fn described(kind: &Kind) -> String {
    match kind {
        Kind::Type { kind } => types(&type_names(kind)),
        Kind::Required { property } => format!("an object with the property {property}"),
        Kind::Minimum { limit } => format!("at least {limit}"),
        Kind::Maximum { limit } => format!("at most {limit}"),
        Kind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        Kind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        Kind::MultipleOf { multiple_of } => format!("a multiple of {multiple_of}"),
        Kind::Custom { keyword, message } => match keyword.as_str() {
            "minimum" => format!("at least {message}"),
            "maximum" => format!("at most {message}"),
            "exclusiveMinimum" => format!("more than {message}"),
            "exclusiveMaximum" => format!("less than {message}"),
            _ => format!("a multiple of {message}"),
        },
        Kind::MinLength { limit } => format!("a string of at least {}", some(*limit, "character")),
        Kind::MaxLength { limit } => format!("a string of at most {}", some(*limit, "character")),
        Kind::MinItems { limit } => format!("an array of at least {}", some(*limit, "item")),
        Kind::MaxItems { limit } => format!("an array of at most {}", some(*limit, "item")),
        Kind::MinProperties { limit } => {
            format!("an object with at least {}", properties(*limit))
        }
        Kind::MaxProperties { limit } => format!("an object with at most {}", properties(*limit)),
        Kind::AdditionalItems { limit } => format!("an array of at most {limit} items"),
        Kind::Pattern { pattern } => format!("a string that matches the pattern {pattern}"),
        Kind::Format { format } => super::formats::described(format),
        Kind::PropertyNames { error } => {
            format!(
                "an object whose every property name is {}",
                expected(error.kind()).0
            )
        }
        other => fixed(other).to_owned(),
    }
}

fn fixed(kind: &Kind) -> &'static str {
    match kind {
        Kind::UniqueItems => "an array without duplicates",
        Kind::UnevaluatedItems { .. } => "an array without further items",
        Kind::Not { .. } => "something else than the schema rules out",
        Kind::AnyOf { .. } | Kind::OneOfNotValid { .. } => "valid under one of the alternatives",
        Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
            "a string the pattern can be matched against"
        }
        _ => "a value that satisfies the schema",
    }
}

/// The names of the requested types, `null` last for readability.
pub(super) fn type_names(kind: &TypeKind) -> Vec<&'static str> {
    let mut names: Vec<&str> = match kind {
        TypeKind::Single(one) => vec![type_name(*one)],
        TypeKind::Multiple(several) => several.iter().map(type_name).collect(),
    };
    names.sort_by_key(|name| *name == NULL);
    names
}

/// The description of a type in a schema.
pub(super) fn named_type(name: &str) -> Option<&'static str> {
    Some(match name {
        "array" => "an array",
        "boolean" => "a boolean",
        "integer" => "an integer",
        "null" => NULL,
        "number" => "a number",
        "object" => "an object",
        "string" => "a string",
        _ => return None,
    })
}

const fn type_name(kind: JsonType) -> &'static str {
    match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => NULL,
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    }
}

/// `a string`, `a string or null`, `a string, a number or null`.
pub(super) fn types(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `one of 1, 2`, or a single value without "one of"; and the values' JSON texts. A long list is
/// cut.
pub(super) fn one_of<'v>(values: impl Iterator<Item = &'v Value>) -> (String, Vec<String>) {
    let mut allowed: Vec<String> = Vec::new();
    let (mut bytes, mut left_out) = (0_usize, 0_usize);
    for value in values {
        let text = value.to_string();
        if bytes.saturating_add(text.len()) > MAX_ALLOWED {
            left_out = left_out.saturating_add(1);
        } else if !allowed.contains(&text) {
            bytes = bytes.saturating_add(text.len()).saturating_add(2);
            allowed.push(text);
        }
    }
    let text = match (allowed.as_slice(), left_out) {
        ([], 0) => "absent".to_owned(),
        ([], _) => "one of the values the schema lists".to_owned(),
        ([one], 0) => one.clone(),
        (some, 0) => format!("one of {}", some.join(", ")),
        (some, more) => format!("one of {} or {more} more", some.join(", ")),
    };
    (text, allowed)
}

/// `1 item`, `2 items`.
pub(super) fn some(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn properties(count: u64) -> String {
    if count == 1 {
        "1 property".to_owned()
    } else {
        format!("{count} properties")
    }
}
