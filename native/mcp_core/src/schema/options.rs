//! Options of a schema beside its text.

use super::{Formats, SchemaLimits};

/// Options for compiling a schema.
///
/// # Examples
/// ```
/// use mcp_core::schema::{SchemaOptions, SerdeJson, compile_with};
///
/// let documents = [("https://example.com/name", br#"{"type": "string"}"#.as_slice())];
/// let options = SchemaOptions { documents: &documents, ..SchemaOptions::default() };
/// let schema = br#"{"$ref": "https://example.com/name"}"#;
/// let validator = compile_with::<SerdeJson>(schema, &options)?;
/// assert!(!validator.is_valid(&serde_json::json!(1)));
/// # Ok::<(), mcp_core::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SchemaOptions<'o> {
    /// Limits on the schema and its documents.
    pub limits: SchemaLimits,
    /// The formats that are asserted.
    pub formats: Formats,
    /// Documents that the schema may refer to, each with its URI. A document without `$schema` has
    /// the dialect of the schema.
    pub documents: &'o [(&'o str, &'o [u8])],
}
