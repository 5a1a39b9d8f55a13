//! Calls of tools that are declared at run time. The tool is looked up after admission.

use jsonschema::json::Json;
use serde_json::json;

use super::refusal::Refusal;
use super::request::TaskRequest;
use super::task;
use crate::catalog::ToolTarget;
use crate::model::TaskSupport;
use crate::revision::{Era, Revision};

/// The data of a call other than its arguments.
#[derive(Clone, Copy, Debug)]
pub struct RunTimeCall<'r> {
    /// The revision of the request.
    pub revision: Revision,
    /// The task that the client wants.
    pub task: Option<TaskRequest>,
    /// The capabilities that the request declares (2026-07-28).
    pub capabilities: &'r [&'r str],
}

impl RunTimeCall<'_> {
    /// The task to run the call as, if any.
    ///
    /// # Errors
    /// −32601 for a task if the tool forbids one, and for a plain call if the tool requires one
    /// (2025-11-25).
    pub fn task<J: Json>(&self, tool: &ToolTarget<J>) -> Result<Option<TaskRequest>, Refusal> {
        task::settled(tool.task_support, self.revision, self.task)
    }

    /// The refusal of a client that lacks a capability the tool needs. Invalid arguments are
    /// reported first. The session era has no such error.
    #[must_use]
    pub fn unmet<J: Json>(&self, tool: &ToolTarget<J>) -> Option<Refusal> {
        if self.revision.era() == Era::Session {
            return None;
        }
        if self.task.is_none() && tool.task_support == TaskSupport::Required {
            return Some(task::extension_missing());
        }
        let lacks = |name: &&String| !self.capabilities.contains(&name.as_str());
        let missing = tool.requires.iter().filter(lacks);
        let missing: serde_json::Map<_, _> =
            missing.map(|name| (name.clone(), json!({}))).collect();
        (!missing.is_empty()).then(|| Refusal::missing_capabilities(&missing))
    }
}
