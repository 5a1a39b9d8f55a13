//! The four lists and the descriptions of the server, encoded once per revision.
//!
//! A prebuilt answer is everything behind the id: `,"result":{…}}`. Whoever replies writes the head
//! with the id in front and never touches the rest again.

use serde_json::Value;

use super::cursor;
use super::definition::CacheScope;
use super::extras::Extras;
use crate::json;
use crate::model::{self, Shape};
use crate::revision::{Era, Revision};

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ListKind {
    /// `tools/list`
    Tools,
    /// `prompts/list`
    Prompts,
    /// `resources/list`
    Resources,
    /// `resources/templates/list`
    ResourceTemplates,
}

impl ListKind {
    /// Every list.
    pub const ALL: [Self; 4] = [
        Self::Tools,
        Self::Prompts,
        Self::Resources,
        Self::ResourceTemplates,
    ];

    /// The result's member that holds the entries.
    #[must_use]
    pub const fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
        }
    }

    /// What an entry is called in messages.
    #[must_use]
    pub const fn noun(self) -> &'static str {
        match self {
            Self::Tools => "tool",
            Self::Prompts => "prompt",
            Self::Resources => "resource",
            Self::ResourceTemplates => "resource template",
        }
    }

    /// The shape of an entry.
    #[must_use]
    pub fn shape(self) -> &'static Shape {
        match self {
            Self::Tools => &model::TOOL,
            Self::Prompts => &model::PROMPT,
            Self::Resources => &model::RESOURCE,
            Self::ResourceTemplates => &model::RESOURCE_TEMPLATE,
        }
    }
}

/// How long and with whom a client may share what it got (2026-07-28).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caching {
    /// Milliseconds.
    pub ttl_ms: u64,
    /// Who may share it.
    pub scope: CacheScope,
}

impl Caching {
    /// The members `ttlMs` and `cacheScope`.
    pub fn write(self, out: &mut Vec<u8>) {
        let members = format!(
            r#""ttlMs":{},"cacheScope":"{}""#,
            self.ttl_ms,
            self.scope.as_str()
        );
        out.extend_from_slice(members.as_bytes());
    }
}

/// One list's pages, for each revision.
#[derive(Debug)]
pub(super) struct Pages([Vec<Vec<u8>>; Revision::ALL.len()]);

/// What the pages of one catalogue have in common.
pub(super) struct PageContext<'c> {
    pub(super) page_size: usize,
    pub(super) fingerprint: u64,
    pub(super) caching: Caching,
    pub(super) extras: &'c dyn Fn(Revision) -> Extras,
}

impl Pages {
    pub(super) fn encode(kind: ListKind, entries: &[Value], context: &PageContext<'_>) -> Self {
        Self(Revision::ALL.map(|revision| encode_pages(kind, entries, revision, context)))
    }

    pub(super) fn get(&self, revision: Revision, page: u32) -> Option<&[u8]> {
        let pages = self.0.get(revision.index())?;
        pages.get(usize::try_from(page).ok()?).map(Vec::as_slice)
    }
}

fn encode_pages(
    kind: ListKind,
    entries: &[Value],
    revision: Revision,
    context: &PageContext<'_>,
) -> Vec<Vec<u8>> {
    let encoded: Vec<Vec<u8>> = entries
        .iter()
        .map(|entry| model::encode_for(kind.shape(), entry, revision))
        .collect();
    let mut pages: Vec<&[Vec<u8>]> = encoded.chunks(context.page_size.max(1)).collect();
    if pages.is_empty() {
        pages.push(&[]);
    }
    let last = pages.len().saturating_sub(1);
    let extras = (context.extras)(revision);
    pages
        .iter()
        .zip(0u32..)
        .map(|(page, number)| {
            let next = ((number as usize) < last)
                .then(|| cursor::encode(kind, context.fingerprint, number.saturating_add(1)));
            list_tail(
                kind,
                page,
                next.as_deref(),
                revision,
                context.caching,
                &extras,
            )
        })
        .collect()
}

/// `,"result":{…}}` of one page.
fn list_tail(
    kind: ListKind,
    entries: &[Vec<u8>],
    next_cursor: Option<&str>,
    revision: Revision,
    caching: Caching,
    extras: &Extras,
) -> Vec<u8> {
    let mut out = Vec::new();
    extras.open_result(&mut out);
    json::write_string(&mut out, kind.member());
    out.extend_from_slice(b":[");
    out.extend_from_slice(&entries.join(&b","[..]));
    out.push(b']');
    if let Some(cursor) = next_cursor {
        out.extend_from_slice(b",\"nextCursor\":");
        json::write_string(&mut out, cursor);
    }
    if revision.era() == Era::Stateless {
        out.push(b',');
        caching.write(&mut out);
    }
    extras.close_result(&mut out);
    out
}
