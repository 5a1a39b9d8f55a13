//! Which entries exist for which clients: the distinct rules of a server are numbered, and what a client
//! may know of is a bit for each of them.

use serde::Deserialize;

use super::{Entry, ListKind};

/// The number of the rule that each entry of a list obeys; `None` where it is there for everybody.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", expecting = "the rules of the lists")]
pub struct Rules {
    /// Those of the tools; as many as there are tools, or none.
    #[serde(default)]
    pub tools: Vec<Option<usize>>,
    /// Those of the prompts.
    #[serde(default)]
    pub prompts: Vec<Option<usize>>,
    /// Those of the static resources.
    #[serde(default)]
    pub resources: Vec<Option<usize>>,
    /// Those of the resource templates.
    #[serde(default)]
    pub resource_templates: Vec<Option<usize>>,
}

impl Rules {
    fn list(&self, kind: ListKind) -> &[Option<usize>] {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::ResourceTemplates => &self.resource_templates,
        }
    }

    /// The rule of an entry.
    pub(super) fn of(&self, entry: Entry) -> Option<usize> {
        self.list(entry.kind).get(entry.index).copied().flatten()
    }

    /// Whether some entry of the list is not there for everybody.
    pub(super) fn filter(&self, kind: ListKind) -> bool {
        self.list(kind).iter().any(Option::is_some)
    }
}

/// What a client may know of: the bit of each rule, that of rule 0 the lowest of the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant<'g>(pub &'g [u8]);

impl Grant<'_> {
    /// Whether an entry that obeys the rule is there for the client.
    #[must_use]
    pub fn allows(self, rule: Option<usize>) -> bool {
        rule.is_none_or(|rule| {
            let byte = self.0.get(rule / 8).copied().unwrap_or_default();
            byte >> (rule % 8) & 1 == 1
        })
    }
}
