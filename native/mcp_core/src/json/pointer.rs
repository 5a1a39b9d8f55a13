//! Names as segments of a JSON Pointer (RFC 6901).

/// A name as a segment.
#[must_use]
pub fn segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name in a segment.
#[must_use]
pub fn name(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
