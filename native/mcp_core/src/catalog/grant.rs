//! The visibility of entries. A server's distinct rules are numbered, and a client's grant has one
//! bit for each rule.

use serde::Deserialize;

use super::{Entry, ListKind};

/// One value for each entry of the four lists. An entry beyond the end of a list has the default
/// value.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    expecting = "what holds for entries, by list"
)]
pub struct OfEntries<T> {
    /// The values of the tools.
    #[serde(default = "Vec::new")]
    pub tools: Vec<T>,
    /// The values of the prompts.
    #[serde(default = "Vec::new")]
    pub prompts: Vec<T>,
    /// The values of the static resources.
    #[serde(default = "Vec::new")]
    pub resources: Vec<T>,
    /// The values of the resource templates.
    #[serde(default = "Vec::new")]
    pub resource_templates: Vec<T>,
}

/// The number of each entry's rule; `None` if all clients may see the entry.
pub type Rules = OfEntries<Option<usize>>;

/// Whether each entry may be used without a token, if the endpoint allows it.
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

    /// The value of an entry.
    #[must_use]
    pub fn of(&self, entry: Entry) -> T {
        let of = self.list(entry.kind).get(entry.index).copied();
        of.unwrap_or_default()
    }
}

impl Rules {
    /// Whether the list has an entry that only some clients may see.
    pub(super) fn filter(&self, kind: ListKind) -> bool {
        self.list(kind).iter().any(Option::is_some)
    }

    /// The indexes of these entries.
    pub(super) fn guarded(&self, kind: ListKind) -> Vec<usize> {
        let rules = self.list(kind).iter().enumerate();
        rules
            .filter(|(_, rule)| rule.is_some())
            .map(|(index, _)| index)
            .collect()
    }
}

/// The rules that a client satisfies, one bit each. Rule 0 is the lowest bit of the first byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant<'g>(pub &'g [u8]);

impl Grant<'_> {
    /// Whether the client may see an entry with this rule.
    #[must_use]
    pub fn allows(self, rule: Option<usize>) -> bool {
        rule.is_none_or(|rule| {
            let byte = self.0.get(rule / 8).copied().unwrap_or_default();
            byte >> (rule % 8) & 1 == 1
        })
    }
}
