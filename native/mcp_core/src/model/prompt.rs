//! Prompts: templates of messages.

use super::common::{Annotations, Icon, Meta, Role};
use super::content::Content;
use super::member::Base64;
use super::resource::ResourceContent;
use super::shape::Presence::Always;

object! {
    /// A prompt as clients see it.
    #[derive(Default)]
    Prompt / PROMPT = "Prompt" {
        /// Its name, unique in a server.
        name: String => "name",
        /// Its name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// What it is for.
        description: Option<String> => "description",
        /// What it can be filled with; an empty list is written.
        arguments: Option<Vec<PromptArgument>> => "arguments",
        /// Its pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// An argument of a prompt; `required` is always written.
    #[derive(Default)]
    PromptArgument / PROMPT_ARGUMENT = "Prompt.Argument" {
        /// Its name, unique in the prompt.
        name: String => "name",
        /// Its name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// What it means.
        description: Option<String> => "description",
        /// Whether the prompt needs it.
        required: bool => "required" = Always("false"),
    }
}

object! {
    /// One message of a filled prompt.
    PromptMessage / PROMPT_MESSAGE = "Prompt.Message" {
        /// Who says it.
        role: Role => "role",
        /// What is said.
        content: Content => "content",
    }
}

object! {
    /// A message's content, its kind a field like any other. The text is under `text` whatever the
    /// kind.
    #[derive(Default)]
    MessageContent / MESSAGE_CONTENT = "Prompt.MessageContent" {
        /// The kind: `text`, `image` and so on.
        kind: String => "type",
        /// A text.
        text: Option<String> => "text",
        /// The bytes of a picture or a sound.
        data: Option<Base64> => "data",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// An embedded resource.
        resource: Option<ResourceContent> => "resource",
        /// Hints about it.
        annotations: Option<Annotations> => "annotations",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_06_18,
    }
}

object! {
    /// A filled prompt.
    #[derive(Default)]
    GetResult / GET_RESULT = "Prompt.GetResult" {
        /// What it is for.
        description: Option<String> => "description",
        /// Its messages.
        messages: Vec<PromptMessage> => "messages",
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
