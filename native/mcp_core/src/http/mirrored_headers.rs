//! Headers that repeat parts of the body (2026-07-28): version, method, name and tool parameters.
//! Intermediaries act on these headers without reading the body, so admission compares headers and
//! body.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::head::{Field, Head, printable, trimmed};
use crate::revision::Revision;

/// The start of the names of the headers for arguments, in lower case.
pub(super) const PARAMETER_PREFIX: &str = "mcp-param-";

const FIRST_STATELESS: Revision = Revision::V2026_07_28;

/// Longer than any version.
const MAX_VERSION_BYTES: usize = 64;

/// A header that repeats a part of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum MirroredHeader {
    /// The header is absent.
    #[default]
    Absent,
    /// The value, decoded if it was encoded.
    Says(String),
    /// The header is repeated or its value is invalid.
    Unreadable,
}

/// Why the version in a head cannot be the version of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionFault<'h> {
    /// No revision has this name.
    Unsupported(&'h str),
    /// The header is repeated or its value is invalid.
    Unreadable,
}

impl VersionFault<'_> {
    /// Why an unreadable version is invalid.
    pub(crate) const UNREADABLE: &'static str =
        "MCP-Protocol-Version must stand once and name a version";
}

/// All headers that repeat parts of the body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct MirroredHeaders {
    pub(crate) version: MirroredHeader,
    pub(crate) method: MirroredHeader,
    pub(crate) name: MirroredHeader,
    /// Keyed by the name after `Mcp-Param-`, in lower case.
    parameters: Vec<(String, MirroredHeader)>,
}

impl MirroredHeaders {
    pub(super) fn read(head: &Head<'_>) -> Self {
        Self {
            version: match unencoded(head.field("mcp-protocol-version")) {
                MirroredHeader::Says(version) if version.len() > MAX_VERSION_BYTES => {
                    MirroredHeader::Unreadable
                }
                claim => claim,
            },
            method: unencoded(head.field("mcp-method")),
            name: encoded(head.field("mcp-name")),
            parameters: parameters(head),
        }
    }

    /// Whether the head alone puts the message into the stateless era. `Mcp-Method` exists only in
    /// that era. Clients that still negotiate may send it early, so a session-era version takes
    /// precedence.
    pub(super) fn is_stateless(&self) -> bool {
        match &self.version {
            MirroredHeader::Says(version) if is_stateless_version(version) => true,
            MirroredHeader::Says(version) if Revision::parse(version).is_some() => false,
            _ => self.method != MirroredHeader::Absent,
        }
    }

    /// The version, if it is of the stateless era and no revision has this name.
    pub(crate) fn future_version(&self) -> Option<&str> {
        match &self.version {
            MirroredHeader::Says(version) if is_stateless_version(version) => {
                Some(version.as_str()).filter(|version| Revision::parse(version).is_none())
            }
            _ => None,
        }
    }

    /// Checks the version of a session-era request. It may be any version of that era, because
    /// `initialize` decided which one applies.
    pub(crate) fn check_session_version(&self) -> Result<(), VersionFault<'_>> {
        match &self.version {
            MirroredHeader::Absent => Ok(()),
            MirroredHeader::Says(name) if Revision::parse(name).is_some() => Ok(()),
            MirroredHeader::Says(name) => Err(VersionFault::Unsupported(name)),
            MirroredHeader::Unreadable => Err(VersionFault::Unreadable),
        }
    }

    /// The header `Mcp-Param-<name>`; `name` is in lower case.
    pub(crate) fn parameter(&self, name: &str) -> &MirroredHeader {
        self.parameters
            .iter()
            .find(|(found, _)| found == name)
            .map_or(&MirroredHeader::Absent, |(_, claim)| claim)
    }
}

/// Revisions are ISO dates, so string order is date order.
fn is_stateless_version(version: &str) -> bool {
    let shape = |(place, byte): (usize, u8)| match place {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    version.len() == 10
        && version.bytes().enumerate().all(shape)
        && version >= FIRST_STATELESS.as_str()
}

fn unencoded(field: Field<'_>) -> MirroredHeader {
    match field {
        Field::Absent => MirroredHeader::Absent,
        Field::One(value) => printable(value).map_or(MirroredHeader::Unreadable, |text| {
            MirroredHeader::Says(text.to_owned())
        }),
        Field::Repeated => MirroredHeader::Unreadable,
    }
}

fn encoded(field: Field<'_>) -> MirroredHeader {
    match field {
        Field::Absent => MirroredHeader::Absent,
        Field::One(value) => decode(value).map_or(MirroredHeader::Unreadable, MirroredHeader::Says),
        Field::Repeated => MirroredHeader::Unreadable,
    }
}

/// The value, decoded if it is enclosed in `=?base64?` and `?=`.
fn decode(value: &[u8]) -> Option<String> {
    let text = printable(value)?;
    let encoded = text
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    match encoded {
        None => Some(text.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

fn parameters(head: &Head<'_>) -> Vec<(String, MirroredHeader)> {
    let mut parameters: Vec<(String, MirroredHeader)> = Vec::new();
    for (name, value) in head.headers {
        let Some(name) = parameter_name(name) else {
            continue;
        };
        match parameters.iter_mut().find(|(found, _)| *found == name) {
            Some((_, claim)) => *claim = MirroredHeader::Unreadable,
            None => parameters.push((name, encoded(Field::One(trimmed(value))))),
        }
    }
    parameters
}

fn parameter_name(header: &str) -> Option<String> {
    let (prefix, name) = header.split_at_checked(PARAMETER_PREFIX.len())?;
    prefix
        .eq_ignore_ascii_case(PARAMETER_PREFIX)
        .then(|| name.to_ascii_lowercase())
}
