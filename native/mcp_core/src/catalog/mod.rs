//! A server's tools, prompts and resources, and all data about them that can be computed before the
//! first message.

mod cursor;
mod definition;
mod describe;
mod extras;
mod grant;
pub mod header_parameters;
mod icons;
mod limits;
mod lists;
mod offer;
mod targets;
pub mod template;

use std::borrow::Cow;
use std::collections::BTreeMap;

use jsonschema::json::Json;
use serde_json::Value;

pub use definition::{Asks, CacheScope, Definition, ServerDefinition, ToolRule};
pub use describe::Capabilities;
pub use extras::Extras;
use extras::ServerExtras;
pub use grant::{Grant, OfEntries, Public, Rules};
pub use limits::CatalogLimits;
pub use lists::{Caching, ListKind};
pub use offer::{Entry, Offer};
pub use targets::{PromptTarget, ReadTarget, TemplateTarget, ToolTarget};

use crate::model;
use crate::revision::{Era, Revision};
use describe::Descriptions;
use lists::{PageContext, PageCount, PageFrame, Pages};
use template::normal_form;

/// Why a definition was refused.
#[derive(Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogError {
    /// The text is not a definition.
    #[error("not a server definition: {0}")]
    Definition(String),
    /// A declared object is invalid.
    #[error("{kind} \"{name}\": {reason}")]
    Entry {
        /// `tool`, `prompt`, `resource` or `resource template`.
        kind: &'static str,
        /// Its name, or its index in the list if it has none.
        name: String,
        /// The fault.
        reason: String,
    },
}

/// A compiled server definition. It is immutable, and all connections of the server share it.
pub struct Catalog<J: Json> {
    extras: ServerExtras,
    caching: Caching,
    capabilities: Capabilities,
    descriptions: Descriptions,
    lists: [Pages; 4],
    dynamic: Vec<ListKind>,
    run_time_tools: bool,
    rules: Rules,
    public: Public,
    filtered: [bool; 4],
    guarded: [Vec<usize>; 4],
    page_size: usize,
    digest: [u8; 32],
    stand_in_key: [u8; 32],
    fingerprint: u64,
    tools: Vec<ToolTarget<J>>,
    tool_names: BTreeMap<String, usize>,
    prompts: Vec<PromptTarget>,
    prompt_names: BTreeMap<String, usize>,
    resource_uris: BTreeMap<String, usize>,
    templates: Vec<TemplateTarget>,
}

impl<J: Json> Catalog<J> {
    /// Compiles a definition: every list for every revision, every schema, every URI template.
    ///
    /// Compiling a schema recurses inside a third-party crate, so the thread needs a large stack.
    /// 64 MiB are enough for any schema within the default limits.
    ///
    /// # Errors
    /// [`CatalogError`] naming the invalid entry.
    pub fn build(definition: &[u8], limits: &CatalogLimits) -> Result<Self, CatalogError> {
        let digest = cursor::digest(definition);
        let fingerprint = cursor::fingerprint(&digest);
        let definition = Definition::read(definition)?;
        let dynamic = dynamic_lists(&definition.dynamic)?;
        let capabilities = Capabilities::of(&definition, &dynamic);
        let server = &definition.server;
        if let Some(reason) = icons::fault(&server.info) {
            return Err(targets::refused("server", &server.info, reason));
        }
        let caching = Caching {
            ttl_ms: server.ttl_ms,
            scope: server.cache_scope,
        };
        let extras = ServerExtras::of(&server.info);
        let context = PageContext {
            page_size: server.page_size,
            fingerprint,
            caching,
            extras: &extras,
        };
        let lists = ListKind::ALL.map(|kind| Pages::encode(kind, definition.list(kind), &context));
        let tools = targets::tools(&definition, &limits.schema)?;
        let prompts = targets::prompts(&definition)?;
        let resources = targets::resources(&definition)?;
        let templates = targets::templates(&definition, &limits.template)?;
        targets::views(&definition, &resources, &templates)?;
        Ok(Self {
            descriptions: Descriptions::encode(server, &capabilities, caching, &extras),
            tool_names: names(tools.iter().map(|tool| tool.name.clone())),
            prompt_names: names(prompts.iter().map(|prompt| prompt.name.clone())),
            resource_uris: names(resources.iter().map(|uri| normal_form(uri).into_owned())),
            page_size: server.page_size,
            filtered: ListKind::ALL.map(|kind| definition.context || definition.rules.filter(kind)),
            guarded: ListKind::ALL.map(|kind| definition.rules.guarded(kind)),
            run_time_tools: definition.run_time_tools,
            rules: definition.rules,
            public: definition.public,
            extras,
            caching,
            capabilities,
            lists,
            dynamic,
            digest,
            stand_in_key: digest,
            fingerprint,
            tools,
            prompts,
            templates,
        })
    }

    /// The server's capabilities.
    #[must_use]
    pub const fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    /// The part after the id of the prebuilt list response; `None` for a cursor of another list.
    #[must_use]
    pub fn list(&self, kind: ListKind, revision: Revision, cursor: Option<&str>) -> Option<&[u8]> {
        let page = match cursor {
            None => 0,
            Some(text) => cursor::decode(text, kind, self.fingerprint)?,
        };
        self.lists.get(kind as usize)?.get(revision, page)
    }

    /// The part after the id of the list response for a client with this grant. `more` are entries
    /// after the declared ones: JSON texts in the wire format of the newest revision. `version`
    /// identifies them. The result is `None` for a cursor of another list, grant or `version`.
    #[must_use]
    pub fn granted_list(
        &self,
        kind: ListKind,
        revision: Revision,
        cursor: Option<&str>,
        grant: Grant<'_>,
        (more, version): (&[&[u8]], &[u8]),
    ) -> Option<Vec<u8>> {
        let fingerprint = cursor::fingerprint_of(&self.digest, &[grant.0, version]);
        let page = match cursor {
            None => 0,
            Some(text) => cursor::decode(text, kind, fingerprint)?,
        };
        let entries = self.lists.get(kind as usize)?.entries(revision);
        let more: Vec<Cow<'_, [u8]>> = more
            .iter()
            .filter_map(|text| encoded(kind, text, revision))
            .collect();
        let entries: Vec<&[u8]> = entries
            .enumerate()
            .filter(|(index, _)| grant.allows(self.rules.of(Entry::new(kind, *index))))
            .map(|(_, entry)| entry)
            .chain(more.iter().map(AsRef::as_ref))
            .collect();
        self.page(kind, revision, &entries, (page, fingerprint))
    }

    fn page(
        &self,
        kind: ListKind,
        revision: Revision,
        entries: &[&[u8]],
        (page, fingerprint): (u32, u64),
    ) -> Option<Vec<u8>> {
        let pages = PageCount::of(entries.len(), self.page_size);
        if page >= pages.count {
            return None;
        }
        let frame = PageFrame {
            kind,
            revision,
            caching: self.caching_for_one(),
            extras: self.extras(revision),
        };
        let next = pages.next(page);
        let next = next.map(|next| cursor::encode(kind, fingerprint, next));
        let page = frame.write(pages.of_page(entries, page), next.as_deref());
        Some(page.text)
    }

    /// Whether the list differs between clients.
    #[must_use]
    pub fn is_filtered(&self, kind: ListKind) -> bool {
        let filtered = self.filtered.get(kind as usize).copied();
        filtered.unwrap_or_default() || (self.run_time_tools && kind == ListKind::Tools)
    }

    /// Whether some entries are visible to only some clients.
    #[must_use]
    pub fn is_guarding(&self) -> bool {
        self.run_time_tools || self.filtered.contains(&true)
    }

    /// Whether only some clients may see the entry.
    #[must_use]
    pub fn is_guarded(&self, entry: Entry) -> bool {
        entry == Entry::RUN_TIME || self.rules.of(entry).is_some()
    }

    /// The catalogue with a key that chooses stand-ins for unknown names.
    ///
    /// Clients must not know it. Entries take different times: a client that could tell which entry
    /// stands in for a name could tell by the time whether the name is unknown.
    #[must_use]
    pub fn with_stand_in_key(mut self, key: [u8; 32]) -> Self {
        self.stand_in_key = key;
        self
    }

    /// An entry of the lists that only some clients may see, to stand in for an unknown name. The
    /// same name always has the same stand-in, of the entries that `fits` accepts; the key of
    /// [`Catalog::with_stand_in_key`] decides which. `None` if all clients may see all of them.
    #[must_use]
    pub fn stand_in_for(
        &self,
        kinds: &[ListKind],
        name: &str,
        fits: impl Fn(Entry) -> bool,
    ) -> Option<Entry> {
        let guarded: Vec<Entry> = kinds
            .iter()
            .flat_map(|kind| {
                let indexes = self.guarded.get(*kind as usize).into_iter().flatten();
                indexes.map(|index| Entry::new(*kind, *index))
            })
            .filter(|entry| fits(*entry))
            .collect();
        let number = cursor::fingerprint_of(&self.stand_in_key, &[name.as_bytes()]);
        let chosen = number.checked_rem(u64::try_from(guarded.len()).ok()?)?;
        guarded.get(usize::try_from(chosen).ok()?).copied()
    }

    /// Whether the entry may be used without a token.
    #[must_use]
    pub fn is_public(&self, entry: Entry) -> bool {
        self.public.of(entry)
    }

    /// Whether tools may be declared at run time.
    #[must_use]
    pub const fn has_run_time_tools(&self) -> bool {
        self.run_time_tools
    }

    /// Whether user code computes this list.
    #[must_use]
    pub fn is_dynamic(&self, kind: ListKind) -> bool {
        self.dynamic.contains(&kind)
    }

    /// The part after the id of the prebuilt response to `initialize`.
    #[must_use]
    pub fn initialize_tail(&self, revision: Revision) -> &[u8] {
        self.descriptions.initialize(revision)
    }

    /// The part after the id of the prebuilt response to `server/discover`.
    #[must_use]
    pub fn discover_tail(&self) -> &[u8] {
        self.descriptions.discover()
    }

    /// The members that `revision` adds to a result of this server.
    #[must_use]
    pub const fn extras(&self, revision: Revision) -> &Extras {
        self.extras.at(revision)
    }

    /// The caching members of a list that was made for one client; `None` before 2026-07-28.
    #[must_use]
    pub fn caching(&self, revision: Revision) -> Option<Caching> {
        (revision.era() == Era::Stateless).then(|| self.caching_for_one())
    }

    /// No other client may share what was made for one.
    const fn caching_for_one(&self) -> Caching {
        Caching {
            ttl_ms: self.caching.ttl_ms,
            scope: CacheScope::Private,
        }
    }

    /// The tool with this name, and its index.
    #[must_use]
    pub fn find_tool(&self, name: &str) -> Option<(usize, &ToolTarget<J>)> {
        let index = *self.tool_names.get(name)?;
        Some((index, self.tools.get(index)?))
    }

    /// The tool at this index.
    #[must_use]
    pub fn tool(&self, index: usize) -> Option<&ToolTarget<J>> {
        self.tools.get(index)
    }

    /// The prompt with this name, and its index.
    #[must_use]
    pub fn find_prompt(&self, name: &str) -> Option<(usize, &PromptTarget)> {
        let index = *self.prompt_names.get(name)?;
        Some((index, self.prompts.get(index)?))
    }

    /// The target of a URI: a static resource, or the first template that matches. Equivalent URIs,
    /// which have the same [`normal_form`], have the same target.
    #[must_use]
    pub fn find_resource(&self, uri: &str) -> Option<ReadTarget> {
        self.find_read_target(uri, |_, _| true)
    }

    fn find_read_target(
        &self,
        uri: &str,
        there: impl Fn(ListKind, usize) -> bool,
    ) -> Option<ReadTarget> {
        // Once for all templates: they match a normal form without another copy.
        let uri = &*normal_form(uri);
        let resource = self.resource_at(uri);
        if let Some(index) = resource.filter(|index| there(ListKind::Resources, *index)) {
            return Some(ReadTarget::Resource { index });
        }
        self.templates
            .iter()
            .enumerate()
            .filter(|(index, _)| there(ListKind::ResourceTemplates, *index))
            .find_map(|(index, template)| {
                let variables = template.matcher.captures(uri)?;
                Some(ReadTarget::Template { index, variables })
            })
    }

    /// The template whose text is `uri_template`, and its index. A template is no URI, so no other
    /// text is equivalent.
    #[must_use]
    pub fn find_template(&self, uri_template: &str) -> Option<(usize, &TemplateTarget)> {
        self.templates
            .iter()
            .enumerate()
            .find(|(_, template)| template.text == uri_template)
    }

    /// The index of the static resource with this URI or an equivalent one.
    #[must_use]
    pub fn resource_at(&self, uri: &str) -> Option<usize> {
        self.resource_uris.get(&*normal_form(uri)).copied()
    }
}

impl Definition {
    fn list(&self, kind: ListKind) -> &[Value] {
        match kind {
            ListKind::Tools => &self.tools,
            ListKind::Prompts => &self.prompts,
            ListKind::Resources => &self.resources,
            ListKind::ResourceTemplates => &self.resource_templates,
        }
    }

    /// The error for an integer of more than 64 bits at `pointer`. The parsed definition would
    /// round it, and clients would see another number.
    fn inexact(&self, pointer: &str) -> CatalogError {
        let mut steps = pointer.splitn(5, '/').skip(1);
        let member = steps.next().unwrap_or_default();
        let index = steps.next().and_then(|index| index.parse::<usize>().ok());
        let list = ListKind::ALL
            .into_iter()
            .find(|kind| kind.member() == member);
        let entry = list.and_then(|kind| Some((kind, self.list(kind).get(index?)?)));
        let Some((kind, entry)) = entry else {
            let reason = format!("it has an integer of more than 64 bits at \"{pointer}\"");
            return CatalogError::Definition(reason);
        };
        let field = steps.next().unwrap_or_default();
        let place = steps.next().map(|rest| format!("/{rest}"));
        let place = place.unwrap_or_default();
        let reason = format!("{field}: it has an integer of more than 64 bits at \"{place}\"");
        targets::refused(kind.noun(), entry, reason)
    }
}

/// Converts an entry from the wire format of the newest revision to that of `revision`.
fn encoded(kind: ListKind, text: &[u8], revision: Revision) -> Option<Cow<'_, [u8]>> {
    if revision == Revision::NEWEST {
        return Some(Cow::Borrowed(text));
    }
    let entry: Value = serde_json::from_slice(text).ok()?;
    Some(Cow::Owned(model::encode_for(
        kind.shape(),
        &entry,
        revision,
    )))
}

fn dynamic_lists(names: &[String]) -> Result<Vec<ListKind>, CatalogError> {
    names
        .iter()
        .map(|name| {
            ListKind::ALL
                .into_iter()
                .find(|kind| kind.member() == name)
                .ok_or_else(|| CatalogError::Definition(format!("no list is called \"{name}\"")))
        })
        .collect()
}

/// The first entry with a name wins. The router has already refused duplicates.
fn names(names: impl IntoIterator<Item = String>) -> BTreeMap<String, usize> {
    let mut places = BTreeMap::new();
    for (index, name) in names.into_iter().enumerate() {
        places.entry(name).or_insert(index);
    }
    places
}
