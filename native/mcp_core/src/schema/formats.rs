//! The formats that are asserted, and their descriptions.

use jsonschema::json::Json;
use jsonschema::{Draft, ValidationOptions};
use serde::Deserialize;

use super::SchemaError;
use super::meter::{Stop, stop};

/// The weight of a byte of a string that must have a format, as of a byte that a pattern matches.
const FORMAT_WEIGHT: u64 = 4;

/// The weight of a byte of a regular expression: its parser keeps the open groups and the names.
const REGEX_WEIGHT: u64 = 128;

/// Comparisons of group names for each byte of a regular expression; each takes a nanosecond.
const MAX_COMPARISONS_A_BYTE: usize = 16;

/// How the keyword `format` is treated.
///
/// Unknown formats are always annotations: a schema may define its own.
///
/// # Examples
/// ```
/// use mcp_core::schema::{Formats, SchemaOptions, SerdeJson, compile_with};
///
/// let options = SchemaOptions { formats: Formats::Assert, ..SchemaOptions::default() };
/// let validator = compile_with::<SerdeJson>(br#"{"format": "date"}"#, &options)?;
/// let problems = validator.check(&serde_json::json!("31.1.2026")).unwrap_err();
/// assert_eq!(problems[0].to_string(), "(root): must be a date such as 2026-01-31 (format)");
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(
    rename_all = "lowercase",
    expecting = "\"annotate\", \"assert\" or a list of formats"
)]
pub enum Formats {
    /// `format` is an annotation, as in 2019-09 and 2020-12, unless a dialect among the documents
    /// asserts it.
    #[default]
    Annotate,
    /// Every known format is asserted.
    Assert,
    /// The listed formats are asserted; the others are annotations.
    #[serde(untagged)]
    Only(Vec<String>),
}

/// Name, first draft with the format, and an example that follows "must be".
///
/// The internationalised names (`idn-email`, `idn-hostname`) are unknown: their Unicode tables are
/// larger than the rest of this library.
const KNOWN: [(&str, Draft, &str); 17] = [
    ("date", Draft::Draft4, "a date such as 2026-01-31"),
    (
        "date-time",
        Draft::Draft4,
        "a date and time with an offset such as 2026-01-31T09:30:00Z",
    ),
    ("duration", Draft::Draft201909, "a duration such as PT1H30M"),
    (
        "email",
        Draft::Draft4,
        "an e-mail address such as name@example.com",
    ),
    ("hostname", Draft::Draft4, "a host name such as example.com"),
    ("ipv4", Draft::Draft4, "an IPv4 address such as 192.0.2.1"),
    ("ipv6", Draft::Draft4, "an IPv6 address such as 2001:db8::1"),
    (
        "iri",
        Draft::Draft7,
        "an absolute IRI such as https://example.com/path",
    ),
    (
        "iri-reference",
        Draft::Draft7,
        "an IRI or a relative reference such as ../path",
    ),
    (
        "json-pointer",
        Draft::Draft6,
        "a JSON Pointer such as /items/0",
    ),
    ("regex", Draft::Draft4, "a regular expression of ECMA-262"),
    (
        "relative-json-pointer",
        Draft::Draft7,
        "a relative JSON Pointer such as 1/items",
    ),
    (
        "time",
        Draft::Draft4,
        "a time with an offset such as 09:30:00Z",
    ),
    (
        "uri",
        Draft::Draft4,
        "an absolute URI such as https://example.com/path",
    ),
    (
        "uri-reference",
        Draft::Draft6,
        "a URI or a relative reference such as ../path",
    ),
    (
        "uri-template",
        Draft::Draft6,
        "a URI template such as /users/{id}",
    ),
    (
        "uuid",
        Draft::Draft201909,
        "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
    ),
];

impl Formats {
    /// The names of all formats that can be asserted.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::Formats;
    /// assert!(Formats::known().any(|name| name == "date-time"));
    /// ```
    pub fn known() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(name, ..)| *name)
    }

    /// A string of the format, as an example.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::Formats;
    /// assert_eq!(Formats::example("date"), Some("2026-01-31"));
    /// ```
    #[must_use]
    pub fn example(format: &str) -> Option<&'static str> {
        let (.., words) = KNOWN.iter().find(|(name, ..)| *name == format)?;
        words.split_once("such as ").map(|(_, example)| example)
    }

    /// Whether strings of a schema in that draft must have the format.
    #[must_use]
    pub fn asserts(&self, draft: Draft, format: &str) -> bool {
        let is_asked = match self {
            Self::Annotate => false,
            Self::Assert => true,
            Self::Only(names) => names.iter().any(|name| name == format),
        };
        let is_known = |(name, since, _): &(&str, Draft, &str)| *name == format && draft >= *since;
        is_asked && KNOWN.iter().any(is_known)
    }

    /// The formats that a schema asserts: a custom dialect may assert them itself.
    pub(super) fn asserted(&self, own_dialect: bool) -> &Self {
        match self {
            Self::Annotate if own_dialect => &Self::Assert,
            asked => asked,
        }
    }

    /// The weight of a byte of a string with that format; 0 if the format is an annotation.
    pub(super) fn weight(&self, draft: Draft, format: &str) -> u64 {
        match format {
            _ if !self.asserts(draft, format) => 0,
            "regex" => REGEX_WEIGHT,
            _ => FORMAT_WEIGHT,
        }
    }

    /// Refuses an unknown format name.
    pub(super) fn verify(&self) -> Result<(), SchemaError> {
        let Self::Only(names) = self else {
            return Ok(());
        };
        let unknown = names
            .iter()
            .find(|name| !Self::known().any(|known| known == *name));
        unknown.map_or(Ok(()), |name| Err(SchemaError::unknown_format(name)))
    }

    /// Configures the compiler. For a custom dialect its vocabularies decide.
    pub(super) fn apply<'i, R, J: Json>(
        &self,
        options: ValidationOptions<'i, R, J>,
        own_dialect: bool,
    ) -> ValidationOptions<'i, R, J> {
        let options = options.with_format("regex", is_regex);
        match self {
            Self::Annotate if own_dialect => options,
            Self::Annotate => options.should_validate_formats(false),
            Self::Assert => options.should_validate_formats(true),
            Self::Only(names) => {
                let others = Self::known().filter(|known| !names.iter().any(|name| name == known));
                others
                    .fold(options, |options, other| {
                        options.with_format(other, |_| true)
                    })
                    .should_validate_formats(true)
            }
        }
    }
}

/// Whether a text is a regular expression of ECMA-262.
///
/// The parser compares each name of a group with those before it, and with each open group. A text
/// for which it compares too many stops the check, as one with too many steps does. Unlike the
/// validator's own check, this one keeps no received text.
fn is_regex(text: &str) -> bool {
    let count = |part: &str| text.matches(part).count();
    let names = count("(?<").saturating_add(count(r"\k<"));
    let comparisons = names.saturating_mul(names.saturating_add(count("(")));
    if comparisons > text.len().saturating_mul(MAX_COMPARISONS_A_BYTE) {
        stop(Stop::Spent);
    }
    jsonschema_regex::is_valid_ecma_regex(text)
}

/// `a date such as 2026-01-31`.
pub(super) fn described(format: &str) -> String {
    KNOWN.iter().find(|(name, ..)| *name == format).map_or_else(
        || format!("a string of the format {format}"),
        |(.., words)| (*words).to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::KNOWN;
    use jsonschema::Draft;

    /// The table matches the compiler's formats in each draft.
    #[test]
    fn the_table_of_formats_is_the_compilers() {
        let options = jsonschema::options();
        for draft in [
            Draft::Draft4,
            Draft::Draft6,
            Draft::Draft7,
            Draft::Draft201909,
            Draft::Draft202012,
        ] {
            for (name, since, _) in KNOWN {
                let known = options.is_known_format(draft, name);
                assert_eq!(known, draft >= since, "{name} in {draft:?}");
            }
            assert!(!options.is_known_format(draft, "idn-email"));
            assert!(!options.is_known_format(draft, "idn-hostname"));
        }
    }
}
