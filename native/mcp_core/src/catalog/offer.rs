//! The catalogue without the entries that are hidden from a client, or with a stand-in for an
//! unknown name.

use std::ops::Deref;

use jsonschema::json::Json;

use super::{Catalog, ListKind, PromptTarget, ReadTarget, TemplateTarget, ToolTarget};

/// An entry of one of the four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The list.
    pub kind: ListKind,
    /// The index in the list.
    pub index: usize,
}

impl Entry {
    /// A tool that was declared at run time.
    pub const RUN_TIME: Self = Self::new(ListKind::Tools, usize::MAX);

    /// The entry at this index.
    #[must_use]
    pub const fn new(kind: ListKind, index: usize) -> Self {
        Self { kind, index }
    }
}

/// The catalogue without some entries. Every look-up skips them, so responses are the same as if
/// they had never been declared.
///
/// With a stand-in, look-ups of unknown names find this entry. A request for an unknown name is
/// then handled like one for a hidden entry, and takes as long.
pub struct Offer<'c, 'w, J: Json> {
    catalog: &'c Catalog<J>,
    without: &'w [Entry],
    stand_in: Option<Entry>,
}

impl<J: Json> Clone for Offer<'_, '_, J> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<J: Json> Copy for Offer<'_, '_, J> {}

impl<J: Json> Deref for Offer<'_, '_, J> {
    type Target = Catalog<J>;

    fn deref(&self) -> &Catalog<J> {
        self.catalog
    }
}

impl<'c, 'w, J: Json> Offer<'c, 'w, J> {
    /// The catalogue without these entries.
    #[must_use]
    pub const fn new(catalog: &'c Catalog<J>, without: &'w [Entry]) -> Self {
        Self {
            catalog,
            without,
            stand_in: None,
        }
    }

    /// The catalogue with an entry that stands in for unknown names of its list.
    #[must_use]
    pub const fn with_stand_in(self, entry: Entry) -> Self {
        Self {
            stand_in: Some(entry),
            ..self
        }
    }

    /// The index of the stand-in, if it is of this list.
    fn stand_in(self, kind: ListKind) -> Option<usize> {
        let entry = self.stand_in.filter(|entry| entry.kind == kind);
        entry.map(|entry| entry.index)
    }

    /// The whole catalogue.
    #[must_use]
    pub const fn all(self) -> &'c Catalog<J> {
        self.catalog
    }

    /// The hidden entries and one more.
    #[must_use]
    pub fn without(self, entry: Entry) -> Vec<Entry> {
        let mut without = self.without.to_vec();
        without.push(entry);
        without
    }

    fn has(self, kind: ListKind, index: usize) -> bool {
        !self.without.contains(&Entry { kind, index })
    }

    /// Whether an unknown tool may have been declared at run time.
    #[must_use]
    pub fn has_run_time_tools(self) -> bool {
        self.catalog.has_run_time_tools() && !self.without.contains(&Entry::RUN_TIME)
    }

    /// The tool with this name, and its index.
    #[must_use]
    pub fn find_tool(self, name: &str) -> Option<(usize, &'c ToolTarget<J>)> {
        let found = self.catalog.find_tool(name);
        let found = found.filter(|(index, _)| self.has(ListKind::Tools, *index));
        found.or_else(|| {
            let index = self.stand_in(ListKind::Tools)?;
            Some((index, self.catalog.tool(index)?))
        })
    }

    /// The prompt with this name, and its index.
    #[must_use]
    pub fn find_prompt(self, name: &str) -> Option<(usize, &'c PromptTarget)> {
        let found = self.catalog.find_prompt(name);
        let found = found.filter(|(index, _)| self.has(ListKind::Prompts, *index));
        found.or_else(|| {
            let index = self.stand_in(ListKind::Prompts)?;
            Some((index, self.catalog.prompts.get(index)?))
        })
    }

    /// The resource or template for a URI.
    #[must_use]
    pub fn find_resource(self, uri: &str) -> Option<ReadTarget> {
        let found = self
            .catalog
            .find_read_target(uri, |kind, index| self.has(kind, index));
        found.or_else(|| match self.stand_in? {
            Entry {
                kind: ListKind::Resources,
                index,
            } => Some(ReadTarget::Resource { index }),
            Entry {
                kind: ListKind::ResourceTemplates,
                index,
            } => Some(ReadTarget::Template {
                index,
                variables: Vec::new(),
            }),
            _ => None,
        })
    }

    /// The template whose text is `uri_template`, and its index.
    #[must_use]
    pub fn find_template(self, uri_template: &str) -> Option<(usize, &'c TemplateTarget)> {
        let found = self.catalog.find_template(uri_template);
        let found = found.filter(|(index, _)| self.has(ListKind::ResourceTemplates, *index));
        found.or_else(|| {
            let index = self.stand_in(ListKind::ResourceTemplates)?;
            Some((index, self.catalog.templates.get(index)?))
        })
    }

    /// The index of the static resource with this URI.
    #[must_use]
    pub fn resource_at(self, uri: &str) -> Option<usize> {
        let found = self.catalog.resource_at(uri);
        let found = found.filter(|index| self.has(ListKind::Resources, *index));
        found.or_else(|| self.stand_in(ListKind::Resources))
    }
}
