//! The catalogue without the entries that are hidden from a client.

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
pub struct Offer<'c, 'w, J: Json> {
    catalog: &'c Catalog<J>,
    without: &'w [Entry],
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
        Self { catalog, without }
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
        found.filter(|(index, _)| self.has(ListKind::Tools, *index))
    }

    /// The prompt with this name, and its index.
    #[must_use]
    pub fn find_prompt(self, name: &str) -> Option<(usize, &'c PromptTarget)> {
        let found = self.catalog.find_prompt(name);
        found.filter(|(index, _)| self.has(ListKind::Prompts, *index))
    }

    /// The resource or template for a URI.
    #[must_use]
    pub fn find_resource(self, uri: &str) -> Option<ReadTarget> {
        self.catalog
            .find_read_target(uri, |kind, index| self.has(kind, index))
    }

    /// The template whose text is `uri_template`, and its index.
    #[must_use]
    pub fn find_template(self, uri_template: &str) -> Option<(usize, &'c TemplateTarget)> {
        let found = self.catalog.find_template(uri_template);
        found.filter(|(index, _)| self.has(ListKind::ResourceTemplates, *index))
    }

    /// The index of the static resource with this URI.
    #[must_use]
    pub fn resource_at(self, uri: &str) -> Option<usize> {
        let found = self.catalog.resource_at(uri);
        found.filter(|index| self.has(ListKind::Resources, *index))
    }
}
