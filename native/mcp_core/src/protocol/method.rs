//! Every method of every revision: who sends it, and from when until when.

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

use Revision::{V2024_11_05, V2025_11_25, V2026_07_28};

/// Method, name, first revision, last revision.
const METHODS: [(Method, &str, Revision, Revision); 20] = [
    (Method::CallTool, "tools/call", V2024_11_05, V2026_07_28),
    (Method::ListTools, "tools/list", V2024_11_05, V2026_07_28),
    (
        Method::ReadResource,
        "resources/read",
        V2024_11_05,
        V2026_07_28,
    ),
    (Method::GetPrompt, "prompts/get", V2024_11_05, V2026_07_28),
    (Method::Ping, "ping", V2024_11_05, V2025_11_25),
    (
        Method::Complete,
        "completion/complete",
        V2024_11_05,
        V2026_07_28,
    ),
    (
        Method::ListResources,
        "resources/list",
        V2024_11_05,
        V2026_07_28,
    ),
    (
        Method::ListPrompts,
        "prompts/list",
        V2024_11_05,
        V2026_07_28,
    ),
    (
        Method::ListResourceTemplates,
        "resources/templates/list",
        V2024_11_05,
        V2026_07_28,
    ),
    (Method::Initialize, "initialize", V2024_11_05, V2025_11_25),
    (
        Method::Discover,
        "server/discover",
        V2026_07_28,
        V2026_07_28,
    ),
    (
        Method::SetLevel,
        "logging/setLevel",
        V2024_11_05,
        V2025_11_25,
    ),
    (
        Method::Subscribe,
        "resources/subscribe",
        V2024_11_05,
        V2025_11_25,
    ),
    (
        Method::Unsubscribe,
        "resources/unsubscribe",
        V2024_11_05,
        V2025_11_25,
    ),
    (
        Method::Listen,
        "subscriptions/listen",
        V2026_07_28,
        V2026_07_28,
    ),
    (Method::GetTask, "tasks/get", V2025_11_25, V2026_07_28),
    (Method::TaskResult, "tasks/result", V2025_11_25, V2025_11_25),
    (Method::ListTasks, "tasks/list", V2025_11_25, V2025_11_25),
    (Method::UpdateTask, "tasks/update", V2026_07_28, V2026_07_28),
    (Method::CancelTask, "tasks/cancel", V2025_11_25, V2026_07_28),
];

impl Method {
    /// The request of that name in `revision`; `None` where the revision does not have it.
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
            .find(|(_, method_name, first, last)| {
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

    /// Whether only the stateless era has a method of that name.
    #[must_use]
    pub fn is_stateless_only(name: &str) -> bool {
        METHODS.iter().any(|(_, method_name, first, _)| {
            *method_name == name && *first > Revision::NEWEST_SESSION
        })
    }

    /// Whether a request of this method may bring input that was asked for (2026-07-28): retried, or
    /// for a task.
    #[must_use]
    pub const fn brings_input(self) -> bool {
        matches!(
            self,
            Self::CallTool | Self::GetPrompt | Self::ReadResource | Self::UpdateTask
        )
    }
}

/// The levels of a log message, least severe first.
pub const LOG_LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notification",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];
