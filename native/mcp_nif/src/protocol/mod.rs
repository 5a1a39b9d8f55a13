//! The protocol's NIFs: they convert messages to outcomes, and results to messages. `mcp_core` has
//! all rules; this module converts between terms and slices.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

pub(crate) mod admission;
mod apps;
mod envelope;
mod input;
mod limits;
mod lists;
mod result;
mod state;

use std::borrow::Cow;
use std::collections::HashMap;

use mcp_core::catalog::template::{Template, TemplateLimits, VarValue, normal_form};
use mcp_core::catalog::{Catalog, Entry, ListKind, Offer, ReadTarget};
use mcp_core::jsonrpc::{EnvelopeLimits, Id, id_of_refused};
use mcp_core::protocol::{Context, SessionContext, admit};
use mcp_core::revision::Revision;
use rustler::{Atom, Binary, Decoder, Encoder, Env, Error, NifResult, ResourceArc, Term};

use crate::arguments::{Missing, Structs, TermPlan};
use crate::atoms;
use crate::dirty::{Effort, twins};
use crate::resources::{on_large_stack, report_work};
use crate::terms::TermJson;
use admission::Over;
pub(crate) use limits::{GivenLimits, catalog_limits};
use lists::GrantedPages;
pub(crate) use lists::PageResource;

/// A compiled server definition, the conversions of its tools' arguments, and the cache of its
/// lists. All processes of the server share it.
pub(crate) struct CatalogResource(
    pub(crate) Catalog<TermJson>,
    Vec<Option<TermPlan>>,
    GrantedPages,
);

impl CatalogResource {
    fn new(env: Env<'_>, catalog: Catalog<TermJson>, structs: &Structs) -> Result<Self, Missing> {
        let mut plans = Vec::new();
        while let Some(tool) = catalog.tool(plans.len()) {
            let plan = tool.plan.as_ref();
            plans.push(
                plan.map(|plan| TermPlan::of(env, plan, structs))
                    .transpose()?,
            );
        }
        Ok(Self(catalog, plans, GrantedPages::default()))
    }

    /// The catalogue of a server without tools.
    pub(crate) fn without_tools(catalog: Catalog<TermJson>) -> Self {
        Self(catalog, Vec::new(), GrantedPages::default())
    }

    /// The conversion of the arguments of the tool at this index.
    fn plan(&self, index: usize) -> Option<&TermPlan> {
        self.1.get(index)?.as_ref()
    }
}

#[rustler::resource_impl]
impl rustler::Resource for CatalogResource {}

/// The id of a request whose JSON text is refused; `nil` without one.
#[rustler::nif(schedule = "DirtyCpu")]
fn refused_id<'a>(env: Env<'a>, text: Binary<'a>) -> Term<'a> {
    let id = id_of_refused(text.as_slice(), &EnvelopeLimits::default());
    id.map(|id| id_term(env, &id)).encode(env)
}

/// Compiles a definition on a thread with a large stack, because schemas recurse.
#[rustler::nif(schedule = "DirtyCpu")]
fn catalog_new<'a>(
    env: Env<'a>,
    definition: Binary<'a>,
    structs: Vec<(String, Binary<'a>)>,
    limits: Term<'a>,
    stand_in_key: Option<Binary<'a>>,
) -> Term<'a> {
    let limits = match catalog_limits(limits) {
        Ok(limits) => limits,
        Err(error) => return env.error_tuple(error),
    };
    let text = definition.as_slice();
    let structs: Structs = structs
        .into_iter()
        .map(|(name, term)| (name, term.to_vec()))
        .collect();
    let key = stand_in_key.and_then(|key| key.as_slice().try_into().ok());
    match on_large_stack(|| Catalog::build(text, &limits)) {
        Some(Ok(catalog)) => match CatalogResource::new(env, keyed(catalog, key), &structs) {
            Ok(catalog) => (atoms::ok(), ResourceArc::new(catalog)).encode(env),
            Err(Missing) => {
                env.error_tuple("a struct or a key that arguments become does not exist")
            }
        },
        Some(Err(error)) => env.error_tuple(error.to_string()),
        None => env.error_tuple("the definition cannot be compiled"),
    }
}

fn keyed(catalog: Catalog<TermJson>, key: Option<[u8; 32]>) -> Catalog<TermJson> {
    match key {
        Some(key) => catalog.with_stand_in_key(key),
        None => catalog,
    }
}

twins!("admit": admit_inline, admit_dirty(
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    revision_name: Option<&'a str>,
    line: Binary<'a>,
) => admit_line(catalog, limits, revision_name, line));

fn admit_line<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    revision_name: Option<&str>,
    line: Binary<'a>,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let context = Context {
        session: session(revision_name)?,
        http: None,
        anonymous: None,
    };
    let admission = admit(&catalog.0, context, line.as_slice(), &limits.get());
    report_work(env, line.len());
    admission::to_term(env, &catalog, admission, Over::Line, effort)
}

/// Finds the entry of a URI, ignoring the entries `without`: `{resource, index}`,
/// `{resource_template, index, variables}`, or `not_found`.
#[rustler::nif]
fn find_resource<'a>(
    env: Env<'a>,
    catalog: ResourceArc<CatalogResource>,
    uri: &'a str,
    without: Vec<(Atom, usize)>,
) -> NifResult<Term<'a>> {
    report_work(env, uri.len());
    let entry = |(kind, index): (Atom, usize)| {
        let kind = if kind == atoms::resource() {
            ListKind::Resources
        } else {
            ListKind::ResourceTemplates
        };
        Entry::new(kind, index)
    };
    let without: Vec<Entry> = without.into_iter().map(entry).collect();
    Ok(match Offer::new(&catalog.0, &without).find_resource(uri) {
        None => atoms::not_found().encode(env),
        Some(ReadTarget::Resource { index }) => (atoms::resource(), index).encode(env),
        Some(ReadTarget::Template { index, variables }) => {
            let variables = Term::map_from_pairs(env, &variables).map_err(|_| Error::BadArg)?;
            (atoms::resource_template(), index, variables).encode(env)
        }
    })
}

/// The normal form of a URI. A binary that is not UTF-8 is no URI, and stays as it is.
#[rustler::nif]
fn normal_uri<'a>(env: Env<'a>, uri: Binary<'a>) -> Term<'a> {
    report_work(env, uri.len());
    match std::str::from_utf8(uri.as_slice()).map(normal_form) {
        Ok(Cow::Owned(normal)) => normal.encode(env),
        _ => uri.to_term(env),
    }
}

/// Expands a declared template to a URI.
#[rustler::nif]
fn expand_template(template: &str, variables: HashMap<String, String>) -> NifResult<String> {
    let limits = TemplateLimits {
        max_bytes: usize::MAX,
        max_variables: usize::MAX,
    };
    Template::parse(template, &limits)
        .and_then(|template| {
            template.expand(&|name| variables.get(name).cloned().map(VarValue::Text))
        })
        .map_err(|_| Error::BadArg)
}

/// The session of the revision that Elixir passes.
pub(crate) fn session(revision_name: Option<&str>) -> NifResult<Option<SessionContext>> {
    revision_name
        .map(|name| {
            Ok(SessionContext {
                revision: revision(name)?,
            })
        })
        .transpose()
}

/// The revision of the name that Elixir passes.
fn revision(name: &str) -> NifResult<Revision> {
    Revision::parse(name).ok_or(Error::BadArg)
}

/// A request id or progress token as a term.
fn id_term<'a>(env: Env<'a>, id: &Id) -> Term<'a> {
    match id {
        Id::Number(number) => match i64::try_from(*number) {
            Ok(number) => number.encode(env),
            Err(_) => u64::try_from(*number).unwrap_or(u64::MAX).encode(env),
        },
        Id::Text(text) => text.encode(env),
    }
}

/// A request id that [`id_term`] returned, or that the session chose.
struct TermId(Id);

impl<'a> Decoder<'a> for TermId {
    fn decode(term: Term<'a>) -> NifResult<Self> {
        if let Ok(number) = term.decode::<i64>() {
            return Ok(Self(Id::Number(number.into())));
        }
        if let Ok(number) = term.decode::<u64>() {
            return Ok(Self(Id::Number(number.into())));
        }
        term.decode::<&str>()
            .map(|text| Self(Id::Text(text.to_owned())))
    }
}
