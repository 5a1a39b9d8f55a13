//! The methods that clients may send, with their first and last revisions.

use crate::revision::Revision;

/// A request that a client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// `initialize`
    Initialize,
    /// `ping`
    Ping,
    /// `server/discover`
    Discover,
    /// `tools/list`
    ListTools,
    /// `tools/call`
    CallTool,
    /// `prompts/list`
    ListPrompts,
    /// `prompts/get`
    GetPrompt,
    /// `resources/list`
    ListResources,
    /// `resources/templates/list`
    ListResourceTemplates,
    /// `resources/read`
    ReadResource,
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
    /// `completion/complete`
    Complete,
    /// `logging/setLevel`
    SetLevel,
    /// `subscriptions/listen`
    Listen,
    /// `tasks/get`
    GetTask,
    /// `tasks/result`
    TaskResult,
    /// `tasks/list`
    ListTasks,
    /// `tasks/update`
    UpdateTask,
    /// `tasks/cancel`
    CancelTask,
}

/// The first and the last revision that has a method.
type Range = (Revision, Revision);

const EVER: Range = (Revision::V2024_11_05, Revision::NEWEST);
const SESSIONS: Range = (Revision::V2024_11_05, Revision::NEWEST_SESSION);
const STATELESS: Range = (Revision::V2026_07_28, Revision::NEWEST);
const TASKS: Range = (Revision::V2025_11_25, Revision::NEWEST);
const TASKS_OF_SESSIONS: Range = (Revision::V2025_11_25, Revision::NEWEST_SESSION);

/// Method, name, revisions.
const METHODS: [(Method, &str, Range); 20] = [
    (Method::CallTool, "tools/call", EVER),
    (Method::ListTools, "tools/list", EVER),
    (Method::ReadResource, "resources/read", EVER),
    (Method::GetPrompt, "prompts/get", EVER),
    (Method::Ping, "ping", SESSIONS),
    (Method::Complete, "completion/complete", EVER),
    (Method::ListResources, "resources/list", EVER),
    (Method::ListPrompts, "prompts/list", EVER),
    (
        Method::ListResourceTemplates,
        "resources/templates/list",
        EVER,
    ),
    (Method::Initialize, "initialize", SESSIONS),
    (Method::Discover, "server/discover", STATELESS),
    (Method::SetLevel, "logging/setLevel", SESSIONS),
    (Method::Subscribe, "resources/subscribe", SESSIONS),
    (Method::Unsubscribe, "resources/unsubscribe", SESSIONS),
    (Method::Listen, "subscriptions/listen", STATELESS),
    (Method::GetTask, "tasks/get", TASKS),
    (Method::TaskResult, "tasks/result", TASKS_OF_SESSIONS),
    (Method::ListTasks, "tasks/list", TASKS_OF_SESSIONS),
    (Method::UpdateTask, "tasks/update", STATELESS),
    (Method::CancelTask, "tasks/cancel", TASKS),
];

impl Method {
    /// The method with this name in `revision`; `None` if the revision does not have it.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::{protocol::Method, revision::Revision};
    /// assert_eq!(Method::find("ping", Revision::V2025_11_25), Some(Method::Ping));
    /// assert_eq!(Method::find("ping", Revision::V2026_07_28), None);
    /// ```
    #[must_use]
    pub fn find(name: &str, revision: Revision) -> Option<Self> {
        METHODS
            .iter()
            .find(|(_, method_name, (first, last))| {
                *method_name == name && *first <= revision && revision <= *last
            })
            .map(|(method, ..)| *method)
    }

    /// The method's name on the wire.
    #[must_use]
    pub fn name(self) -> &'static str {
        METHODS
            .iter()
            .find(|(method, ..)| *method == self)
            .map_or("", |(_, name, ..)| name)
    }

    /// Whether the method exists only in the stateless era.
    #[must_use]
    pub fn is_stateless_only(name: &str) -> bool {
        METHODS.iter().any(|(_, method_name, (first, _))| {
            *method_name == name && *first > Revision::NEWEST_SESSION
        })
    }

    /// Whether a request of this method may carry requested input (2026-07-28), in a retry or for a
    /// task.
    #[must_use]
    pub const fn brings_input(self) -> bool {
        matches!(
            self,
            Self::CallTool | Self::GetPrompt | Self::ReadResource | Self::UpdateTask
        )
    }
}
