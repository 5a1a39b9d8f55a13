//! Names as segments of a JSON Pointer (RFC 6901).

/// The segment that stands for a name.
#[must_use]
pub fn segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a segment stands for.
#[must_use]
pub fn name(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
