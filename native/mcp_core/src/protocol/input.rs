//! Input requests from server to client, and the form of their results.

use serde_json::Value;

use crate::json::{Kind, View};
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

/// Whether `view` is a result of one of the three kinds.
#[must_use]
pub fn is_input_response(view: View<'_, '_>) -> bool {
    is_elicit_result(view) || is_sampling_result(view) || is_roots_result(view)
}

fn is_elicit_result(view: View<'_, '_>) -> bool {
    let action = view.get("action").and_then(|action| action.text());
    let content = view.get("content");
    matches!(action.as_deref(), Some("accept" | "decline" | "cancel"))
        && content.is_none_or(|content| content.kind() == Kind::Object)
}

fn is_sampling_result(view: View<'_, '_>) -> bool {
    let kind_of = |member| view.get(member).map(|value| value.kind());
    kind_of("role") == Some(Kind::String)
        && kind_of("model") == Some(Kind::String)
        && matches!(kind_of("content"), Some(Kind::Object | Kind::Array))
}

fn is_roots_result(view: View<'_, '_>) -> bool {
    view.get("roots")
        .is_some_and(|roots| roots.kind() == Kind::Array)
}
