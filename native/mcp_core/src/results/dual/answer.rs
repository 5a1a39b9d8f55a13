//! The headers of responses.

/// Headers of every response: browsers download it as data, and caches do not store it.
pub const HEADERS: [(&str, &str); 3] = [
    ("cache-control", "private, no-store"),
    ("content-disposition", "attachment"),
    ("x-content-type-options", "nosniff"),
];

/// The headers of a JSON response.
pub const JSON_HEADERS: [(&str, &str); 4] = with_type("application/json");

/// The headers of a response with one row as JSON per line.
pub const NDJSON_HEADERS: [(&str, &str); 4] = with_type("application/x-ndjson");

/// The headers of comma-separated values.
pub const CSV_HEADERS: [(&str, &str); 4] = with_type("text/csv; charset=utf-8; header=present");

const fn with_type(media_type: &'static str) -> [(&'static str, &'static str); 4] {
    let [cache, disposition, sniff] = HEADERS;
    [("content-type", media_type), cache, disposition, sniff]
}
