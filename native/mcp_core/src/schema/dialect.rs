//! Finds the draft of a schema.

use jsonschema::Draft;
use serde_json::Value;

use super::SchemaError;

/// The draft of the schema.
///
/// # Errors
/// [`SchemaError`] for an unknown draft.
pub fn dialect(schema: &Value, documents: &[(String, Value)]) -> Result<Draft, SchemaError> {
    let mut schema = schema;
    // A document may define a dialect and itself use another one, but not in a circle.
    for _ in 0..=documents.len() {
        let draft = Draft::default().detect(schema);
        if draft != Draft::Unknown {
            return Ok(draft);
        }
        let uri = named_dialect(schema).trim_end_matches('#');
        match documents.iter().find(|(known, _)| *known == uri) {
            Some((_, metaschema)) => schema = metaschema,
            None => break,
        }
    }
    Err(SchemaError::unknown_dialect(named_dialect(schema)))
}

/// The value of `$schema`.
pub(super) fn named_dialect(schema: &Value) -> &str {
    schema
        .get("$schema")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
