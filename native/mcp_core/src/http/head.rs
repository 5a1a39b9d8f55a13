//! A request's head as the transport provides it.

/// The part of a request before its body.
#[derive(Clone, Copy, Debug)]
pub struct Head<'h> {
    /// The method, as sent.
    pub method: &'h str,
    /// The request target: a path, or an absolute URI.
    pub target: &'h str,
    /// The authority of an absolute target, or HTTP/2's `:authority`.
    pub authority: Option<&'h str>,
    /// Names in any case, and values as sent.
    pub headers: &'h [(&'h str, &'h [u8])],
}

/// A header that may occur once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field<'h> {
    Absent,
    One(&'h [u8]),
    Repeated,
}

impl<'h> Head<'h> {
    /// The values of a header, without the white space around them.
    pub(super) fn all(&self, name: &str) -> impl Iterator<Item = &'h [u8]> {
        self.headers
            .iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| trimmed(value))
    }

    /// The value of a header that may occur once.
    pub(crate) fn field(&self, name: &str) -> Field<'h> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (None, _) => Field::Absent,
            (Some(value), None) => Field::One(value),
            (Some(_), Some(_)) => Field::Repeated,
        }
    }

    /// The target's path, without its query; `None` if the target has no path.
    pub(super) fn path(&self) -> Option<&'h str> {
        let target = match self.target.split_once("://") {
            Some((scheme, rest)) if !scheme.contains(['/', '?']) => rest
                .find(['/', '?'])
                .map_or("/", |start| rest.get(start..).unwrap_or_default()),
            _ => self.target,
        };
        let path = target.split(['?', '#']).next().unwrap_or_default();
        path.starts_with('/').then_some(path)
    }

    /// The authority of a target that is an absolute URI.
    pub(super) fn target_authority(&self) -> Option<&'h str> {
        let (scheme, rest) = self.target.split_once("://")?;
        if scheme.contains(['/', '?']) {
            return None;
        }
        rest.split(['/', '?', '#']).next()
    }
}

/// A value without surrounding spaces and tabs.
pub(super) fn trimmed(value: &[u8]) -> &[u8] {
    let is_text = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let start = value.iter().position(is_text).unwrap_or(value.len());
    let end = value
        .iter()
        .rposition(is_text)
        .map_or(start, |last| last.saturating_add(1));
    value.get(start..end).unwrap_or_default()
}

/// The text of a value, if it has only visible ASCII characters, spaces and tabs.
pub(super) fn printable(value: &[u8]) -> Option<&str> {
    let sound = |byte: &u8| matches!(byte, b' '..=b'~' | b'\t');
    value
        .iter()
        .all(sound)
        .then(|| std::str::from_utf8(value).ok())
        .flatten()
}

/// Whether a text is a token: the name of a header or of a parameter (RFC 9110).
pub(super) fn is_token(text: &str) -> bool {
    let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(belongs)
}
