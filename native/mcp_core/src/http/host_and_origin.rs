//! Checks Host and Origin: the addressed host and the sending page.

use super::authority::{self, Authority};
use super::head::{Field, Head, printable};
use super::origin::Origin;
use super::policy::Policy;

/// Why a head is not for this server, or comes from a page that is not allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    NoHost,
    ManyHosts,
    /// The text cannot be a host.
    NotAHost,
    Host,
    Origin,
}

impl Foreign {
    /// The reason as a text that is safe to send to a peer.
    pub(crate) const fn text(self) -> &'static str {
        match self {
            Self::NoHost => "Host is missing",
            Self::ManyHosts => "Host must stand once",
            Self::NotAHost => "Host must be a host with an optional port",
            Self::Host => "Forbidden: the Host is not allowed",
            Self::Origin => "Forbidden: the Origin is not allowed",
        }
    }
}

/// Checks Host and Origin against the policy.
pub(crate) fn check(policy: &Policy, head: &Head<'_>) -> Result<(), Foreign> {
    let host = check_host(policy, head)?;
    let is_allowed = match head.field("origin") {
        Field::Absent => true,
        Field::One(value) => printable(value)
            .and_then(Origin::parse)
            .is_some_and(|origin| policy.allows_origin(&origin, &host)),
        Field::Repeated => false,
    };
    if is_allowed {
        Ok(())
    } else {
        Err(Foreign::Origin)
    }
}

/// Checks Host alone, and returns it.
pub(crate) fn check_host(policy: &Policy, head: &Head<'_>) -> Result<Authority, Foreign> {
    match (
        head.field("host"),
        head.authority.or(head.target_authority()),
    ) {
        (Field::Repeated, _) => Err(Foreign::ManyHosts),
        (Field::Absent, None) => Err(Foreign::NoHost),
        (Field::Absent, Some(authority)) => allowed_host(policy, authority),
        (Field::One(value), authority) => {
            // Both are checked, because a proxy may have used either.
            if let Some(authority) = authority {
                allowed_host(policy, authority)?;
            }
            allowed_host(policy, printable(value).ok_or(Foreign::NotAHost)?)
        }
    }
}

fn allowed_host(policy: &Policy, text: &str) -> Result<Authority, Foreign> {
    // What can be parsed is well-formed.
    match Authority::parse(text) {
        Some(host) if policy.allows_host(&host) => Ok(host),
        None if !authority::is_well_formed(text) => Err(Foreign::NotAHost),
        Some(_) | None => Err(Foreign::Host),
    }
}
