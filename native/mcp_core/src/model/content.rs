//! Content: what results and messages are made of.

use serde_json::{Map, Value};

use super::common::{Annotations, Icon, Meta, Structured};
use super::member::Base64;
use super::resource::ResourceContent;
use super::shape::Part::{Literal, Member};
use super::shape::Presence::Always;

object! {
    /// Text.
    #[derive(Default)]
    TextContent / TEXT_CONTENT = "Content.Text" tag "text" {
        /// The text.
        text: String => "text",
        /// Its media type. No revision has it, all tolerate it.
        mime_type: Option<String> => "mimeType",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

impl TextContent {
    /// This text and nothing else.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

object! {
    /// A picture.
    ImageContent / IMAGE_CONTENT = "Content.Image" tag "image" {
        /// Its bytes.
        data: Base64 => "data",
        /// Its media type.
        mime_type: String => "mimeType",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A sound.
    AudioContent / AUDIO_CONTENT = "Content.Audio" tag "audio" since V2025_03_26
        fallback [Literal("["), Member("mimeType"), Literal(" audio]")]
    {
        /// Its bytes.
        data: Base64 => "data",
        /// Its media type.
        mime_type: String => "mimeType",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A resource's content, as part of a result or a message.
    EmbeddedResource / EMBEDDED_RESOURCE = "Content.EmbeddedResource" tag "resource" {
        /// The content.
        resource: ResourceContent => "resource",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A resource the client may read; it need not be in a list.
    ResourceLink / RESOURCE_LINK = "Content.ResourceLink" tag "resource_link" since V2025_06_18
        fallback [Member("name"), Literal(": "), Member("uri")]
    {
        /// Where it is.
        uri: String => "uri",
        /// Its name.
        name: String => "name",
        /// Its name for people.
        title: Option<String> => "title",
        /// What it is.
        description: Option<String> => "description",
        /// Its media type.
        mime_type: Option<String> => "mimeType",
        /// Its size in bytes.
        size: Option<u64> => "size",
        /// Its pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// A model's wish to call a tool, in a sampling conversation.
    ToolUseContent / TOOL_USE_CONTENT = "Content.ToolUse" tag "tool_use" since V2025_11_25
        fallback [Literal("[call of "), Member("name"), Literal("]")]
    {
        /// The call's id.
        id: String => "id",
        /// The tool's name.
        name: String => "name",
        /// The arguments.
        input: Map<String, Value> => "input",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// What a tool call gave back, in a sampling conversation.
    ToolResultContent / TOOL_RESULT_CONTENT = "Content.ToolResult" tag "tool_result" since V2025_11_25
        fallback [Literal("[result of "), Member("toolUseId"), Literal("]")]
    {
        /// The call's id.
        tool_use_id: String => "toolUseId" as "tool_use_id",
        /// Content for the model.
        content: Vec<Content> => "content",
        /// The result as data.
        structured_content: Option<Structured> => "structuredContent" as "structured_content",
        /// Whether the tool failed.
        is_error: bool => "isError" as "is_error" = Always("false"),
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

one_of! {
    /// A piece of content of a tool's result or a prompt's message.
    Content {
        /// Text.
        Text(TextContent),
        /// A picture.
        Image(ImageContent),
        /// A sound.
        Audio(AudioContent),
        /// A resource's content.
        Resource(EmbeddedResource),
        /// A resource's address.
        Link(ResourceLink),
    }
}

one_of! {
    /// A piece of a sampling message.
    SamplingBlock {
        /// Text.
        Text(TextContent),
        /// A picture.
        Image(ImageContent),
        /// A sound.
        Audio(AudioContent),
        /// A tool call.
        ToolUse(ToolUseContent),
        /// What a tool call gave back.
        ToolResult(ToolResultContent),
    }
}
