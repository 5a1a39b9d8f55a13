//! Origins for a Content-Security-Policy. The parser is strict, so that no origin can end its
//! directive or start another.

use std::fmt;

/// An origin: `[scheme://]host[:port]`, in lower case. The host may begin with `*.`.
///
/// # Examples
/// ```
/// use mcp_core::apps::origin::{Origin, OriginError};
/// assert_eq!(Origin::parse("https://*.Example.com:8443")?.as_str(), "https://*.example.com:8443");
/// assert_eq!(Origin::parse("a.com; script-src *"), Err(OriginError::Character(5)));
/// # Ok::<(), OriginError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin(String);

/// Why a text is not an origin. The error does not contain the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OriginError {
    /// The text is empty.
    #[error("is empty")]
    Empty,
    /// The text is longer than 300 bytes.
    #[error("is longer than {MAX_BYTES} bytes")]
    TooLong,
    /// The byte at this offset is not allowed in an origin, such as a space, a quote, `;`, `,`, a
    /// control character or a non-ASCII byte.
    #[error("has a character at byte {0} that no origin has")]
    Character(usize),
    /// The scheme is not `https`, `http`, `wss` or `ws`.
    #[error("has another scheme than https, http, wss or ws")]
    Scheme,
    /// The text is only a scheme, such as `data:`, which would allow every source of that scheme.
    #[error("is a scheme without a host")]
    SchemeAlone,
    /// The host is neither a domain name nor an IPv4 address.
    #[error("has a host that is no domain name")]
    Host,
    /// A `*` is not the first of at least three labels.
    #[error("has a wildcard that is not *. in front of a domain of two labels or more")]
    Wildcard,
    /// The port is not a number from 1 to 65535.
    #[error("has a port that is no number from 1 to 65535")]
    Port,
    /// Something follows the host and port.
    #[error("has a path; an origin ends with its host or port")]
    Path,
}

const MAX_BYTES: usize = 300;
const MAX_HOST_BYTES: usize = 253;
const MAX_LABEL_BYTES: usize = 63;
const SCHEMES: [&str; 4] = ["https", "http", "wss", "ws"];

impl Origin {
    /// Parses an origin.
    ///
    /// # Errors
    /// An [`OriginError`] if the text is not exactly one origin.
    pub fn parse(text: &str) -> Result<Self, OriginError> {
        check_bytes(text)?;
        let text = text.to_ascii_lowercase();
        let authority = match text.split_once("://") {
            Some((scheme, _)) if !SCHEMES.contains(&scheme) => return Err(OriginError::Scheme),
            Some((_, authority)) => authority,
            None if text.ends_with(':') => return Err(OriginError::SchemeAlone),
            None => &text,
        };
        if authority.contains('/') {
            return Err(OriginError::Path);
        }
        let host = match authority.split_once(':') {
            Some((host, port)) => {
                check_port(port)?;
                host
            }
            None => authority,
        };
        check_host(host)?;
        Ok(Self(text))
    }

    /// The origin's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

fn check_bytes(text: &str) -> Result<(), OriginError> {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:/*".contains(&byte);
    match text.len() {
        0 => Err(OriginError::Empty),
        length if length > MAX_BYTES => Err(OriginError::TooLong),
        _ => match text.bytes().position(|byte| !belongs(byte)) {
            Some(offset) => Err(OriginError::Character(offset)),
            None => Ok(()),
        },
    }
}

fn check_port(port: &str) -> Result<(), OriginError> {
    // `str::parse` accepts a sign too, but the byte check has refused `+`.
    match port.parse::<u16>() {
        Ok(number) if number > 0 && !port.starts_with('0') => Ok(()),
        _ => Err(OriginError::Port),
    }
}

fn check_host(host: &str) -> Result<(), OriginError> {
    let name = match host.strip_prefix("*.") {
        Some(name) if !name.contains('.') => return Err(OriginError::Wildcard),
        Some(name) => name,
        None => host,
    };
    if name.contains('*') {
        return Err(OriginError::Wildcard);
    }
    if host.len() <= MAX_HOST_BYTES && name.split('.').all(is_label) {
        return Ok(());
    }
    Err(OriginError::Host)
}

fn is_label(label: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=MAX_LABEL_BYTES).contains(&label.len())
        && label.bytes().all(inner)
        && !label.starts_with('-')
        && !label.ends_with('-')
}
