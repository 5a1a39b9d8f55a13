//! `Origin`: the page that made a browser send the request.

use super::authority::Authority;

/// `scheme://host[:port]`, in lower case, without the scheme's default port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: String,
    authority: Authority,
}

impl Origin {
    /// Parses an origin; `None` for `null` and for invalid origins.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        if !is_scheme(scheme) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let authority = Authority::parse(authority)?;
        Some(Self {
            authority: with_own_port(&scheme, authority),
            scheme,
        })
    }

    /// Whether a program on this machine served the page.
    pub(super) fn is_loopback(&self) -> bool {
        self.is_web() && self.authority.is_loopback()
    }

    /// Whether the page came from the host and port of the request.
    pub(super) fn is_same_site(&self, host: &Authority) -> bool {
        self.is_web() && self.authority == with_own_port(&self.scheme, host.clone())
    }

    fn is_web(&self) -> bool {
        matches!(self.scheme.as_str(), "http" | "https")
    }
}

fn is_scheme(scheme: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.bytes().all(inner) && scheme.starts_with(|first: char| first.is_ascii_alphabetic())
}

/// Drops the scheme's default port.
fn with_own_port(scheme: &str, authority: Authority) -> Authority {
    let implied = match scheme {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    Authority {
        port: authority.port.filter(|port| Some(*port) != implied),
        ..authority
    }
}
