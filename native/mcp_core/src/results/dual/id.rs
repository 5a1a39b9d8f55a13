//! Reads the id of a resource from a path.

const MAX_BYTES: usize = 128;

/// The only segment of a path, if it is a valid id.
///
/// Ids have only characters without an escape. A `%` is therefore refused before any decoding:
/// `%2e%2e`, `%00` and `%2f` never reach a store.
pub(super) fn in_path(rest: &str) -> Option<&str> {
    let mut segments = rest.split('/').filter(|segment| !segment.is_empty());
    match (segments.next(), segments.next()) {
        (Some(id), None) if is_sound(id) => Some(id),
        _ => None,
    }
}

fn is_sound(id: &str) -> bool {
    let is_unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    id.len() <= MAX_BYTES && id.bytes().all(is_unreserved) && id != "." && id != ".."
}
