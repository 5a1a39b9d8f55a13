//! The four lists and the descriptions of the server, encoded once per revision.
//!
//! A prebuilt response is the part after the id: `,"result":{…}}`. The sender writes the head with
//! the id before it and never copies this part.

use std::ops::Range;

use serde_json::Value;

use super::cursor;
use super::definition::CacheScope;
use super::extras::{Extras, ServerExtras};
use crate::json;
use crate::model::{self, Shape};
use crate::revision::{Era, Revision};

/// One of the four lists.
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

    /// The name of an entry in messages.
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

/// How long a client may cache a result, and who may share it (2026-07-28).
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

/// The pages of one list for each revision.
#[derive(Debug)]
pub(super) struct Pages([Encoded; Revision::ALL.len()]);

/// The pages of one revision, and the page and byte range of each entry.
#[derive(Debug)]
struct Encoded {
    pages: Vec<Vec<u8>>,
    entries: Vec<(usize, Range<usize>)>,
}

/// The values that all pages of a catalogue share.
pub(super) struct PageContext<'c> {
    pub(super) page_size: usize,
    pub(super) fingerprint: u64,
    pub(super) caching: Caching,
    pub(super) extras: &'c ServerExtras,
}

impl Pages {
    pub(super) fn encode(kind: ListKind, entries: &[Value], context: &PageContext<'_>) -> Self {
        Self(Revision::ALL.map(|revision| encode_pages(kind, entries, revision, context)))
    }

    pub(super) fn get(&self, revision: Revision, page: u32) -> Option<&[u8]> {
        let pages = &self.0.get(revision.index())?.pages;
        pages.get(usize::try_from(page).ok()?).map(Vec::as_slice)
    }

    /// The encoded entries in declaration order.
    pub(super) fn entries(&self, revision: Revision) -> impl Iterator<Item = &[u8]> {
        let encoded = self.0.get(revision.index());
        encoded.into_iter().flat_map(|encoded| {
            let entries = encoded.entries.iter();
            entries.filter_map(|(page, range)| encoded.pages.get(*page)?.get(range.clone()))
        })
    }
}

fn encode_pages(
    kind: ListKind,
    entries: &[Value],
    revision: Revision,
    context: &PageContext<'_>,
) -> Encoded {
    let encoded: Vec<Vec<u8>> = entries
        .iter()
        .map(|entry| model::encode_for(kind.shape(), entry, revision))
        .collect();
    let encoded: Vec<&[u8]> = encoded.iter().map(Vec::as_slice).collect();
    let frame = PageFrame {
        kind,
        revision,
        caching: context.caching,
        extras: context.extras.at(revision),
    };
    let pages = PageCount::of(encoded.len(), context.page_size);
    let mut places = Vec::with_capacity(encoded.len());
    let pages = (0..pages.count)
        .map(|number| {
            let next = pages
                .next(number)
                .map(|next| cursor::encode(kind, context.fingerprint, next));
            let page = frame.write(pages.of_page(&encoded, number), next.as_deref());
            places.extend(
                page.entries
                    .into_iter()
                    .map(|range| (number as usize, range)),
            );
            page.text
        })
        .collect();
    Encoded {
        pages,
        entries: places,
    }
}

/// How a list is split into pages. An empty list has one page.
#[derive(Clone, Copy)]
pub(super) struct PageCount {
    size: usize,
    pub(super) count: u32,
}

impl PageCount {
    pub(super) fn of(entries: usize, page_size: usize) -> Self {
        let size = page_size.max(1);
        let count = u32::try_from(entries.div_ceil(size)).unwrap_or(u32::MAX);
        Self {
            size,
            count: count.max(1),
        }
    }

    /// The next page, if there is one.
    pub(super) fn next(self, page: u32) -> Option<u32> {
        page.checked_add(1).filter(|next| *next < self.count)
    }

    /// The entries of the page.
    pub(super) fn of_page<'e, 'x>(self, entries: &'e [&'x [u8]], page: u32) -> &'e [&'x [u8]] {
        let pages = entries.chunks(self.size);
        let place = usize::try_from(page).unwrap_or(usize::MAX);
        pages.into_iter().nth(place).unwrap_or_default()
    }
}

/// The frame around the entries of a page.
pub(super) struct PageFrame<'c> {
    pub(super) kind: ListKind,
    pub(super) revision: Revision,
    pub(super) caching: Caching,
    pub(super) extras: &'c Extras,
}

/// A page, and the byte range of each entry.
pub(super) struct Page {
    pub(super) text: Vec<u8>,
    pub(super) entries: Vec<Range<usize>>,
}

impl PageFrame<'_> {
    /// `,"result":{…}}` of one page.
    pub(super) fn write(&self, entries: &[&[u8]], next_cursor: Option<&str>) -> Page {
        let bytes: usize = entries
            .iter()
            .map(|entry| entry.len().saturating_add(1))
            .sum();
        let mut out = Vec::with_capacity(bytes.saturating_add(FRAME_BYTES));
        let mut places = Vec::with_capacity(entries.len());
        self.extras.open_result(&mut out);
        json::write_string(&mut out, self.kind.member());
        out.extend_from_slice(b":[");
        for (place, entry) in entries.iter().enumerate() {
            if place > 0 {
                out.push(b',');
            }
            let start = out.len();
            out.extend_from_slice(entry);
            places.push(start..out.len());
        }
        out.push(b']');
        if let Some(cursor) = next_cursor {
            out.extend_from_slice(b",\"nextCursor\":");
            json::write_string(&mut out, cursor);
        }
        if self.revision.era() == Era::Stateless {
            out.push(b',');
            self.caching.write(&mut out);
        }
        self.extras.close_result(&mut out);
        Page {
            text: out,
            entries: places,
        }
    }
}

/// The approximate size of a page without its entries.
const FRAME_BYTES: usize = 512;
