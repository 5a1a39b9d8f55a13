//! The transport's context of a message.

use super::anonymous::Anonymous;
use super::refusal::Refusal;
use crate::http::{AcceptedHead, VersionFault};
use crate::revision::Revision;

/// What the transport tells admission about a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context<'h> {
    /// The session of the message, if there is one.
    pub session: Option<SessionContext>,
    /// The HTTP head, if the message came over HTTP.
    pub http: Option<&'h AcceptedHead>,
    /// The access of a client without a token; `None` if the client sent one or needs none.
    pub anonymous: Option<Anonymous>,
}

/// An open session of the session era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The revision that `initialize` agreed on.
    pub revision: Revision,
}

impl Context<'_> {
    /// The revision for errors about a message whose own revision cannot be read.
    #[must_use]
    pub fn fallback_revision(&self) -> Revision {
        self.session
            .map_or(Revision::NEWEST, |session| session.revision)
    }

    /// Whether the head alone puts the message into the stateless era.
    pub(super) fn is_stateless(&self) -> bool {
        self.http.is_some_and(|head| head.stateless)
    }

    /// The refusal of a version of the future that only the head names. Its client may come from
    /// either era, so the error lists all revisions of the endpoint.
    pub(super) fn future_version(&self) -> Option<Refusal> {
        let head = self.http?;
        let version = head.mirrored.future_version()?;
        Some(Refusal::unsupported_version(version, head.revisions))
    }

    /// Whether the message came over HTTP without a session, so that no state outlives it.
    pub(super) fn is_sessionless(&self) -> bool {
        self.http.is_some() && self.session.is_none()
    }

    /// Checks the version in the head of a session-era message.
    pub(super) fn check_session_version(&self) -> Result<(), Refusal> {
        let Some(head) = self.http.filter(|head| !head.stateless) else {
            return Ok(());
        };
        head.mirrored
            .check_session_version()
            .map_err(|fault| match fault {
                VersionFault::Unsupported(name) => {
                    Refusal::unsupported_version(name, head.revisions)
                }
                VersionFault::Unreadable => Refusal::invalid_request(VersionFault::UNREADABLE),
            })
    }
}
