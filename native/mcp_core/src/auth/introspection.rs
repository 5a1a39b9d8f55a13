//! Validates an issuer's introspection response for an opaque token (RFC 7662).

use super::claims::{Grant, judge};
use super::jws::object;
use super::policy::Policy;
use super::refusal::Refusal;

/// Validates the issuer's response by the same rules as the claims of a signed token.
///
/// `now` is in seconds since 1970.
///
/// # Errors
/// The reason for refusing the token. [`Refusal::Malformed`] means that the response is invalid,
/// not the token.
///
/// # Examples
/// ```
/// use mcp_core::auth::{Policy, PolicyOptions, Refusal, introspected};
///
/// let policy = Policy::new(PolicyOptions {
///     issuer: "https://auth.example".to_owned(),
///     audience: vec!["https://mcp.example/mcp".to_owned()],
///     introspected: true,
///     expires: false,
///     ..PolicyOptions::default()
/// })?;
/// let answer = br#"{"active":true,"sub":"ada","aud":"https://mcp.example/mcp","scope":"read"}"#;
/// assert_eq!(introspected(answer, &policy, 1_700_000_000).map(|grant| grant.scopes), Ok(vec!["read".to_owned()]));
/// for (answer, refusal) in [
///     (r#"{"active":false}"#, Refusal::Inactive),
///     (r#"{"active":"true","sub":"ada","aud":"https://mcp.example/mcp"}"#, Refusal::Inactive),
///     (r#"{"active":true,"sub":"ada"}"#, Refusal::Audience),
///     (r#"{"active":true,"sub":"ada","aud":"https://mcp.example/mcp","token_type":"refresh_token"}"#, Refusal::Type),
///     ("<html>", Refusal::Malformed),
/// ] {
///     assert_eq!(introspected(answer.as_bytes(), &policy, 1_700_000_000), Err(refusal));
/// }
/// # Ok::<(), String>(())
/// ```
pub fn introspected(answer: &[u8], policy: &Policy, now: u64) -> Result<Grant, Refusal> {
    let document = object(answer)?;
    let said = document.root();
    if said
        .get("active")
        .is_none_or(|active| active.raw() != b"true")
    {
        return Err(Refusal::Inactive);
    }
    let is_type = |name: &str| {
        said.get("token_type")
            .and_then(|kind| kind.text())
            .is_some_and(|kind| kind.eq_ignore_ascii_case(name))
    };
    let is_bound = policy.options.bound && is_type("dpop") && said.get("cnf").is_some();
    if said.get("token_type").is_some() && !is_type("bearer") && !is_bound {
        return Err(Refusal::Type);
    }
    judge(answer, &document, true, policy, now)
}
