//! What is said of a schema beside its text.

use super::{Formats, SchemaLimits};

/// How a schema is compiled.
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
    /// What it may cost, the documents included.
    pub limits: SchemaLimits,
    /// Which formats are asserted.
    pub formats: Formats,
    /// Documents the schema may refer to, each with its URI. One that names no dialect is written
    /// in the schema's.
    pub documents: &'o [(&'o str, &'o [u8])],
}
