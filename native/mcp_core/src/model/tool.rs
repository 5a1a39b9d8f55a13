//! Tools: their declarations for clients, and the results of calls.

use super::common::{Icon, JsonSchema, Meta, OutputSchema, Structured};
use super::content::{Content, TextContent};
use super::shape::Presence::Always;

object! {
    /// A tool in a list for clients.
    Tool / TOOL = "Tool" {
        /// The name, unique in a server.
        name: String => "name",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// The description for the model.
        description: Option<String> => "description",
        /// The schema of its arguments.
        input_schema: JsonSchema => "inputSchema",
        /// The schema of its structured content.
        output_schema: Option<OutputSchema> => "outputSchema" since V2025_06_18,
        /// Hints about its behaviour.
        annotations: Option<ToolAnnotations> => "annotations" since V2025_03_26,
        /// The icons.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// How the tool runs.
        execution: Option<ToolExecution> => "execution" since V2025_11_25 until V2025_11_25,
        /// Further data, such as [`AppMeta`](super::AppMeta).
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// Hints about a tool's behaviour. All four hints are always written, with the protocol's
    /// defaults.
    ToolAnnotations / TOOL_ANNOTATIONS = "Tool.Annotations" since V2025_03_26 {
        /// The display name.
        title: Option<String> => "title",
        /// The tool changes nothing.
        read_only_hint: bool => "readOnlyHint" = Always("false"),
        /// The tool may destroy something.
        destructive_hint: bool => "destructiveHint" = Always("true"),
        /// A repeated call with the same arguments has no further effect.
        idempotent_hint: bool => "idempotentHint" = Always("false"),
        /// The tool interacts with systems outside the server.
        open_world_hint: bool => "openWorldHint" = Always("true"),
    }
}

impl Default for ToolAnnotations {
    fn default() -> Self {
        Self {
            title: None,
            read_only_hint: false,
            destructive_hint: true,
            idempotent_hint: false,
            open_world_hint: true,
        }
    }
}

names! {
    /// Whether a tool may run as a task.
    TaskSupport {
        /// The tool cannot run as a task.
        Forbidden = "forbidden",
        /// The client chooses.
        Optional = "optional",
        /// The tool must run as a task.
        Required = "required",
    }
}

object! {
    /// How a tool runs (2025-11-25 only).
    #[derive(Default)]
    ToolExecution / TOOL_EXECUTION = "Tool.Execution" since V2025_11_25 until V2025_11_25 {
        /// Whether the tool may run as a task.
        task_support: Option<TaskSupport> => "taskSupport",
    }
}

object! {
    /// The result of a call. `isError` is always written.
    #[derive(Default)]
    CallResult / CALL_RESULT = "Tool.CallResult" {
        /// Content for the model. It is required even with structured content, which is for the
        /// user interface and stays out of the model's context.
        content: Vec<Content> => "content",
        /// The result as data.
        structured_content: Option<Structured> => "structuredContent" as "structured_content"
            since V2025_06_18,
        /// Further data.
        meta: Option<Meta> => "_meta",
        /// Whether the tool failed.
        is_error: bool => "isError" as "is_error" = Always("false"),
    }
}

impl CallResult {
    /// A result with this content.
    #[must_use]
    pub fn of(content: Vec<Content>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// An error for the model: the unchanged message, without a prefix.
    #[must_use]
    pub fn failed(message: &str) -> Self {
        Self {
            is_error: true,
            ..Self::of(vec![TextContent::new(message).into()])
        }
    }
}
