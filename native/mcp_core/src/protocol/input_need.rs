//! The capability that a client must declare for an input request.

use serde_json::{Map, Value, json};

use super::input::InputKind;
use crate::revision::Revision;

const FORM: &str = "form";
const URL: &str = "url";

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
            InputKind::Elicitation if uses.by_url => Some(URL),
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
            None => self.kind != InputKind::Elicitation || offers_forms(declared, self.revision),
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
}

/// Modes of elicitation came with 2025-11-25. Since then a client that declares neither `form` nor
/// `url` offers forms, whatever else it declares.
fn offers_forms(declared: &Value, revision: Revision) -> bool {
    let names_a_mode = [FORM, URL].iter().any(|mode| declared.get(mode).is_some());
    revision < Revision::V2025_11_25 || object(declared, FORM).is_some() || !names_a_mode
}

/// Whether a client that declared `capabilities` (a JSON object) may be asked for this kind in
/// `revision`, by a form or by a page.
#[must_use]
pub fn offers_input(kind: InputKind, capabilities: &Value, revision: Revision) -> bool {
    let is_met = |by_url| {
        let uses = InputUse {
            by_url,
            ..InputUse::default()
        };
        InputNeed::of(kind, uses, revision).is_met(capabilities)
    };
    is_met(false) || is_met(true)
}

/// The capabilities that an error names as required, for the unmet needs of a client that declared
/// `capabilities`.
///
/// An empty `elicitation` stands for forms, unless the client knows modes or also lacks another.
#[must_use]
pub fn required_capabilities(unmet: &[InputNeed], capabilities: &Value) -> Map<String, Value> {
    let mut required = Map::new();
    for need in unmet {
        let knows_modes = need.kind.declared(capabilities, need.revision).is_some()
            || unmet.iter().any(|other| other.part == Some(URL));
        let form = (need.kind == InputKind::Elicitation && knows_modes).then_some(FORM);
        let parts = required
            .entry(need.kind.capability())
            .or_insert_with(|| json!({}));
        if let (Some(part), Some(parts)) = (need.part.or(form), parts.as_object_mut()) {
            parts.insert(part.to_owned(), json!({}));
        }
    }
    required
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
