//! Prompts: templates of messages.

use super::common::{Annotations, Icon, Meta, Role};
use super::content::Content;
use super::member::Base64;
use super::resource::ResourceContent;
use super::shape::Presence::Always;

object! {
    /// A prompt in a list for clients.
    #[derive(Default)]
    Prompt / PROMPT = "Prompt" {
        /// The name, unique in a server.
        name: String => "name",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// The purpose.
        description: Option<String> => "description",
        /// The arguments; an empty list is written.
        arguments: Option<Vec<PromptArgument>> => "arguments",
        /// The icons.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// An argument of a prompt; `required` is always written.
    #[derive(Default)]
    PromptArgument / PROMPT_ARGUMENT = "Prompt.Argument" {
        /// The name, unique in the prompt.
        name: String => "name",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// The meaning.
        description: Option<String> => "description",
        /// Whether the argument is required.
        required: bool => "required" = Always("false"),
    }
}

object! {
    /// One message of a filled prompt.
    PromptMessage / PROMPT_MESSAGE = "Prompt.Message" {
        /// The speaker.
        role: Role => "role",
        /// The content.
        content: Content => "content",
    }
}

object! {
    /// A message's content, with its kind as an ordinary field. Text is always in `text`.
    #[derive(Default)]
    MessageContent / MESSAGE_CONTENT = "Prompt.MessageContent" {
        /// The kind: `text`, `image` and so on.
        kind: String => "type",
        /// A text.
        text: Option<String> => "text",
        /// The bytes of an image or of audio.
        data: Option<Base64> => "data",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// An embedded resource.
        resource: Option<ResourceContent> => "resource",
        /// Annotations for the client.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A filled prompt.
    #[derive(Default)]
    GetResult / GET_RESULT = "Prompt.GetResult" {
        /// The purpose.
        description: Option<String> => "description",
        /// The messages.
        messages: Vec<PromptMessage> => "messages",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
