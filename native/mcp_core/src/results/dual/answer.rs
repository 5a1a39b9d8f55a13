//! The texts and headers of what is answered.

use crate::json::write_string;

/// What every answer says to browsers and caches: the bytes are data, to be kept by nobody in between.
pub const HEADERS: [(&str, &str); 3] = [
    ("cache-control", "private, no-store"),
    ("content-disposition", "attachment"),
    ("x-content-type-options", "nosniff"),
];

/// The headers of an answer in JSON.
pub const JSON_HEADERS: [(&str, &str); 4] = with_type("application/json");

/// The headers of rows, a JSON text a line.
pub const NDJSON_HEADERS: [(&str, &str); 4] = with_type("application/x-ndjson");

/// The headers of comma-separated values.
pub const CSV_HEADERS: [(&str, &str); 4] = with_type("text/csv; charset=utf-8; header=present");

const fn with_type(media_type: &'static str) -> [(&'static str, &'static str); 4] {
    let [cache, disposition, sniff] = HEADERS;
    [("content-type", media_type), cache, disposition, sniff]
}

/// What a `PUT` is answered with.
pub const PINNED: &str = r#"{"status":"pinned","expires_at":null}"#;

/// What a `GET` says of a resource. Times are ISO 8601 in seconds, with a `Z`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metadata<'m> {
    /// How many rows there are.
    pub total_count: u64,
    /// The columns, as JSON text.
    pub columns: &'m [u8],
    /// When it was made.
    pub created_at: &'m str,
    /// When it expires, if ever.
    pub expires_at: Option<&'m str>,
    /// How often rows were fetched.
    pub access_count: u64,
}

/// Appends the body of a `GET`.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::{Metadata, write_metadata};
/// let mut text = Vec::new();
/// let metadata = Metadata {
///     total_count: 847,
///     columns: br#"[{"name":"id","type":"number"}]"#,
///     created_at: "2025-01-15T10:30:00Z",
///     expires_at: None,
///     access_count: 3,
/// };
/// write_metadata(&mut text, &metadata);
/// assert_eq!(
///     String::from_utf8_lossy(&text),
///     concat!(
///         r#"{"status":"ready","total_count":847,"columns":[{"name":"id","type":"number"}],"#,
///         r#""created_at":"2025-01-15T10:30:00Z","expires_at":null,"access_count":3}"#
///     )
/// );
/// ```
pub fn write_metadata(out: &mut Vec<u8>, metadata: &Metadata<'_>) {
    let total = metadata.total_count;
    out.extend_from_slice(
        format!(r#"{{"status":"ready","total_count":{total},"columns":"#).as_bytes(),
    );
    out.extend_from_slice(metadata.columns);
    out.extend_from_slice(br#","created_at":"#);
    write_string(out, metadata.created_at);
    out.extend_from_slice(br#","expires_at":"#);
    match metadata.expires_at {
        Some(expires_at) => write_string(out, expires_at),
        None => out.extend_from_slice(b"null"),
    }
    let accesses = metadata.access_count;
    out.extend_from_slice(format!(r#","access_count":{accesses}}}"#).as_bytes());
}
