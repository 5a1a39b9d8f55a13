//! 401 and 403: `WWW-Authenticate` as defined by RFC 6750, 9449 and 9728.

use std::fmt::{self, Write as _};

use super::answer::HttpAnswer;

/// The data a client needs to get a valid token.
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
/// let challenge = Challenge { algs: &["ES256"], ..Challenge::default() };
/// assert_eq!(challenge.to_string(), r#"DPoP algs="ES256", Bearer"#);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Challenge<'c> {
    /// The URL of the protected resource metadata.
    pub resource_metadata: Option<&'c str>,
    /// The error code for the received token; `None` without a token (RFC 6750, section 3.1).
    pub error: Option<&'c str>,
    /// The error in words for a developer.
    pub description: Option<&'c str>,
    /// The sufficient scopes.
    pub scope: &'c [&'c str],
    /// The proof algorithms, if key-bound tokens are accepted (RFC 9449).
    pub algs: &'c [&'c str],
    /// Whether only key-bound tokens are accepted.
    pub bound_only: bool,
}

/// 400: the request breaks the rules for sending a token.
#[must_use]
pub fn invalid_authorization(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(400, "The request breaks the rules for sending a token")
        .with(HEADER, challenge.text())
}

/// 401: the client is not authenticated.
#[must_use]
pub fn unauthorized(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(401, "Unauthorized").with(HEADER, challenge.text())
}

/// 403: the client is authenticated but not allowed.
#[must_use]
pub fn forbidden(challenge: &Challenge<'_>) -> HttpAnswer {
    HttpAnswer::invalid(403, "Forbidden").with(HEADER, challenge.text())
}

const HEADER: &str = "www-authenticate";
/// Clients request this scope themselves, so no challenge names it (SEP-2207).
const OFFLINE: &str = "offline_access";

/// Enough for most challenges, so that the text is not moved while it grows.
const USUAL_BYTES: usize = 256;

impl fmt::Display for Challenge<'_> {
    /// The value of `WWW-Authenticate`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.algs.is_empty() {
            return self.write(formatter, "Bearer");
        }
        if self.bound_only {
            return self.write(formatter, "DPoP");
        }
        // Many clients read only the first challenge. A client that needs more scopes already has a
        // token, usually an unbound one.
        let (first, second) = match self.error {
            Some("insufficient_scope") => ("Bearer", "DPoP"),
            _ => ("DPoP", "Bearer"),
        };
        self.write(formatter, first)?;
        formatter.write_str(", ")?;
        self.write(formatter, second)
    }
}

impl Challenge<'_> {
    fn text(&self) -> String {
        let mut text = String::with_capacity(USUAL_BYTES);
        // Writing into a string cannot fail.
        let _ = write!(text, "{self}");
        text
    }

    fn write(&self, formatter: &mut fmt::Formatter<'_>, scheme: &str) -> fmt::Result {
        let is_dpop = scheme == "DPoP";
        // If both challenges are sent, only the DPoP challenge contains an error about the proof.
        let is_told = is_dpop
            || self.algs.is_empty()
            || !matches!(self.error, Some("invalid_dpop_proof" | "use_dpop_nonce"));
        let algs = is_dpop.then(|| self.algs.join(" "));
        let scopes: Vec<&str> = self
            .scope
            .iter()
            .copied()
            .filter(|scope| is_scope(scope) && *scope != OFFLINE)
            .collect();
        let scope = (!scopes.is_empty()).then(|| scopes.join(" "));
        let parameters = [
            ("error", self.error.filter(|_| is_told)),
            ("error_description", self.description.filter(|_| is_told)),
            ("algs", algs.as_deref()),
            ("scope", scope.as_deref()),
            ("resource_metadata", self.resource_metadata),
        ];
        formatter.write_str(scheme)?;
        let mut separator = " ";
        for (name, value) in parameters {
            if let Some(value) = value {
                for part in [separator, name, "="] {
                    formatter.write_str(part)?;
                }
                write_quoted(formatter, value)?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// A quoted string. Characters outside visible ASCII and space are dropped; `"` and `\` are
/// escaped.
fn write_quoted(formatter: &mut fmt::Formatter<'_>, value: &str) -> fmt::Result {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    formatter.write_char('"')?;
    if value.bytes().all(is_plain) {
        formatter.write_str(value)?;
    } else {
        for letter in value.chars().filter(|letter| matches!(letter, ' '..='~')) {
            if matches!(letter, '"' | '\\') {
                formatter.write_char('\\')?;
            }
            formatter.write_char(letter)?;
        }
    }
    formatter.write_char('"')
}

/// RFC 6749: visible ASCII without `"` and `\`.
fn is_scope(scope: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\';
    !scope.is_empty() && scope.bytes().all(belongs)
}
