//! The part of the catalogue that a request may use: the server's capabilities, prebuilt or
//! computed lists, and tools whose required capabilities the client declared.

use jsonschema::json::Json;
use serde_json::json;

use super::fields::cursor;
use super::meta;
use super::method::Method;
use super::params;
use super::refusal::Refusal;
use super::request::Work;
use super::task;
use crate::catalog::{ListKind, Offer};
use crate::json::View;
use crate::model::TaskSupport;
use crate::revision::Revision;

/// Whether the server has the method's capability. Without it the method does not exist.
pub(super) fn is_offered<J: Json>(catalog: Offer<'_, '_, J>, method: Method) -> bool {
    let offered = catalog.capabilities();
    match method {
        Method::ListTools | Method::CallTool => offered.tools,
        Method::ListPrompts | Method::GetPrompt => offered.prompts,
        Method::ListResources
        | Method::ListResourceTemplates
        | Method::ReadResource
        | Method::Subscribe
        | Method::Unsubscribe => offered.resources,
        Method::Complete => offered.completions,
        Method::GetTask
        | Method::TaskResult
        | Method::ListTasks
        | Method::UpdateTask
        | Method::CancelTask => offered.tasks,
        Method::Initialize
        | Method::Ping
        | Method::Discover
        | Method::SetLevel
        | Method::Listen => true,
    }
}

/// A prebuilt list, or one that depends on user code.
pub(super) enum Listing<'c, 'a> {
    Prebuilt(&'c [u8]),
    Computed(Work<'a>),
}

pub(super) fn list<'c, 'a, J: Json>(
    catalog: Offer<'c, '_, J>,
    method: Method,
    revision: Revision,
    params: Option<View<'_, 'a>>,
) -> Result<Listing<'c, 'a>, Refusal> {
    let kind = match method {
        Method::ListTools => ListKind::Tools,
        Method::ListPrompts => ListKind::Prompts,
        Method::ListResources => ListKind::Resources,
        _ => ListKind::ResourceTemplates,
    };
    let cursor = cursor(params)?;
    if catalog.is_dynamic(kind) || catalog.is_filtered(kind) {
        return Ok(Listing::Computed(Work::List { kind, cursor }));
    }
    let tail = catalog.all().list(kind, revision, cursor.as_deref());
    tail.map(Listing::Prebuilt)
        .ok_or_else(Refusal::foreign_cursor)
}

/// Refuses a client that did not declare a capability the tool needs, or the extension a task needs
/// (2026-07-28).
pub(super) fn require_capabilities<J: Json>(
    catalog: Offer<'_, '_, J>,
    work: &Work<'_>,
    params: Option<View<'_, '_>>,
) -> Result<(), Refusal> {
    let (index, task) = match work {
        Work::Tool { index, task, .. } => (*index, task),
        Work::Task { .. } => return task::require_extension(params),
        Work::Listen { .. } if params::names_tasks(params) => {
            return task::require_extension(params);
        }
        _ => return Ok(()),
    };
    let Some(tool) = catalog.tool(index) else {
        return Ok(());
    };
    if task.is_none() && tool.task_support == TaskSupport::Required {
        return task::require_extension(params);
    }
    let required = tool.requires.as_slice();
    let missing = meta::missing_capabilities(params, required);
    if missing.is_empty() {
        return Ok(());
    }
    let required = missing.into_iter().map(|name| (name, json!({}))).collect();
    Err(Refusal::missing_capabilities(&required))
}
