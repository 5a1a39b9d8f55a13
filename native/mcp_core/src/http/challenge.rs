//! 401 and 403: `WWW-Authenticate` as RFC 6750 and RFC 9728 write it.

use std::fmt;

use super::answer::HttpAnswer;

/// What a client needs to know to come back with a better token.
///
/// # Examples
/// ```
/// use mcp_core::http::Challenge;
/// let challenge = Challenge {
///     error: Some("insufficient_scope"),
///     scope: &["files:read", "files:write"],
///     ..Challenge::default()
/// };
/// assert_eq!(
///     challenge.to_string(),
///     r#"Bearer error="insufficient_scope", scope="files:read files:write""#
/// );
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Challenge<'c> {
    /// Where the protected resource metadata lies.
    pub resource_metadata: Option<&'c str>,
    /// What is wrong with the token that came; none if none came (RFC 6750, section 3.1).
    pub error: Option<&'c str>,
    /// What is wrong with it, in words for a developer.
    pub description: Option<&'c str>,
    /// The scopes that would be enough.
    pub scope: &'c [&'c str],
}

/// 400: the request breaks the rules for sending a token.
#[must_use]
pub fn invalid_authorization(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(400, "The request breaks the rules for sending a token")
        .with(HEADER, challenge.to_string())
}

/// 401: who asks is not known.
#[must_use]
pub fn unauthorized(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(401, "Unauthorized").with(HEADER, challenge.to_string())
}

/// 403: who asks is known, and may not.
#[must_use]
pub fn forbidden(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(403, "Forbidden").with(HEADER, challenge.to_string())
}

const HEADER: &str = "www-authenticate";

impl fmt::Display for Challenge<'_> {
    /// The value of `WWW-Authenticate`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes: Vec<&str> = self
            .scope
            .iter()
            .copied()
            .filter(|scope| is_scope(scope))
            .collect();
        let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
        let parameters = [
            ("error", self.error),
            ("error_description", self.description),
            ("scope", scope.as_deref()),
            ("resource_metadata", self.resource_metadata),
        ];
        formatter.write_str("Bearer")?;
        let mut separator = " ";
        for (name, value) in parameters {
            if let Some(value) = value {
                write!(formatter, "{separator}{name}={}", quoted(value))?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// A quoted string. What one cannot hold is left out, so that no value ends its own.
fn quoted(value: &str) -> String {
    let mut text = String::from('"');
    for letter in value.chars().filter(|letter| matches!(letter, ' '..='~')) {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    text
}

/// RFC 6749: visible ASCII without `"` and `\`.
fn is_scope(scope: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !scope.is_empty() && scope.bytes().all(belongs)
}
