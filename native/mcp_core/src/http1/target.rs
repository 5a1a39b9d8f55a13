//! The target of a request.

use super::error::HeadError;

/// The form of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A path with an optional query, or `*`.
    Origin,
    /// An absolute URI with its authority.
    Absolute,
}

/// Checks the characters and the form of a target.
pub(super) fn check(method: &str, target: &str) -> Result<Form, HeadError> {
    const INVALID: HeadError = HeadError::Malformed("The request's target is malformed");
    // An origin server opens no tunnels, so CONNECT is always refused.
    if method == "CONNECT" || !target.bytes().all(is_target_byte) {
        return Err(INVALID);
    }
    if target.starts_with('/') || (target == "*" && method == "OPTIONS") {
        return Ok(Form::Origin);
    }
    let rest = without_scheme(target).ok_or(INVALID)?;
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    if authority.is_empty() || !authority.bytes().all(is_authority_byte) {
        return Err(INVALID);
    }
    Ok(Form::Absolute)
}

/// Visible ASCII characters except `#` and those that every client encodes.
const fn is_target_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b'#' | b'"' | b'<' | b'>')
}

/// The characters of addresses, names and ports. `@` is refused, because credentials are not
/// allowed.
const fn is_authority_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'[' | b']')
}

fn without_scheme(target: &str) -> Option<&str> {
    let (scheme, rest) = target.split_once("://")?;
    let is_known = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    is_known.then_some(rest)
}
