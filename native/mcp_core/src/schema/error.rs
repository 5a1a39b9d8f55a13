//! Reasons for refusing a schema.

use jsonschema::ReferencingError;
use referencing::UriError;

use super::problem::cut;
use super::{Formats, Problem};
use crate::json::JsonError;

/// Bytes of a reference or dialect in an error text.
const ECHO: usize = 256;

/// A reason for refusing a schema.
///
/// The texts may contain parts of the schema. They never name a file. No reference is followed out
/// of the schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The schema and its documents have more bytes than
    /// [`SchemaLimits::max_bytes`](super::SchemaLimits::max_bytes).
    #[error("the schema has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// The text is not JSON.
    #[error("the schema is not JSON: {0}")]
    Json(JsonError),
    /// An integer that a `Value` would round. A rounded `maximum` would allow forbidden values, and
    /// clients would receive a different number.
    #[error("the schema has an integer of more than 64 bits at \"{pointer}\"")]
    BigInteger {
        /// JSON Pointer to it.
        pointer: String,
    },
    /// Subschemas nest deeper than [`SchemaLimits::max_depth`](super::SchemaLimits::max_depth).
    #[error("the schema nests more than {limit} subschemas")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The JSON nests too deeply; this limit does not depend on the limit of subschemas.
    #[error(
        "the schema nests more than {limit} arrays and objects; `properties` takes two for each subschema"
    )]
    JsonTooDeep {
        /// The limit.
        limit: usize,
    },
    /// The schema and its documents have more subschemas than
    /// [`SchemaLimits::max_subschemas`](super::SchemaLimits::max_subschemas).
    #[error("the schema has more than {limit} subschemas")]
    TooManySubschemas {
        /// The limit.
        limit: usize,
    },
    /// A chain of references is longer than
    /// [`SchemaLimits::max_refs_on_path`](super::SchemaLimits::max_refs_on_path).
    #[error("the schema hands one value through more than {limit} references")]
    TooManyRefs {
        /// The limit.
        limit: usize,
    },
    /// References and combinators apply too many subschemas to one value. Compilation or a check
    /// would take unreasonably long.
    #[error("the schema's references lead to too many subschemas for one value")]
    TooComplex,
    /// An unknown `$schema`.
    #[error("unknown $schema \"{uri}\"; known are drafts 4, 6, 7, 2019-09 and 2020-12")]
    UnknownDialect {
        /// The `$schema`, cut to 256 bytes.
        uri: String,
    },
    /// An unknown format in the list of formats to assert.
    #[error("unknown format \"{name}\"; known are {}", known_formats())]
    UnknownFormat {
        /// The format, cut to 256 bytes.
        name: String,
    },
    /// The target of a reference is not in the schema: nothing is ever fetched.
    #[error("the reference \"{reference}\" leads nowhere in the schema")]
    Reference {
        /// The reference, if known, cut to 256 bytes.
        reference: String,
    },
    /// The schema is invalid; the problem's pointer leads to the place in the schema.
    #[error("the schema is invalid: {0}")]
    Invalid(Problem),
    /// The compiler failed unexpectedly.
    #[error("the schema cannot be compiled")]
    Internal,
}

impl SchemaError {
    /// The reason's name for programs, in `snake_case`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "too_large",
            Self::Json(_) => "invalid_json",
            Self::BigInteger { .. } => "big_integer",
            Self::TooDeep { .. } | Self::JsonTooDeep { .. } => "too_deep",
            Self::TooManySubschemas { .. } => "too_many_subschemas",
            Self::TooManyRefs { .. } => "too_many_refs",
            Self::TooComplex => "too_complex",
            Self::UnknownDialect { .. } => "unknown_dialect",
            Self::UnknownFormat { .. } => "unknown_format",
            Self::Reference { .. } => "unknown_reference",
            Self::Invalid(_) => "invalid_schema",
            Self::Internal => "internal",
        }
    }

    /// The keyword and the place of an invalid schema; for other reasons the reason's name.
    #[must_use]
    pub fn place(&self) -> (&str, &str) {
        match self {
            Self::Invalid(problem) => (&problem.pointer, &problem.keyword),
            Self::BigInteger { pointer } => (pointer, self.kind()),
            _ => ("", self.kind()),
        }
    }

    pub(super) fn unknown_dialect(uri: &str) -> Self {
        Self::UnknownDialect {
            uri: cut(uri, ECHO),
        }
    }

    pub(super) fn unknown_format(name: &str) -> Self {
        Self::UnknownFormat {
            name: cut(name, ECHO),
        }
    }

    /// The reference that the resolver could not resolve. The resolver's own text may reveal too
    /// much.
    pub(super) fn from_resolver(error: &ReferencingError) -> Self {
        let reference = match error {
            ReferencingError::PointerToNowhere { pointer: fragment }
            | ReferencingError::InvalidPercentEncoding {
                pointer: fragment, ..
            }
            | ReferencingError::InvalidArrayIndex {
                pointer: fragment, ..
            }
            | ReferencingError::NoSuchAnchor { anchor: fragment }
            | ReferencingError::InvalidAnchor { anchor: fragment } => {
                return Self::reference(&format!("#{fragment}"));
            }
            ReferencingError::Unretrievable { uri, .. }
            | ReferencingError::InvalidUri(
                UriError::Parse { uri, .. } | UriError::Resolve { uri, .. },
            ) => uri.as_str(),
            ReferencingError::UnknownSpecification { specification } => {
                return Self::unknown_dialect(specification);
            }
            _ => "",
        };
        Self::reference(reference)
    }

    fn reference(reference: &str) -> Self {
        Self::Reference {
            reference: cut(reference, ECHO),
        }
    }
}

fn known_formats() -> String {
    Formats::known().collect::<Vec<_>>().join(", ")
}
