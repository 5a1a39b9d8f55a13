//! Which entries exist for which clients: the distinct rules of a server are numbered, and what a client
//! may know of is a bit for each of them.

use serde::Deserialize;

use super::{Entry, ListKind};

/// Something of each entry of the four lists; none where a list is shorter.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    expecting = "what holds for entries, by list"
)]
pub struct OfEntries<T> {
    /// Of the tools.
    #[serde(default = "Vec::new")]
    pub tools: Vec<T>,
    /// Of the prompts.
    #[serde(default = "Vec::new")]
    pub prompts: Vec<T>,
    /// Of the static resources.
    #[serde(default = "Vec::new")]
    pub resources: Vec<T>,
    /// Of the resource templates.
    #[serde(default = "Vec::new")]
    pub resource_templates: Vec<T>,
}

/// The number of the rule that each entry obeys; `None` where it is there for everybody.
pub type Rules = OfEntries<Option<usize>>;

/// Whether each entry may be used without a token, where the endpoint allows that.
pub type Public = OfEntries<bool>;

impl<T: Copy + Default> OfEntries<T> {
    fn list(&self, kind: ListKind) -> &[T] {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::ResourceTemplates => &self.resource_templates,
        }
    }

    /// What holds for an entry.
    pub(super) fn of(&self, entry: Entry) -> T {
        let of = self.list(entry.kind).get(entry.index).copied();
        of.unwrap_or_default()
    }
}

impl Rules {
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
