//! Lists that are not the same for every client.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::catalog::{Grant, ListKind};
use mcp_core::protocol::{Refusal, open_result_head};
use mcp_core::revision::Revision;
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use super::result::list_kind;
use super::{CatalogResource, TermId, revision};
use crate::atoms;
use crate::resources::{binary_term, report_work};

/// A page that several clients are sent; the terms refer to it and copy nothing.
#[derive(Default)]
pub(crate) struct PageResource(Arc<[u8]>);

#[rustler::resource_impl]
impl rustler::Resource for PageResource {}

/// The answer to a list request of a client with that grant: `{ok, iodata}`, or `{error, {status, answer}}` for a
/// cursor of what another one may see.
#[rustler::nif]
fn granted_list<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    id: TermId,
    revision_name: &str,
    kind: Atom,
    cursor: Option<&str>,
    grant: Binary<'a>,
) -> NifResult<Term<'a>> {
    let revision = revision(revision_name)?;
    let kind = list_kind(kind).ok_or(Error::BadArg)?;
    let key = PageKey {
        kind,
        revision,
        grant: grant.as_slice().to_vec(),
        cursor: cursor.map(str::to_owned),
    };
    let make = || {
        let grant = Grant(grant.as_slice());
        catalog.0.granted_list(kind, revision, cursor, grant)
    };
    let Some(page) = catalog.2.get(key, make) else {
        let answer = Refusal::foreign_cursor().answer(Some(&id.0), revision);
        return Ok(env.error_tuple((answer.status, binary_term(env, answer.body))));
    };
    report_work(env, page.len());
    let mut head = Vec::with_capacity(64);
    open_result_head(&mut head, &id.0);
    let page = ResourceArc::new(PageResource(page));
    let page = page.make_binary(env, |page| &page.0).to_term(env);
    Ok((atoms::ok(), vec![binary_term(env, head), page]).encode(env))
}

/// How many pages are kept, and how many bytes they may have together.
const MAX_PAGES: usize = 256;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// What tells one page from all others.
#[derive(Debug, PartialEq, Eq)]
struct PageKey {
    kind: ListKind,
    revision: Revision,
    grant: Vec<u8>,
    cursor: Option<String>,
}

/// The pages of one catalogue that were asked for last: each is made once for all clients of a grant.
#[derive(Debug, Default)]
pub(crate) struct GrantedPages(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    pages: VecDeque<(PageKey, Arc<[u8]>)>,
    bytes: usize,
}

impl GrantedPages {
    /// The page, made anew where it is not kept; `None` where there is no such page.
    fn get(&self, key: PageKey, make: impl FnOnce() -> Option<Vec<u8>>) -> Option<Arc<[u8]>> {
        if let Some(page) = self.kept().find(&key) {
            return Some(page);
        }
        let page: Arc<[u8]> = make()?.into();
        self.kept().put(key, Arc::clone(&page));
        Some(page)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&self, key: &PageKey) -> Option<Arc<[u8]>> {
        let found = self.pages.iter().find(|(known, _)| known == key);
        found.map(|(_, page)| Arc::clone(page))
    }

    fn put(&mut self, key: PageKey, page: Arc<[u8]>) {
        self.bytes = self.bytes.saturating_add(page.len());
        self.pages.push_front((key, page));
        while self.pages.len() > MAX_PAGES || self.bytes > MAX_BYTES {
            let Some((_, oldest)) = self.pages.pop_back() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.len());
        }
    }
}
