//! Tools: what clients are told about them, and what a call gives back.

use super::common::{Icon, JsonSchema, Meta, OutputSchema, Structured};
use super::content::{Content, TextContent};
use super::shape::Presence::Always;

object! {
    /// A tool as clients see it.
    Tool / TOOL = "Tool" {
        /// Its name, unique in a server.
        name: String => "name",
        /// Its name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// What it does, for the model.
        description: Option<String> => "description",
        /// What its arguments must look like.
        input_schema: JsonSchema => "inputSchema",
        /// What its structured content looks like.
        output_schema: Option<OutputSchema> => "outputSchema" since V2025_06_18,
        /// Hints about its behaviour.
        annotations: Option<ToolAnnotations> => "annotations" since V2025_03_26,
        /// Its pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// How it runs.
        execution: Option<ToolExecution> => "execution" since V2025_11_25 until V2025_11_25,
        /// Further data, such as [`AppMeta`](super::AppMeta).
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// Hints about a tool's behaviour. All four are always written; the defaults are the protocol's.
    ToolAnnotations / TOOL_ANNOTATIONS = "Tool.Annotations" since V2025_03_26 {
        /// Its name for people.
        title: Option<String> => "title",
        /// It changes nothing.
        read_only_hint: bool => "readOnlyHint" = Always("false"),
        /// It may destroy something.
        destructive_hint: bool => "destructiveHint" = Always("true"),
        /// Calling it twice is like calling it once.
        idempotent_hint: bool => "idempotentHint" = Always("false"),
        /// It touches things outside of the server.
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
        /// It may not.
        Forbidden = "forbidden",
        /// The client chooses.
        Optional = "optional",
        /// It must.
        Required = "required",
    }
}

object! {
    /// How a tool runs (2025-11-25 only).
    #[derive(Default)]
    ToolExecution / TOOL_EXECUTION = "Tool.Execution" since V2025_11_25 until V2025_11_25 {
        /// Whether it may run as a task.
        task_support: Option<TaskSupport> => "taskSupport",
    }
}

object! {
    /// What a call gives back. `isError` is always written.
    #[derive(Default)]
    CallResult / CALL_RESULT = "Tool.CallResult" {
        /// Content for the model; needed even where there is structured content, which is for the
        /// user interface and kept out of the model's context.
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
    /// A result of this content.
    #[must_use]
    pub fn of(content: Vec<Content>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }

    /// A failure the model should read: the message as it is, nothing in front.
    #[must_use]
    pub fn failed(message: &str) -> Self {
        Self {
            is_error: true,
            ..Self::of(vec![TextContent::new(message).into()])
        }
    }
}
