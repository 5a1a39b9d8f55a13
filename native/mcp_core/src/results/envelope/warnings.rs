//! Warning codes.

/// How much a warning matters, from the least.
pub const SEVERITIES: &[&str] = &["info", "warning", "error"];

/// The standard codes, and the severity of each.
pub const WARNING_CODES: &[(&str, &str)] = &[
    ("CONTENT_TRUNCATED", "info"),
    ("STALE_CACHE", "warning"),
    ("PARTIAL_FAILURE", "warning"),
    ("DEPRECATED_FIELD", "info"),
    ("RATE_LIMIT_APPROACHING", "warning"),
    ("FALLBACK_USED", "info"),
];

/// The severity of a standard code; `None` for a code of somebody's own.
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::severity_of_code;
/// assert_eq!(severity_of_code("STALE_CACHE"), Some("warning"));
/// ```
#[must_use]
pub fn severity_of_code(code: &str) -> Option<&'static str> {
    let (_, severity) = WARNING_CODES.iter().find(|(known, _)| *known == code)?;
    Some(severity)
}
