//! What a transport knows about a message before it is read.

use super::anonymous::Anonymous;
use super::refusal::Refusal;
use crate::http::{AcceptedHead, MirroredHeader};
use crate::revision::Revision;

/// What admission may know beside the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context<'h> {
    /// The session this message belongs to, if there is one.
    pub session: Option<SessionContext>,
    /// The head it came with, where it came over HTTP.
    pub http: Option<&'h AcceptedHead>,
    /// What the client may ask for without a token; `None` where it has one, or none is asked for.
    pub anonymous: Option<Anonymous>,
}

/// An open session of the session era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionContext {
    /// The revision that `initialize` agreed on.
    pub revision: Revision,
}

impl Context<'_> {
    /// The revision whose error shape a message without a readable one is answered in.
    #[must_use]
    pub fn fallback_revision(&self) -> Revision {
        self.session
            .map_or(Revision::NEWEST, |session| session.revision)
    }

    /// Whether the head alone puts the message into the stateless era.
    pub(super) fn is_stateless(&self) -> bool {
        self.http.is_some_and(|head| head.stateless)
    }

    /// Whether the message is on its own: nothing said over HTTP lasts without a session.
    pub(super) fn is_sessionless(&self) -> bool {
        self.http.is_some() && self.session.is_none()
    }

    /// The head of a message of the session era may name any version of that era: which one is in
    /// force, `initialize` has decided.
    pub(super) fn check_session_version(&self) -> Result<(), Refusal> {
        let Some(head) = self.http.filter(|head| !head.stateless) else {
            return Ok(());
        };
        match &head.mirrored.version {
            MirroredHeader::Absent => Ok(()),
            MirroredHeader::Says(name) if Revision::parse(name).is_some() => Ok(()),
            MirroredHeader::Says(name) => Err(Refusal::unsupported_version(name)),
            MirroredHeader::Unreadable => Err(Refusal::invalid_request(
                "MCP-Protocol-Version must stand once and name a version",
            )),
        }
    }
}
