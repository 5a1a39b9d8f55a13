//! Under which schemes the URIs of resources may be.

/// Hosts act on these by themselves: they read files, run code, show views.
const RESERVED: [&str; 4] = ["data", "file", "javascript", "ui"];

/// Why a scheme is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemeError {
    /// Not a scheme of RFC 3986, section 3.1.
    #[error("not a URI scheme")]
    Syntax,
    /// A scheme that means something else to hosts.
    #[error("the scheme means something else to hosts")]
    Reserved,
}

/// Whether links to resources may have this scheme.
///
/// # Errors
/// [`SchemeError`] says why not.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::{SchemeError, check_scheme};
/// assert_eq!(check_scheme("resource"), Ok(()));
/// assert_eq!(check_scheme("x-rows.v1+z"), Ok(()));
/// assert_eq!(check_scheme("JavaScript"), Err(SchemeError::Reserved));
/// for text in ["", "1x", "a_b", "a:"] {
///     assert_eq!(check_scheme(text), Err(SchemeError::Syntax), "{text}");
/// }
/// ```
pub fn check_scheme(scheme: &str) -> Result<(), SchemeError> {
    let mut bytes = scheme.bytes();
    let begins = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if !begins || !bytes.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return Err(SchemeError::Syntax);
    }
    if RESERVED
        .iter()
        .any(|reserved| scheme.eq_ignore_ascii_case(reserved))
    {
        return Err(SchemeError::Reserved);
    }
    Ok(())
}
