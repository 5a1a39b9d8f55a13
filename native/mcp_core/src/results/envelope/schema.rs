//! The JSON Schema of an envelope.

use serde_json::{Value, json};

use super::errors::{ERROR_CODE_PATTERN, ERROR_TYPES};
use super::warnings::SEVERITIES;
use super::{FIDELITIES, REQUEST_ID_PATTERN, VERSION};

/// Text with something to read in it.
const TEXT_PATTERN: &str = "\\S";
/// ISO 8601, with a time zone.
const TIME_PATTERN: &str =
    "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?(Z|[+-]\\d{2}:\\d{2})$";

/// What an envelope has to be: every rule that makes one invalid, as JSON Schema 2020-12.
///
/// It looks at no more of a success's `data` than that it is an object.
///
/// # Examples
/// ```
/// let schema = mcp_core::results::envelope::schema();
/// assert_eq!(schema["required"], serde_json::json!(["success", "data", "error", "meta"]));
/// ```
#[must_use]
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "success": {"type": "boolean"},
            "data": {"type": "object"},
            "error": {"type": ["string", "null"]},
            "meta": meta(),
        },
        "required": ["success", "data", "error", "meta"],
        "additionalProperties": false,
        "if": {"properties": {"success": {"const": true}}},
        "then": {"properties": {"error": {"type": "null"}}},
        "else": {"properties": {"error": text(), "data": error_data()}},
    })
}

fn error_data() -> Value {
    let types: Vec<&str> = ERROR_TYPES.iter().map(|kind| kind.name).collect();
    json!({
        "properties": {
            "error_code": {"type": "string", "pattern": ERROR_CODE_PATTERN},
            "error_type": {"enum": types},
            "remediation": {"type": "string"},
            "details": {"type": "object"},
        },
    })
}

fn meta() -> Value {
    json!({
        "type": "object",
        "properties": {
            "version": {"const": VERSION},
            "request_id": {"type": "string", "pattern": REQUEST_ID_PATTERN},
            "warnings": strings(),
            "warning_details": {"type": "array", "items": warning()},
            "pagination": pagination(),
            "rate_limit": rate_limit(),
            "telemetry": telemetry(),
            "content_fidelity": {"enum": FIDELITIES},
            "content_fidelity_schema_version": {"type": "string"},
            "dropped_content_ids": strings(),
            "content_archive_hashes": {
                "type": "object",
                "additionalProperties": {"type": "string"},
            },
        },
        "required": ["version"],
    })
}

fn warning() -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": {"type": "string"},
            "severity": {"enum": SEVERITIES},
            "message": text(),
            "context": {"type": "object"},
        },
        "required": ["message"],
    })
}

fn pagination() -> Value {
    json!({
        "type": "object",
        "properties": {
            "cursor": {"type": ["string", "null"]},
            "has_more": {"type": "boolean"},
            "total_count": count(),
            "page_size": {"type": "integer", "minimum": 1},
            "page": {"type": "integer", "minimum": 1},
        },
    })
}

fn rate_limit() -> Value {
    json!({
        "type": "object",
        "properties": {
            "limit": count(),
            "remaining": count(),
            "reset_at": {"type": "string", "pattern": TIME_PATTERN},
            "period": {"type": "string"},
            "retry_after": duration(),
        },
    })
}

fn telemetry() -> Value {
    json!({
        "type": "object",
        "properties": {
            "duration_ms": duration(),
            "downstream_calls": count(),
            "cache_hit": {"type": "boolean"},
        },
    })
}

fn text() -> Value {
    json!({"type": "string", "pattern": TEXT_PATTERN})
}

fn strings() -> Value {
    json!({"type": "array", "items": {"type": "string"}})
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn duration() -> Value {
    json!({"type": "number", "minimum": 0})
}
