//! Compiles JSON text to a validator.

use std::error::Error;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::json::Json;
use jsonschema::{Draft, PatternOptions, Registry, Retrieve, Uri, ValidationError};
use serde_json::Value;

use crate::json::{JsonErrorKind, Limits, big_integer, check};

use super::content::annotated;
use super::counted::Counted;
use super::dialect::dialect;
use super::exact::exactly;
use super::explain::explain_schema_error;
use super::meter::{Weights, guarded};
use super::patterns::{PatternWeights, regex_size};
use super::survey::{measure, survey};
use super::validator::Validator;
use super::{Formats, SchemaError, SchemaLimits, SchemaOptions};

/// Depth at which `serde_json` refuses JSON.
const MAX_JSON_DEPTH: usize = 127;

/// The URI of a schema without an `$id`.
const UNNAMED: &str = "json-schema:///";

/// Compiles a schema.
///
/// `$schema` names the dialect: drafts 4, 6, 7, 2019-09 or, by default, 2020-12. A `$ref` may lead
/// anywhere inside the schema and to the dialects' own schemas. Nothing is fetched. Patterns run on
/// an engine that is linear in the length of the string, so look-around and backreferences are
/// refused. `format` and the content keywords are annotations, the default of the newer drafts.
/// [`compile_with`] asserts formats.
///
/// Compilation recurses as deeply as the limits allow: call it on a thread with 64 MiB of stack.
///
/// # Errors
/// [`SchemaError`] when a limit is exceeded or the text is not a schema.
///
/// # Examples
/// ```
/// use mcp_core::schema::{SchemaLimits, SerdeJson, compile};
///
/// let schema = br#"{"type": "object", "required": ["x"], "properties": {"x": {"type": "integer"}}}"#;
/// let validator = compile::<SerdeJson>(schema, &SchemaLimits::default())?;
/// assert!(validator.is_valid(&serde_json::json!({"x": 1})));
///
/// let problems = validator.check(&serde_json::json!({"x": "one"})).unwrap_err();
/// assert_eq!(problems[0].to_string(), "/x: must be an integer (type)");
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
pub fn compile<J: Json>(schema: &[u8], limits: &SchemaLimits) -> Result<Validator<J>, SchemaError> {
    let options = SchemaOptions {
        limits: *limits,
        ..SchemaOptions::default()
    };
    compile_with(schema, &options)
}

/// Compiles a schema that may refer to other documents and may assert formats.
///
/// # Errors
/// The errors of [`compile`], for the schema and for each document; also an unknown format that
/// is to be asserted.
pub fn compile_with<J: Json>(
    schema: &[u8],
    options: &SchemaOptions<'_>,
) -> Result<Validator<J>, SchemaError> {
    let SchemaOptions {
        limits,
        formats,
        documents,
    } = options;
    formats.verify()?;
    let mut tally = Tally::new(limits);
    let schema = tally.read(schema)?;
    let mut others = Vec::with_capacity(documents.len());
    for (uri, text) in *documents {
        others.push(((*uri).to_owned(), tally.read(text)?));
    }
    let compiled = guarded(|| build(&schema, &others, formats, limits));
    let (compiled, weights) = compiled.unwrap_or(Err(SchemaError::Internal))?;
    Ok(Validator::new(compiled, weights, schema, others, limits))
}

/// Totals of the texts read so far.
struct Tally<'l> {
    limits: &'l SchemaLimits,
    bytes: usize,
    subschemas: usize,
}

impl<'l> Tally<'l> {
    fn new(limits: &'l SchemaLimits) -> Self {
        Self {
            limits,
            bytes: 0,
            subschemas: 0,
        }
    }

    /// Reads a text. Depth and number of subschemas are checked before a function recurses over it.
    fn read(&mut self, text: &[u8]) -> Result<Value, SchemaError> {
        let limits = self.limits;
        self.bytes = self.bytes.saturating_add(text.len());
        if self.bytes > limits.max_bytes {
            return Err(SchemaError::TooLarge {
                limit: limits.max_bytes,
            });
        }
        let json = Limits {
            max_bytes: limits.max_bytes,
            max_depth: MAX_JSON_DEPTH,
            max_values: limits.max_bytes,
            ..Limits::default()
        };
        check(text, &json).map_err(|error| match error.kind {
            JsonErrorKind::TooDeep => SchemaError::JsonTooDeep {
                limit: MAX_JSON_DEPTH,
            },
            _ => SchemaError::Json(error),
        })?;
        if let Some(pointer) = big_integer(text) {
            return Err(SchemaError::BigInteger { pointer });
        }
        let schema = serde_json::from_slice(text).map_err(|_| SchemaError::Internal)?;
        self.subschemas = measure(&schema, self.subschemas, limits)?;
        Ok(schema)
    }
}

fn build<J: Json>(
    schema: &Value,
    documents: &[(String, Value)],
    formats: &Formats,
    limits: &SchemaLimits,
) -> Result<(jsonschema::Validator<Counted<J>>, Weights), SchemaError> {
    let draft = dialect(schema, documents)?;
    let others = register(documents, draft)?;
    let resource = draft.create_resource_ref(schema);
    let base = resource
        .id()
        .unwrap_or(UNNAMED)
        .trim_end_matches('#')
        .to_owned();
    let all = others
        .add(&base, resource)
        .map_err(|error| SchemaError::from_resolver(&error))?;
    let all = all.retriever(Refuse).draft(draft).prepare();
    let all = all.map_err(|error| SchemaError::from_resolver(&error))?;
    let root =
        jsonschema::uri::from_str(&base).map_err(|error| SchemaError::from_resolver(&error))?;
    let texts = || std::iter::once(schema).chain(documents.iter().map(|(_, document)| document));
    let size = regex_size(texts(), limits);
    let patterns = PatternWeights::of(texts(), size, limits);
    let own_dialect = Draft::default().detect(schema) == Draft::Unknown;
    let asserted = formats.asserted(own_dialect);
    let weights = survey(schema, root, draft, &all, &patterns, asserted, limits)?;

    let options = jsonschema::options_for::<Counted<J>>()
        .with_registry(&others)
        .with_retriever(Refuse)
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(size)
                .dfa_size_limit(size),
        );
    let compiled = formats
        .apply(annotated(exactly(options, texts())), own_dialect)
        .build(schema)
        .map_err(|error| build_error(&error))?;
    Ok((compiled, weights))
}

/// A document without `$schema` has the dialect of the schema.
fn register(documents: &[(String, Value)], draft: Draft) -> Result<Registry<'_>, SchemaError> {
    let mut registry = Registry::new();
    for (uri, document) in documents {
        let draft = match document.get("$schema") {
            Some(_) => dialect(document, documents)?,
            None => draft,
        };
        registry = registry
            .add(uri, draft.create_resource_ref(document))
            .map_err(|error| SchemaError::from_resolver(&error))?;
    }
    let registry = registry.retriever(Refuse).draft(draft).prepare();
    registry.map_err(|error| SchemaError::from_resolver(&error))
}

/// A retriever that refuses every fetch.
struct Refuse;

impl Retrieve for Refuse {
    fn retrieve(&self, _: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        Err("nothing is fetched".into())
    }
}

fn build_error(error: &ValidationError<'_>) -> SchemaError {
    match error.kind() {
        Kind::Referencing(error) => SchemaError::from_resolver(error),
        _ => SchemaError::Invalid(explain_schema_error(error)),
    }
}
