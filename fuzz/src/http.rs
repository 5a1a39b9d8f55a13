//! Splits the text of HTTP requests without validation: the rules must refuse invalid requests.

use std::net::{Ipv4Addr, Ipv6Addr};

use mcp_core::http::Head;

/// A request: the request line, the headers, and the body.
#[derive(Debug)]
pub struct Message<'a> {
    pub method: &'a str,
    pub target: &'a str,
    pub headers: Vec<(&'a str, &'a [u8])>,
    pub body: &'a [u8],
}

impl<'a> Message<'a> {
    pub fn parse(bytes: &'a [u8]) -> Self {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n");
        let (head, body) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 2..]));
        let mut lines = head.split(|byte| *byte == b'\n');
        let first = std::str::from_utf8(lines.next().unwrap_or_default()).unwrap_or_default();
        let (method, target) = first.split_once(' ').unwrap_or((first, "/mcp"));
        let header = |line: &'a [u8]| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((
                std::str::from_utf8(&line[..colon]).ok()?,
                &line[colon + 1..],
            ))
        };
        Self {
            method,
            target,
            headers: lines.filter_map(header).collect(),
            body,
        }
    }

    pub fn head(&self) -> Head<'_> {
        Head {
            method: self.method,
            target: self.target,
            authority: None,
            headers: &self.headers,
        }
    }

    /// The values of a header, without surrounding white space.
    pub fn values(&self, name: &str) -> impl Iterator<Item = &'a [u8]> {
        let is_named = move |(found, _): &&(&str, &[u8])| found.eq_ignore_ascii_case(name);
        let trim = |value: &'a [u8]| {
            let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
            let start = value.iter().position(is_text).unwrap_or(value.len());
            let end = value
                .iter()
                .rposition(is_text)
                .map_or(start, |last| last + 1);
            &value[start..end]
        };
        let found: Vec<_> = self
            .headers
            .iter()
            .filter(is_named)
            .map(|(_, value)| trim(value))
            .collect();
        found.into_iter()
    }

    /// Whether `Host` and an absolute target all name this machine or one of these hosts.
    pub fn addresses_this_machine(&self, hosts: &[&str]) -> bool {
        let named: Vec<_> = self
            .values("host")
            .map(|value| std::str::from_utf8(value).unwrap_or_default())
            .collect();
        let absolute = self
            .target
            .split_once("://")
            .filter(|(scheme, _)| !scheme.contains(['/', '?']));
        let absolute = absolute.and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
        named.len() + usize::from(absolute.is_some()) >= 1
            && named.len() <= 1
            && named
                .into_iter()
                .chain(absolute)
                .all(|authority| is_here(authority, hosts))
    }

    /// Whether all `Origin` headers name this machine or one of these hosts.
    pub fn comes_from_this_site(&self, hosts: &[&str]) -> bool {
        let mut origins = self
            .values("origin")
            .map(|value| std::str::from_utf8(value).unwrap_or_default());
        origins.all(|origin| {
            origin
                .split_once("://")
                .is_some_and(|(_, authority)| is_here(authority, hosts))
        })
    }
}

/// Whether an authority, `host[:port]`, names this machine or one of these hosts.
fn is_here(authority: &str, hosts: &[&str]) -> bool {
    let authority = authority.to_ascii_lowercase();
    let is_port = |text: &str| text.parse::<u16>().is_ok();
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if is_port(port) && !host.ends_with(':') => host,
        _ => authority.as_str(),
    };
    if let Some(address) = host
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'))
    {
        return address.parse() == Ok(Ipv6Addr::LOCALHOST);
    }
    hosts.contains(&host)
        || matches!(host, "localhost" | "localhost.")
        || host
            .parse::<Ipv4Addr>()
            .is_ok_and(|address| address.octets()[0] == 127)
}
