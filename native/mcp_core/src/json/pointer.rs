//! Names as segments of a JSON Pointer (RFC 6901).

/// The segment that stands for a name.
pub(crate) fn segment(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The name that a segment stands for.
pub(crate) fn name(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}
