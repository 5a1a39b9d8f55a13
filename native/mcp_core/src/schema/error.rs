//! Why a schema was refused.

use jsonschema::ReferencingError;
use referencing::UriError;

use super::problem::cut;
use super::{Formats, Problem};
use crate::json::JsonError;

/// Bytes of an echoed reference or dialect.
const ECHO: usize = 256;

/// Why a schema was refused.
///
/// The texts may name what the schema says. They never name a file, and no reference is ever
/// followed out of the schema to find out more.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// More bytes, with its documents, than
    /// [`SchemaLimits::max_bytes`](super::SchemaLimits::max_bytes).
    #[error("the schema has more than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: usize,
    },
    /// Not JSON.
    #[error("the schema is not JSON: {0}")]
    Json(JsonError),
    /// An integer that a `Value` would round: `maximum` would allow what it forbids, and clients would
    /// be sent another number.
    #[error("the schema has an integer of more than 64 bits at \"{pointer}\"")]
    BigInteger {
        /// JSON Pointer to it.
        pointer: String,
    },
    /// More nesting than [`SchemaLimits::max_depth`](super::SchemaLimits::max_depth).
    #[error("the schema nests more than {limit} subschemas")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// More nesting as JSON, whatever the limit of subschemas is.
    #[error(
        "the schema nests more than {limit} arrays and objects; `properties` takes two for each subschema"
    )]
    JsonTooDeep {
        /// The limit.
        limit: usize,
    },
    /// More subschemas, with its documents, than
    /// [`SchemaLimits::max_subschemas`](super::SchemaLimits::max_subschemas).
    #[error("the schema has more than {limit} subschemas")]
    TooManySubschemas {
        /// The limit.
        limit: usize,
    },
    /// A longer chain of references than
    /// [`SchemaLimits::max_refs_on_path`](super::SchemaLimits::max_refs_on_path).
    #[error("the schema hands one value through more than {limit} references")]
    TooManyRefs {
        /// The limit.
        limit: usize,
    },
    /// Its references and combinators apply so many subschemas to one value, or in so many ways,
    /// that neither compiling it nor checking a value would end in reasonable time.
    #[error("the schema's references lead to too many subschemas for one value")]
    TooComplex,
    /// A `$schema` this library does not know.
    #[error("unknown $schema \"{uri}\"; known are drafts 4, 6, 7, 2019-09 and 2020-12")]
    UnknownDialect {
        /// The `$schema`, cut to 256 bytes.
        uri: String,
    },
    /// A format is to be asserted that is not known.
    #[error("unknown format \"{name}\"; known are {}", known_formats())]
    UnknownFormat {
        /// The format, cut to 256 bytes.
        name: String,
    },
    /// A reference to something that is not in the schema: nothing is ever fetched.
    #[error("the reference \"{reference}\" leads nowhere in the schema")]
    Reference {
        /// The reference as far as it is known, cut to 256 bytes.
        reference: String,
    },
    /// Not a valid schema; the problem's pointer leads to the place in the schema.
    #[error("the schema is invalid: {0}")]
    Invalid(Problem),
    /// The compiler failed in a way it should not.
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

    /// What to point at: the keyword and its place for an invalid schema, else the reason's name.
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

    /// What the resolver could not resolve, without its own words, which may say too much.
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
