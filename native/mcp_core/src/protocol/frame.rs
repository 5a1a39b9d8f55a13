//! The frames around payloads from user code: results, notifications and the server's requests.
//!
//! Callers open a frame, append the payload and close the frame. The payload is written once,
//! directly into the message.

use crate::catalog::Extras;
use crate::json::write_string;
use crate::jsonrpc::Id;
use crate::model::{self, Shape};
use crate::revision::{Era, Revision};

/// The kind of a result, which decides its members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultKind {
    /// `tools/call`
    Tool,
    /// `prompts/get`
    Prompt,
    /// `resources/read`
    Read,
    /// `completion/complete`
    Completion,
    /// `tools/call` that became a task
    CreateTask,
    /// `tasks/get`, and `tasks/cancel` of 2025-11-25
    Task,
    /// `tasks/list`
    TaskList,
}

impl ResultKind {
    /// The shape of the result.
    #[must_use]
    pub fn shape(self, revision: Revision) -> &'static Shape {
        match self {
            Self::CreateTask if revision.era() == Era::Session => &model::CREATE_TASK_RESULT,
            Self::CreateTask | Self::Task => &model::TASK,
            Self::TaskList => &model::TASK_LIST,
            Self::Tool => &model::CALL_RESULT,
            Self::Prompt => &model::GET_RESULT,
            Self::Read => &model::READ_RESULT,
            Self::Completion => &model::COMPLETION,
        }
    }

    /// The first members of a result of this kind, in place of `extras`.
    #[must_use]
    pub fn opening(self, extras: &Extras) -> &[u8] {
        match self {
            Self::CreateTask if !extras.fields.is_empty() => b"\"resultType\":\"task\"",
            _ => &extras.fields,
        }
    }
}

/// `{"jsonrpc":"2.0","id":…`
pub fn open_result_head(out: &mut Vec<u8>, id: &Id) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.write(out);
}

/// The same, in a new buffer.
pub(super) fn result_head(id: &Id) -> Vec<u8> {
    let mut head = Vec::with_capacity(48);
    open_result_head(&mut head, id);
    head
}

/// A notification that the server may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotificationKind {
    /// `notifications/progress`
    Progress,
    /// `notifications/message`
    Message,
    /// `notifications/tools/list_changed`
    ToolsListChanged,
    /// `notifications/prompts/list_changed`
    PromptsListChanged,
    /// `notifications/resources/list_changed`
    ResourcesListChanged,
    /// `notifications/resources/updated`
    ResourceUpdated,
    /// `notifications/cancelled`
    Cancelled,
    /// `notifications/subscriptions/acknowledged`
    SubscriptionsAcknowledged,
    /// `notifications/elicitation/complete`
    ElicitationComplete,
}

impl NotificationKind {
    /// The method's name.
    #[must_use]
    pub const fn method(self) -> &'static str {
        match self {
            Self::Progress => "notifications/progress",
            Self::Message => "notifications/message",
            Self::ToolsListChanged => "notifications/tools/list_changed",
            Self::PromptsListChanged => "notifications/prompts/list_changed",
            Self::ResourcesListChanged => "notifications/resources/list_changed",
            Self::ResourceUpdated => "notifications/resources/updated",
            Self::Cancelled => "notifications/cancelled",
            Self::SubscriptionsAcknowledged => "notifications/subscriptions/acknowledged",
            Self::ElicitationComplete => "notifications/elicitation/complete",
        }
    }

    /// The shape of the parameters.
    #[must_use]
    pub fn shape(self) -> &'static Shape {
        match self {
            Self::Progress => &model::PROGRESS,
            Self::Message => &model::LOG_MESSAGE,
            Self::ResourceUpdated => &model::RESOURCE_UPDATED,
            Self::Cancelled => &model::CANCELLED,
            Self::SubscriptionsAcknowledged => &model::SUBSCRIPTIONS_ACKNOWLEDGED,
            Self::ElicitationComplete => &model::ELICITATION_COMPLETE,
            Self::ToolsListChanged | Self::PromptsListChanged | Self::ResourcesListChanged => {
                &model::LIST_CHANGED
            }
        }
    }
}

/// `{"jsonrpc":"2.0","method":…,"params":`
pub fn open_notification(out: &mut Vec<u8>, kind: NotificationKind) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"method\":");
    write_string(out, kind.method());
    out.extend_from_slice(b",\"params\":");
}

/// `{"jsonrpc":"2.0","id":…,"method":…,"params":`
pub fn open_request(out: &mut Vec<u8>, id: &Id, method: &str) {
    open_result_head(out, id);
    out.extend_from_slice(b",\"method\":");
    write_string(out, method);
    out.extend_from_slice(b",\"params\":");
}
