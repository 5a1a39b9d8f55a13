//! Parts of URIs.

use jsonschema::Uri;

/// The parts of an absolute URI, as written; an empty part is `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriParts<'a> {
    /// In lower case.
    pub scheme: String,
    /// The part before the `@`.
    pub user_info: Option<&'a str>,
    /// Without the brackets of an IPv6 address.
    pub host: Option<&'a str>,
    /// The port in the URI, or else the default port of the scheme.
    pub port: Option<u16>,
    /// The path, unless it is empty.
    pub path: Option<&'a str>,
    /// The part after the `?`.
    pub query: Option<&'a str>,
    /// The part after the `#`.
    pub fragment: Option<&'a str>,
}

impl<'a> UriParts<'a> {
    /// Reads a URI with a scheme (RFC 3986) into the parts of appendix B.
    pub(super) fn read(text: &'a str) -> Option<Self> {
        Uri::parse(text).ok()?;
        let (rest, fragment) = cut(text, '#');
        let (rest, query) = cut(rest, '?');
        let (scheme, rest) = rest.split_once(':')?;
        let scheme = scheme.to_ascii_lowercase();
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at_checked(end)?;
                (Some(authority), path)
            }
            None => (None, rest),
        };
        let (user_info, address) = match authority.map(|authority| authority.rsplit_once('@')) {
            Some(Some((user_info, address))) => (Some(user_info), Some(address)),
            _ => (None, authority),
        };
        let (host, port) = address.map_or(Some((None, None)), host_and_port)?;
        Some(Self {
            port: port.or_else(|| default_port(&scheme)),
            scheme,
            user_info,
            host,
            path: (!path.is_empty()).then_some(path),
            query,
            fragment,
        })
    }
}

fn cut(text: &str, at: char) -> (&str, Option<&str>) {
    match text.split_once(at) {
        Some((before, behind)) => (before, Some(behind)),
        None => (text, None),
    }
}

fn host_and_port(address: &str) -> Option<(Option<&str>, Option<u16>)> {
    let (host, port) = match address.strip_prefix('[') {
        Some(rest) => {
            let (host, rest) = rest.split_once(']')?;
            (host, rest.strip_prefix(':'))
        }
        None => cut(address, ':'),
    };
    let port = match port {
        None | Some("") => None,
        Some(port) => Some(port.parse().ok()?),
    };
    Some((Some(host), port))
}

fn default_port(scheme: &str) -> Option<u16> {
    Some(match scheme {
        "ftp" => 21,
        "sftp" => 22,
        "tftp" => 69,
        "http" | "ws" => 80,
        "ldap" => 389,
        "https" | "wss" => 443,
        _ => return None,
    })
}
