//! Reads the token of a request (RFC 6750, 9449); only one header may carry it.

use crate::http::{Field, Head};

/// Invalid credentials: repeated, in the query, or with characters that are not allowed in a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("credentials that are sent against the rules of RFC 6750")]
pub struct MalformedCredentials;

/// The bearer token of a request; `None` without credentials or with another scheme.
///
/// # Errors
/// [`MalformedCredentials`]: 400, even if the token is valid.
///
/// # Examples
/// ```
/// use mcp_core::{auth::bearer, http::Head};
/// let head = |target, headers| Head { method: "POST", target, authority: None, headers };
/// assert_eq!(bearer(&head("/mcp", &[("Authorization", b"bearer  abc")])), Ok(Some("abc")));
/// assert_eq!(bearer(&head("/mcp", &[("authorization", b"Basic YTpi")])), Ok(None));
/// assert!(bearer(&head("/mcp", &[("authorization", b"Bearer a b")])).is_err());
/// assert!(bearer(&head("/mcp?Access%5Ftoken=x", &[])).is_err());
/// ```
pub fn bearer<'h>(head: &Head<'h>) -> Result<Option<&'h str>, MalformedCredentials> {
    let found = of_schemes(head, &[Scheme::Bearer])?;
    Ok(found.map(|(_, token)| token))
}

/// The scheme of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A token without proof of a key.
    Bearer,
    /// A token that requires a proof of its key (RFC 9449).
    Dpop,
}

impl Scheme {
    const fn name(self) -> &'static str {
        match self {
            Self::Bearer => "bearer",
            Self::Dpop => "dpop",
        }
    }
}

/// The token of a request and its scheme, including tokens bound to a key.
///
/// # Errors
/// The errors of [`bearer`].
///
/// # Examples
/// ```
/// use mcp_core::{auth::{Scheme, credentials}, http::Head};
/// let head = |headers| Head { method: "POST", target: "/mcp", authority: None, headers };
/// assert_eq!(credentials(&head(&[("Authorization", b"DPoP abc")])), Ok(Some((Scheme::Dpop, "abc"))));
/// assert_eq!(credentials(&head(&[("authorization", b"Bearer abc")])), Ok(Some((Scheme::Bearer, "abc"))));
/// assert!(credentials(&head(&[("authorization", b"DPoP")])).is_err());
/// ```
pub fn credentials<'h>(head: &Head<'h>) -> Result<Option<(Scheme, &'h str)>, MalformedCredentials> {
    of_schemes(head, &[Scheme::Bearer, Scheme::Dpop])
}

type Found<'h> = Result<Option<(Scheme, &'h str)>, MalformedCredentials>;

fn of_schemes<'h>(head: &Head<'h>, schemes: &[Scheme]) -> Found<'h> {
    if in_query(head.target) {
        return Err(MalformedCredentials);
    }
    match head.field("authorization") {
        Field::Absent => Ok(None),
        Field::Repeated => Err(MalformedCredentials),
        Field::One(value) => of_header(value, schemes),
    }
}

fn of_header<'h>(value: &'h [u8], schemes: &[Scheme]) -> Found<'h> {
    let ends = value.iter().position(|byte| *byte == b' ');
    let (name, token) = value
        .split_at_checked(ends.unwrap_or(value.len()))
        .ok_or(MalformedCredentials)?;
    let known = |scheme: &&Scheme| name.eq_ignore_ascii_case(scheme.name().as_bytes());
    let Some(scheme) = schemes.iter().find(known) else {
        return Ok(None);
    };
    let token = std::str::from_utf8(token).map_err(|_| MalformedCredentials)?;
    let token = token.trim_start_matches(' ');
    if is_token(token) {
        Ok(Some((*scheme, token)))
    } else {
        Err(MalformedCredentials)
    }
}

/// `b64token`: letters, digits and `-._~+/`, then `=`.
fn is_token(token: &str) -> bool {
    let body = token.trim_end_matches('=');
    let belongs = |byte: u8| {
        byte.is_ascii_alphanumeric() | matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/')
    };
    // Without an early end the compiler checks many bytes at once.
    !body.is_empty() && body.bytes().fold(true, |all, byte| all & belongs(byte))
}

fn in_query(target: &str) -> bool {
    let Some((_, query)) = target.split_once('?') else {
        return false;
    };
    query
        .split(['&', ';'])
        .filter_map(|pair| pair.split('=').next())
        .any(|name| unescaped(name).eq_ignore_ascii_case(b"access_token"))
}

fn unescaped(name: &str) -> Vec<u8> {
    let mut bytes = name.bytes();
    let mut plain = Vec::with_capacity(name.len());
    while let Some(byte) = bytes.next() {
        if byte != b'%' {
            plain.push(byte);
            continue;
        }
        let digits = [bytes.next(), bytes.next()]
            .map(|digit| digit.and_then(|digit| char::from(digit).to_digit(16)));
        if let [Some(high), Some(low)] = digits {
            let value = high.wrapping_mul(16).wrapping_add(low);
            plain.push(u8::try_from(value).unwrap_or_default());
        }
    }
    plain
}
