//! Lists that differ between clients.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp_core::catalog::{Grant, ListKind};
use mcp_core::json::Limits;
use mcp_core::protocol::{
    Input, Method, Refusal, Request, RunTimeCall, TaskRequest, Work, open_result_head,
};
use mcp_core::revision::Revision;
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use super::admission::{fitting, task_term};
use super::result::list_kind;
use super::{CatalogResource, TermId, revision};
use crate::atoms;
use crate::dirty::{Effort, on_dirty, twins};
use crate::resources::{binary_term, report_work};
use crate::schema::Allowance;

/// A page for several clients; the terms refer to it without a copy.
#[derive(Default)]
pub(crate) struct PageResource(Vec<u8>);

#[rustler::resource_impl]
impl rustler::Resource for PageResource {}

type Page = ResourceArc<PageResource>;

/// Id, revision, which list, cursor.
type Listed<'a> = (TermId, &'a str, Atom, Option<&'a str>);

/// The answer to a list request: the declared entries that the grant allows, then the entries in
/// `more`. Returns `{ok, iodata}`, or `{error, {status, answer}}` for a cursor of another list.
#[rustler::nif]
fn granted_list<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    request: Listed<'a>,
    grant: Binary<'a>,
    more: Vec<Binary<'a>>,
    version: Binary<'a>,
) -> NifResult<Term<'a>> {
    page(env, &catalog, request, grant, &more, version)
}

#[rustler::nif(schedule = "DirtyCpu")]
fn granted_list_dirty<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    request: Listed<'a>,
    grant: Binary<'a>,
    more: Vec<Binary<'a>>,
    version: Binary<'a>,
) -> NifResult<Term<'a>> {
    on_dirty(env, || page(env, &catalog, request, grant, &more, version))
}

fn page<'a>(
    env: Env<'a>,
    catalog: &CatalogResource,
    (id, revision_name, kind, cursor): Listed<'a>,
    grant: Binary<'a>,
    more: &[Binary<'a>],
    version: Binary<'a>,
) -> NifResult<Term<'a>> {
    let revision = revision(revision_name)?;
    let kind = list_kind(kind).ok_or(Error::BadArg)?;
    let key = PageKey {
        kind,
        revision,
        grant: grant.as_slice().to_vec(),
        version: version.as_slice().to_vec(),
        cursor: cursor.map(str::to_owned),
    };
    let make = || {
        let more: Vec<&[u8]> = more.iter().map(Binary::as_slice).collect();
        let more = (more.as_slice(), version.as_slice());
        let grant = Grant(grant.as_slice());
        let page = catalog
            .0
            .granted_list(kind, revision, cursor, grant, more)?;
        report_work(env, page.len());
        Some(page)
    };
    let Some(page) = catalog.2.get(key, make) else {
        let answer = Refusal::foreign_cursor().answer(Some(&id.0), revision);
        return Ok(env.error_tuple((answer.status, binary_term(env, answer.body))));
    };
    let mut head = Vec::with_capacity(64);
    open_result_head(&mut head, &id.0);
    let page = page.make_binary(env, |page| &page.0).to_term(env);
    Ok((atoms::ok(), vec![binary_term(env, head), page]).encode(env))
}

twins!("run_time_arguments": run_time_arguments_inline, run_time_arguments_dirty(
    catalog: ResourceArc<CatalogResource>,
    called: Called<'a>,
    arguments: Term<'a>,
) => run_time_arguments(catalog, called, arguments));

/// Id, revision, name, the task as in `McpServer.Request`, the names of the client's capabilities.
type Called<'a> = (TermId, &'a str, &'a str, Term<'a>, Vec<&'a str>);

/// Checks the arguments for the catalogue's only tool: `{ok, arguments, repairs, task}`, or
/// `{error, {status, answer}}`.
fn run_time_arguments<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    (id, revision_name, name, task, capabilities): Called<'a>,
    arguments: Term<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let tool = catalog.0.tool(0).ok_or(Error::BadArg)?;
    let call = RunTimeCall {
        revision: revision(revision_name)?,
        task: task_request(task)?,
        capabilities: &capabilities,
    };
    let refused = |refusal: Refusal| {
        let answer = refusal.answer(Some(&id.0), call.revision);
        env.error_tuple((answer.status, binary_term(env, answer.body)))
    };
    let task = match call.task(tool) {
        Ok(task) => task,
        Err(refusal) => return Ok(refused(refusal)),
    };
    let request = Request {
        id: id.0.clone(),
        revision: call.revision,
        method: Method::CallTool,
        work: Work::Tool {
            name: name.into(),
            index: 0,
            arguments: None,
            task,
        },
        meta: None,
        extra_meta: Vec::new(),
        progress_token: None,
        client: None,
        input: Input::default(),
        room: Limits::default(),
        unmet: None,
        hidden: None,
        stand_in: None,
    };
    let allowance = Allowance::of(effort);
    Ok(
        match fitting(env, &catalog, &request, arguments, &allowance) {
            None => return Err(Error::Atom("over_budget")),
            Some(Ok((arguments, repairs))) => match call.unmet(tool) {
                None => (atoms::ok(), arguments, repairs, task_term(env, &request)).encode(env),
                Some(refusal) => refused(refusal),
            },
            Some(Err(answer)) => env.error_tuple((answer.status, binary_term(env, answer.body))),
        },
    )
}

fn task_request(term: Term<'_>) -> NifResult<Option<TaskRequest>> {
    if term == atoms::nil().to_term(term.get_env()) {
        return Ok(None);
    }
    let ttl = match term.decode::<Atom>() {
        Ok(_default) => None,
        Err(_) => Some(term.decode()?),
    };
    Ok(Some(TaskRequest { ttl }))
}

/// The most pages in the cache, and their most bytes together.
const MAX_PAGES: usize = 256;
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The identity of a page.
#[derive(Debug, PartialEq, Eq)]
struct PageKey {
    kind: ListKind,
    revision: Revision,
    grant: Vec<u8>,
    version: Vec<u8>,
    cursor: Option<String>,
}

/// The last requested pages of one catalogue: clients with the same grant share a page.
#[derive(Default)]
pub(crate) struct GrantedPages(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    pages: VecDeque<(PageKey, Page)>,
    bytes: usize,
}

impl GrantedPages {
    /// The page from the cache, or else from `make`; `None` if the page does not exist.
    fn get(&self, key: PageKey, make: impl FnOnce() -> Option<Vec<u8>>) -> Option<Page> {
        if let Some(page) = self.kept().find(&key) {
            return Some(page);
        }
        let page = ResourceArc::new(PageResource(make()?));
        self.kept().put(key, page.clone());
        Some(page)
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&self, key: &PageKey) -> Option<Page> {
        let found = self.pages.iter().find(|(known, _)| known == key);
        found.map(|(_, page)| page.clone())
    }

    fn put(&mut self, key: PageKey, page: Page) {
        self.bytes = self.bytes.saturating_add(page.0.len());
        self.pages.push_front((key, page));
        while self.pages.len() > MAX_PAGES || self.bytes > MAX_BYTES {
            let Some((_, oldest)) = self.pages.pop_back() else {
                return;
            };
            self.bytes = self.bytes.saturating_sub(oldest.0.len());
        }
    }
}
