//! Calls that run as tasks, and what a client may do with a task.
//!
//! In 2025-11-25 the client asks for a task. From 2026-07-28 on the server decides, for clients that
//! declare the extension.

use serde_json::{Map, Value, json};

use super::fields::{cursor, must_be, no_longer_than, object, text};
use super::input::is_input_response;
use super::meta;
use super::refusal::Refusal;
use super::request::{TaskRequest, TaskVerb, Work};
use crate::json::View;
use crate::model::{TASKS_EXTENSION, TaskSupport};
use crate::revision::{Era, Revision};

/// The longest task id that is looked up.
const MAX_ID_BYTES: usize = 256;

/// Whether a call of a tool with this support is to run as a task.
///
/// # Errors
/// −32601 for a task where the tool allows none, and for a plain call where it needs one
/// (2025-11-25); −32602 for parameters of another form.
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

/// What a client asks of a tool that may have been declared while the server runs.
///
/// # Errors
/// −32602 for parameters of another form.
pub(super) fn asked(
    revision: Revision,
    params: Option<View<'_, '_>>,
) -> Result<Option<TaskRequest>, Refusal> {
    requested(TaskSupport::Optional, revision, params)
}

/// Whether a call is to run as a task, once its tool has been found.
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
    let Some(ttl) = task.get("ttl") else {
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
    Ok(responses
        .members()
        .filter(|(_, response)| !is_input_response(*response))
        .map(|(key, _)| key.to_owned())
        .collect())
}

/// A client's tasks come in one page, so no cursor is one of ours.
pub(super) fn list<'a>(params: Option<View<'_, 'a>>) -> Result<Work<'a>, Refusal> {
    match cursor(params)? {
        None => Ok(Work::ListTasks),
        Some(_) => Err(Refusal::foreign_cursor()),
    }
}

/// A stateless client may only meet a task when it has said that it knows what one is.
pub(super) fn require_extension(params: Option<View<'_, '_>>) -> Result<(), Refusal> {
    if declares_extension(params) {
        return Ok(());
    }
    Err(extension_missing())
}

/// The refusal of a client that has not said that it knows tasks.
pub(super) fn extension_missing() -> Refusal {
    let mut required = Map::new();
    required.insert("extensions".to_owned(), json!({ TASKS_EXTENSION: {} }));
    Refusal::missing_capabilities(&required)
}

fn declares_extension(params: Option<View<'_, '_>>) -> bool {
    // Deeper than what is remembered of a message, so it is read again; it passed admission.
    meta::capability(params, "extensions")
        .and_then(|extensions| serde_json::from_slice::<Value>(extensions.raw()).ok())
        .is_some_and(|extensions| extensions.get(TASKS_EXTENSION).is_some())
}
