//! Tasks: calls that go on after their request was answered. Core protocol in 2025-11-25, the
//! extension `io.modelcontextprotocol/tasks` since 2026-07-28.

use serde_json::{Map, Value};

use super::common::{Meta, Structured};
use super::content::Content;
use super::json_rpc::RpcError;
use super::shape::Presence::Always;

/// The extension's key among the capabilities (2026-07-28).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

names! {
    /// How a task stands.
    TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for the client.
        InputRequired = "input_required",
        /// It has a result.
        Completed = "completed",
        /// It has failed.
        Failed = "failed",
        /// Somebody ended it.
        Cancelled = "cancelled",
    }
}

object! {
    /// A task as clients see it. 2026-07-28 writes durations with their unit, and what has come of the
    /// task beside how it stands.
    Task / TASK = "Task" since V2025_11_25 {
        /// Its id: whoever knows it may ask for it.
        task_id: String => "taskId" as "task_id",
        /// How it stands.
        status: TaskStatus => "status",
        /// The same in words.
        status_message: Option<String> => "statusMessage" as "status_message",
        /// When it began, ISO 8601.
        created_at: String => "createdAt" as "created_at",
        /// When its status last changed, ISO 8601.
        last_updated_at: String => "lastUpdatedAt" as "last_updated_at",
        /// How long it is kept, in milliseconds since it began.
        ttl: Option<u64> => "ttl" until V2025_11_25,
        /// The same.
        ttl_ms: Option<u64> => "ttlMs" as "ttl_ms" since V2026_07_28,
        /// How often a client should ask, in milliseconds.
        poll_interval: Option<u64> => "pollInterval" as "poll_interval" until V2025_11_25,
        /// The same.
        poll_interval_ms: Option<u64> => "pollIntervalMs" as "poll_interval_ms" since V2026_07_28,
        /// What it waits for, by key.
        input_requests: Option<Map<String, Value>> => "inputRequests" as "input_requests"
            since V2026_07_28,
        /// What the call gave back.
        result: Option<TaskResult> => "result" since V2026_07_28,
        /// Why there is no result.
        error: Option<RpcError> => "error" since V2026_07_28,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// What a call gave back, inside its task: all that the answer to the call would have had.
    TaskResult / TASK_RESULT = "Task.Result" since V2026_07_28 {
        /// Always `complete`.
        result_type: String => "resultType" as "result_type" = Always("\"complete\""),
        /// Content for the model.
        content: Vec<Content> => "content",
        /// The result as data.
        structured_content: Option<Structured> => "structuredContent" as "structured_content",
        /// Further data.
        meta: Option<Meta> => "_meta",
        /// Whether the tool failed.
        is_error: bool => "isError" as "is_error" = Always("false"),
    }
}

object! {
    /// The answer to a call that became a task (2025-11-25). Later revisions put the task itself there.
    CreateTaskResult / CREATE_TASK_RESULT = "Task.CreateResult" since V2025_11_25 until V2025_11_25 {
        /// The task.
        task: Task => "task",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// The tasks of a client (2025-11-25).
    TaskList / TASK_LIST = "Task.List" since V2025_11_25 until V2025_11_25 {
        /// The tasks.
        tasks: Vec<Task> => "tasks",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
