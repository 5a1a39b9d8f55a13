//! Input requests from server to client.

use serde_json::Value;

use crate::model::{self, Shape};
use crate::revision::Revision;

/// A kind of input request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// `elicitation/create`: input from the user.
    Elicitation,
    /// `sampling/createMessage`: a message from the client's model.
    Sampling,
    /// `roots/list`: the client's folders.
    Roots,
}

impl InputKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Elicitation, Self::Sampling, Self::Roots];

    /// The kind with this method.
    #[must_use]
    pub fn of_method(method: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.method() == method)
    }

    /// The method of the request.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation/create",
            Self::Sampling => "sampling/createMessage",
            Self::Roots => "roots/list",
        }
    }

    /// The client capability that allows this kind.
    #[must_use]
    pub const fn capability(self) -> &'static str {
        match self {
            Self::Elicitation => "elicitation",
            Self::Sampling => "sampling",
            Self::Roots => "roots",
        }
    }

    /// The kind that this client capability allows.
    #[must_use]
    pub fn of_capability(capability: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.capability() == capability)
    }

    /// The capability as the client declared it, if it has a meaning in `revision`.
    pub(super) fn declared(self, capabilities: &Value, revision: Revision) -> Option<&Value> {
        let declared = capabilities.get(self.capability());
        declared.filter(|declared| revision >= self.since() && declared.is_object())
    }

    /// The first revision with this kind.
    #[must_use]
    pub const fn since(self) -> Revision {
        match self {
            Self::Elicitation => Revision::V2025_06_18,
            Self::Sampling | Self::Roots => Revision::V2024_11_05,
        }
    }

    /// The shape of the parameters.
    #[must_use]
    pub fn shape(self) -> &'static Shape {
        match self {
            Self::Elicitation => &model::ELICIT,
            Self::Sampling => &model::SAMPLING,
            Self::Roots => &model::ROOTS,
        }
    }
}
