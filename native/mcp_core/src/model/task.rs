//! Tasks: calls that continue after the response to their request. Part of the core protocol in
//! 2025-11-25, and of the extension `io.modelcontextprotocol/tasks` since 2026-07-28.

use serde_json::{Map, Value};

use super::common::{Meta, Structured};
use super::content::Content;
use super::json_rpc::RpcError;
use super::shape::Presence::Always;

/// The extension's key among the capabilities (2026-07-28).
pub const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

names! {
    /// The status of a task.
    TaskStatus {
        /// The task is running.
        Working = "working",
        /// The task waits for the client.
        InputRequired = "input_required",
        /// The task has a result.
        Completed = "completed",
        /// The task has failed.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

object! {
    /// A task in messages to clients. 2026-07-28 adds the unit to the names of durations, and adds
    /// the result to the status.
    Task / TASK = "Task" since V2025_11_25 {
        /// The id; any client with the id may ask for the task.
        task_id: String => "taskId" as "task_id",
        /// The status.
        status: TaskStatus => "status",
        /// A description of the status.
        status_message: Option<String> => "statusMessage" as "status_message",
        /// The start time, ISO 8601.
        created_at: String => "createdAt" as "created_at",
        /// The time of the last status change, ISO 8601.
        last_updated_at: String => "lastUpdatedAt" as "last_updated_at",
        /// The lifetime in milliseconds since the start.
        ttl: Option<u64> => "ttl" until V2025_11_25,
        /// The lifetime, as `ttl`.
        ttl_ms: Option<u64> => "ttlMs" as "ttl_ms" since V2026_07_28,
        /// The recommended polling interval, in milliseconds.
        poll_interval: Option<u64> => "pollInterval" as "poll_interval" until V2025_11_25,
        /// The polling interval, as `poll_interval`.
        poll_interval_ms: Option<u64> => "pollIntervalMs" as "poll_interval_ms" since V2026_07_28,
        /// The input that the task waits for, by key.
        input_requests: Option<Map<String, Value>> => "inputRequests" as "input_requests"
            since V2026_07_28,
        /// The result of the call.
        result: Option<TaskResult> => "result" since V2026_07_28,
        /// The error of a failed task.
        error: Option<RpcError> => "error" since V2026_07_28,
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// The result of a call, inside its task, with all members of a normal response.
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
    /// The response to a call that became a task (2025-11-25). Later revisions return the task
    /// directly.
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
