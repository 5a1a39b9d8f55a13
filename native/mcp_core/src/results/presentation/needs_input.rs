//! Asking back, as data: `needsInput:v1`.

/// The kind.
pub const KIND: &str = "needsInput:v1";

/// What it looks like, as a JSON Schema. The order of the properties is the one they are written in.
pub const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "kind": {"const": "needsInput:v1"},
    "type": {"const": "elicitation"},
    "message": {"type": "string"},
    "needsInput": {
      "type": "object",
      "properties": {
        "fields": {"type": "array", "items": {"type": "string"}},
        "reason": {"type": "string"},
        "suggestions": {
          "type": "object",
          "additionalProperties": {"type": "array", "items": {"type": "string"}}
        }
      },
      "required": ["fields", "reason"],
      "additionalProperties": false
    },
    "options": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": {
          "label": {"type": "string"},
          "value": {"type": "string"},
          "description": {"type": "string"},
          "field": {"type": "string"}
        },
        "required": ["label", "value"],
        "additionalProperties": false
      }
    }
  },
  "required": ["kind", "type", "message"],
  "additionalProperties": false
}"#;

/// The order options are offered in: those of the first field, then those of the second and so on, then
/// those of no field; within one as they were.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::needs_input::grouped;
/// let options = [Some("difficulty"), Some("category"), None, Some("category")];
/// assert_eq!(grouped(&["category", "difficulty"], &options), [1, 3, 0, 2]);
/// ```
#[must_use]
pub fn grouped(fields: &[&str], options: &[Option<&str>]) -> Vec<usize> {
    let place = |index: &usize| {
        let field = options.get(*index).copied().flatten();
        fields
            .iter()
            .position(|known| Some(*known) == field)
            .unwrap_or(fields.len())
    };
    let mut order: Vec<usize> = (0..options.len()).collect();
    order.sort_by_key(place);
    order
}
