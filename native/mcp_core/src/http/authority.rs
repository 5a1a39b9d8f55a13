//! `Host`: the host a request is addressed to. Only this header reveals DNS rebinding, where a
//! page's host name resolves to this machine.

use core::net::{Ipv4Addr, Ipv6Addr};

const MAX_BYTES: usize = 300;

/// `host[:port]`, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Authority {
    /// A name, an IPv4 address, or an IPv6 address in brackets.
    pub(super) host: String,
    pub(super) port: Option<u16>,
}

impl Authority {
    /// Reads `host[:port]`; `None` for anything else.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_BYTES {
            return None;
        }
        let (host, port) = split(text)?;
        if !is_host(host) {
            return None;
        }
        Some(Self {
            host: host.to_ascii_lowercase(),
            port: match port {
                Some(digits) => Some(parse_port(digits)?),
                None => None,
            },
        })
    }

    /// Whether this is a loopback name or address, which no other machine can have.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host.as_str();
        if matches!(host, "localhost" | "localhost.") {
            return true;
        }
        match address_in_brackets(host) {
            Some(address) => address.parse().is_ok_and(|ip: Ipv6Addr| ip.is_loopback()),
            None => host.parse().is_ok_and(|ip: Ipv4Addr| ip.is_loopback()),
        }
    }

    /// Whether `other` names the same host, and the same port if this one names a port.
    pub(super) fn covers(&self, other: &Self) -> bool {
        self.host == other.host && (self.port.is_none() || self.port == other.port)
    }
}

/// Whether the text is a host with an optional port by the grammar of RFC 9110, of any length, except
/// for addresses of future versions of IP. No policy allows some of these hosts.
pub(super) fn is_well_formed(text: &str) -> bool {
    let Some((host, port)) = split(text) else {
        return false;
    };
    let sound = match address_in_brackets(host) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => is_registered_name(host),
    };
    sound && port.is_none_or(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A registered name may be empty and may have percent-encoded bytes (RFC 3986).
fn is_registered_name(host: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%".contains(&byte);
    let is_encoded = |rest: &str| {
        let digits = rest.as_bytes().get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    host.bytes().all(belongs) && host.split('%').skip(1).all(is_encoded)
}

fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let end = if text.starts_with('[') {
        text.find(']')?
    } else {
        0
    };
    let rest = text.get(end..)?;
    match rest.find(':') {
        None => Some((text, None)),
        Some(place) => {
            let (host, port) = text.split_at_checked(end.checked_add(place)?)?;
            Some((host, port.strip_prefix(':')))
        }
    }
}

fn address_in_brackets(host: &str) -> Option<&str> {
    host.strip_prefix('[')?.strip_suffix(']')
}

fn is_host(host: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    match address_in_brackets(host) {
        Some(address) => address.parse::<Ipv6Addr>().is_ok(),
        None => !host.is_empty() && host.bytes().all(belongs),
    }
}

fn parse_port(text: &str) -> Option<u16> {
    // `str::parse` would accept a sign.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}
