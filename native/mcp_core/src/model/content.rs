//! Content: the parts of results and messages.

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
        /// The media type. No revision has this field; all tolerate it.
        mime_type: Option<String> => "mimeType",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

impl TextContent {
    /// Content with this text and no other field.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            ..Self::default()
        }
    }
}

object! {
    /// An image.
    ImageContent / IMAGE_CONTENT = "Content.Image" tag "image" {
        /// The bytes.
        data: Base64 => "data",
        /// The media type.
        mime_type: String => "mimeType",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// Audio.
    AudioContent / AUDIO_CONTENT = "Content.Audio" tag "audio" since V2025_03_26
        fallback [Literal("["), Member("mimeType"), Literal(" audio]")]
    {
        /// The bytes.
        data: Base64 => "data",
        /// The media type.
        mime_type: String => "mimeType",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A resource's content inside a result or a message.
    EmbeddedResource / EMBEDDED_RESOURCE = "Content.EmbeddedResource" tag "resource" {
        /// The content.
        resource: ResourceContent => "resource",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A link to a resource that the client can read; the resource need not be in a list.
    ResourceLink / RESOURCE_LINK = "Content.ResourceLink" tag "resource_link" since V2025_06_18
        fallback [Member("name"), Literal(": "), Member("uri")]
    {
        /// The URI.
        uri: String => "uri",
        /// The name.
        name: String => "name",
        /// The display name.
        title: Option<String> => "title",
        /// The description.
        description: Option<String> => "description",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// The size in bytes.
        size: Option<u64> => "size",
        /// The icons.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}

object! {
    /// A model's request for a tool call, in a sampling conversation.
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
    /// The result of a tool call, in a sampling conversation.
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
        /// An image.
        Image(ImageContent),
        /// Audio.
        Audio(AudioContent),
        /// A resource's content.
        Resource(EmbeddedResource),
        /// A link to a resource.
        Link(ResourceLink),
    }
}

one_of! {
    /// A piece of a sampling message.
    SamplingBlock {
        /// Text.
        Text(TextContent),
        /// An image.
        Image(ImageContent),
        /// Audio.
        Audio(AudioContent),
        /// A tool call.
        ToolUse(ToolUseContent),
        /// The result of a tool call.
        ToolResult(ToolResultContent),
    }
}
