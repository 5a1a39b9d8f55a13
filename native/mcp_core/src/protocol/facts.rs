//! What a transport knows about a message before it is read.

use crate::revision::Revision;

/// What admission may know beside the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// The session this message belongs to, if there is one.
    pub session: Option<SessionFacts>,
}

/// An open session of the session era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionFacts {
    /// The revision that `initialize` agreed on.
    pub revision: Revision,
}

impl Facts {
    /// The revision whose error shape a message without a readable one is answered in.
    #[must_use]
    pub fn fallback_revision(&self) -> Revision {
        self.session
            .map_or(Revision::NEWEST, |session| session.revision)
    }
}
