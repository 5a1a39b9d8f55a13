//! The capability that a client must declare for an input request.

use serde_json::{Map, Value, json};

use super::input::InputKind;
use crate::revision::Revision;

/// The parts of an input request that not every client of its kind supports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InputUse {
    /// The user visits a page instead of filling in a form.
    pub by_url: bool,
    /// The model may call tools.
    pub with_tools: bool,
}

/// What an input request needs of a client: a capability, or one part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputNeed {
    kind: InputKind,
    part: Option<&'static str>,
    revision: Revision,
}

impl InputNeed {
    /// The need of a request that is sent in `revision`.
    #[must_use]
    pub fn of(kind: InputKind, uses: InputUse, revision: Revision) -> Self {
        let part = match kind {
            InputKind::Elicitation if uses.by_url => Some("url"),
            // Requests of earlier revisions are sent without tools.
            InputKind::Sampling if uses.with_tools && revision >= Revision::V2025_11_25 => {
                Some("tools")
            }
            _ => None,
        };
        Self {
            kind,
            part,
            revision,
        }
    }

    /// Whether `capabilities` (a JSON object), as the client declared them, allow the request.
    ///
    /// A client that declares an empty `elicitation` offers forms only (2025-11-25).
    #[must_use]
    pub fn is_met(self, capabilities: &Value) -> bool {
        let Some(declared) = self.kind.declared(capabilities, self.revision) else {
            return false;
        };
        match self.part {
            // Every part came with this revision.
            Some(part) => {
                self.revision >= Revision::V2025_11_25 && object(declared, part).is_some()
            }
            None if self.kind == InputKind::Elicitation => {
                declared.as_object().is_some_and(Map::is_empty)
                    || object(declared, "form").is_some()
            }
            None => true,
        }
    }

    /// The name of the capability: `sampling`, or `sampling.tools` for a part of it.
    #[must_use]
    pub fn name(self) -> String {
        let capability = self.kind.capability();
        match self.part {
            Some(part) => format!("{capability}.{part}"),
            None => capability.to_owned(),
        }
    }

    /// Adds the capability to those that an error names as required.
    pub fn require(self, required: &mut Map<String, Value>) {
        let parts = required
            .entry(self.kind.capability())
            .or_insert_with(|| json!({}));
        if let (Some(part), Some(parts)) = (self.part, parts.as_object_mut()) {
            parts.insert(part.to_owned(), json!({}));
        }
    }
}

/// Whether a sampling request may ask for the context of servers. A client without the capability
/// should not be asked for it (2025-11-25); earlier revisions have no such capability.
#[must_use]
pub fn may_include_context(capabilities: &Value, revision: Revision) -> bool {
    revision < Revision::V2025_11_25
        || object(capabilities, InputKind::Sampling.capability())
            .is_some_and(|sampling| object(sampling, "context").is_some())
}

/// A declared capability, or a part of one: always an object.
fn object<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    value.get(name).filter(|member| member.is_object())
}
