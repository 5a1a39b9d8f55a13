//! Calls that run as tasks, and a client's requests about tasks.
//!
//! In 2025-11-25 the client asks for a task. From 2026-07-28 on the server decides, for clients
//! that declare the extension.

use serde_json::{Map, json};

use super::fields::{cursor, member as field, must_be, no_longer_than, object, text};
use super::meta;
use super::params::unsound_responses;
use super::refusal::Refusal;
use super::request::{TaskRequest, TaskVerb, Work};
use crate::json::{View, member};
use crate::model::{TASKS_EXTENSION, TaskSupport};
use crate::revision::{Era, Revision};

/// The longest task id that the server looks up.
const MAX_ID_BYTES: usize = 256;

/// The task to run a call as, if any, for a tool with this support.
///
/// # Errors
/// −32601 for a task if the tool forbids one, and for a plain call if the tool requires one
/// (2025-11-25); −32602 for malformed parameters.
pub(super) fn requested(
    support: TaskSupport,
    revision: Revision,
    params: Option<View<'_, '_>>,
) -> Result<Option<TaskRequest>, Refusal> {
    match revision.era() {
        Era::Stateless => {
            let runs = support != TaskSupport::Forbidden && declares_extension(params);
            Ok(runs.then(TaskRequest::default))
        }
        Era::Session if revision < Revision::V2025_11_25 => Ok(None),
        Era::Session => match (object(params, "task")?, support) {
            (Some(_), TaskSupport::Forbidden) | (None, TaskSupport::Required) => {
                Err(Refusal::method_not_found())
            }
            (None, _) => Ok(None),
            (Some(task), _) => Ok(Some(TaskRequest { ttl: ttl(task)? })),
        },
    }
}

/// The task that a client asks for, if the tool may have been declared at run time.
///
/// # Errors
/// −32602 for malformed parameters.
pub(super) fn asked(
    revision: Revision,
    params: Option<View<'_, '_>>,
) -> Result<Option<TaskRequest>, Refusal> {
    requested(TaskSupport::Optional, revision, params)
}

/// The task to run a call as, if any, once its tool is known.
pub(super) fn settled(
    support: TaskSupport,
    revision: Revision,
    asked: Option<TaskRequest>,
) -> Result<Option<TaskRequest>, Refusal> {
    match (revision.era(), asked, support) {
        (Era::Stateless, _, TaskSupport::Forbidden) => Ok(None),
        (Era::Session, Some(_), TaskSupport::Forbidden) => Err(Refusal::method_not_found()),
        (Era::Session, None, TaskSupport::Required) if revision >= Revision::V2025_11_25 => {
            Err(Refusal::method_not_found())
        }
        _ => Ok(asked),
    }
}

fn ttl(task: View<'_, '_>) -> Result<Option<u64>, Refusal> {
    let Some(ttl) = field(Some(task), "ttl") else {
        return Ok(None);
    };
    let milliseconds = ttl.integer().and_then(|ttl| u64::try_from(ttl).ok());
    milliseconds
        .map(Some)
        .ok_or_else(|| must_be("task.ttl", "a number of milliseconds"))
}

/// The task that a request names.
pub(super) fn of<'a>(verb: TaskVerb, params: Option<View<'_, 'a>>) -> Result<Work<'a>, Refusal> {
    let id = no_longer_than(MAX_ID_BYTES, "taskId", text(params, "taskId")?)?;
    let unsound = match verb {
        TaskVerb::Update => unsound(params)?,
        TaskVerb::Get | TaskVerb::Result | TaskVerb::Cancel => Vec::new(),
    };
    Ok(Work::Task { verb, id, unsound })
}

fn unsound(params: Option<View<'_, '_>>) -> Result<Vec<String>, Refusal> {
    let responses =
        object(params, "inputResponses")?.ok_or_else(|| must_be("inputResponses", "an object"))?;
    Ok(unsound_responses(responses))
}

/// A client's tasks fit in one page, so every cursor is invalid.
pub(super) fn list<'a>(params: Option<View<'_, 'a>>) -> Result<Work<'a>, Refusal> {
    match cursor(params)? {
        None => Ok(Work::ListTasks),
        Some(_) => Err(Refusal::foreign_cursor()),
    }
}

/// Refuses a stateless client that did not declare the tasks extension.
pub(super) fn require_extension(params: Option<View<'_, '_>>) -> Result<(), Refusal> {
    if declares_extension(params) {
        return Ok(());
    }
    Err(extension_missing())
}

/// The refusal of a client that did not declare the tasks extension.
pub(super) fn extension_missing() -> Refusal {
    let mut required = Map::new();
    required.insert("extensions".to_owned(), json!({ TASKS_EXTENSION: {} }));
    Refusal::missing_capabilities(&required)
}

fn declares_extension(params: Option<View<'_, '_>>) -> bool {
    // The scanned document does not reach this depth, so the object is read again.
    meta::capability(params, "extensions")
        .and_then(|extensions| member(extensions.raw(), TASKS_EXTENSION))
        .is_some_and(|settings| settings.starts_with(b"{"))
}
