//! The params of a server's requests: for user input, for a model's message, or for the roots.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::Kind;
use super::common::{Audience, Form, Meta};
use super::content::SamplingBlock;
use super::member::Member;
use super::tool::Tool;

names! {
    /// How the user is asked.
    ElicitMode {
        /// With a form.
        Form = "form",
        /// With a web page.
        Url = "url",
    }
}

object! {
    /// `elicitation/create`: asks the user, with a form or (since 2025-11-25) with a web page.
    #[derive(Default)]
    Elicit / ELICIT = "Input.Elicit" since V2025_06_18 one_of ["requestedSchema", "url"] {
        /// The text for the user.
        message: String => "message",
        /// How the user is asked.
        mode: Option<ElicitMode> => "mode" since V2025_11_25,
        /// The form: an object schema with plain properties.
        requested_schema: Option<Form> => "requestedSchema" as "requested_schema",
        /// The URL of the web page.
        url: Option<String> => "url" since V2025_11_25,
        /// The id in the later `notifications/elicitation/complete`.
        elicitation_id: Option<String> => "elicitationId" as "elicitation_id"
            since V2025_11_25 until V2025_11_25,
        /// Metadata with the task that asks.
        meta: Option<Meta> => "_meta" since V2025_11_25 until V2025_11_25,
    }
}

names! {
    /// The servers whose context a client may add.
    IncludeContext {
        /// No server.
        None = "none",
        /// This server.
        ThisServer = "thisServer",
        /// Every server.
        AllServers = "allServers",
    }
}

object! {
    /// `sampling/createMessage`: asks the client's model.
    Sampling / SAMPLING = "Input.Sampling" {
        /// The conversation.
        messages: Vec<SamplingMessage> => "messages",
        /// The preferred model.
        model_preferences: Option<ModelPreferences> => "modelPreferences" as "model_preferences",
        /// The requested system prompt.
        system_prompt: Option<String> => "systemPrompt" as "system_prompt",
        /// The servers whose context is requested.
        include_context: Option<IncludeContext> => "includeContext" as "include_context",
        /// The sampling temperature.
        temperature: Option<Number> => "temperature",
        /// The maximum number of tokens.
        max_tokens: u64 => "maxTokens" as "max_tokens",
        /// Texts that end the generation.
        stop_sequences: Option<Vec<String>> => "stopSequences" as "stop_sequences",
        /// Data for the model's provider.
        metadata: Option<Map<String, Value>> => "metadata",
        /// Tools that the model may call.
        tools: Option<Vec<Tool>> => "tools" since V2025_11_25,
        /// Whether the model must call a tool.
        tool_choice: Option<ToolChoice> => "toolChoice" as "tool_choice" since V2025_11_25,
        /// Metadata with the task that asks.
        meta: Option<Meta> => "_meta" since V2025_11_25 until V2025_11_25,
    }
}

object! {
    /// One message of a sampling conversation.
    SamplingMessage / SAMPLING_MESSAGE = "Input.Sampling.Message" {
        /// The speaker.
        role: Audience => "role",
        /// The content.
        content: SamplingContent => "content",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_11_25,
    }
}

/// The content of a sampling message: one block or (since 2025-11-25) several.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// Several blocks.
    Many(Vec<SamplingBlock>),
}

impl Member for SamplingContent {
    const KIND: Kind = Kind::OneOrMany(SamplingBlock::SHAPES);
}

impl Serialize for SamplingContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(block) => block.serialize(serializer),
            Self::Many(blocks) => blocks.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for SamplingContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match Value::deserialize(deserializer)? {
            blocks @ Value::Array(_) => serde_json::from_value(blocks).map(Self::Many),
            block => serde_json::from_value(block).map(Self::One),
        };
        read.map_err(serde::de::Error::custom)
    }
}

object! {
    /// The preferred model. The priorities go from 0 to 1.
    #[derive(Default)]
    ModelPreferences / MODEL_PREFERENCES = "Input.Sampling.ModelPreferences" {
        /// Models by name, best first.
        hints: Option<Vec<ModelHint>> => "hints",
        /// The weight of a low price.
        cost_priority: Option<Number> => "costPriority" as "cost_priority",
        /// The weight of speed.
        speed_priority: Option<Number> => "speedPriority" as "speed_priority",
        /// The weight of intelligence.
        intelligence_priority: Option<Number> => "intelligencePriority" as "intelligence_priority",
    }
}

object! {
    /// A model by name.
    #[derive(Default)]
    ModelHint / MODEL_HINT = "Input.Sampling.ModelHint" {
        /// A part of the model's name.
        name: Option<String> => "name",
    }
}

names! {
    /// Whether a model calls tools.
    ToolChoiceMode {
        /// The model chooses.
        Auto = "auto",
        /// At least one call.
        Required = "required",
        /// No call.
        None = "none",
    }
}

object! {
    /// Whether a model calls tools.
    #[derive(Default)]
    ToolChoice / TOOL_CHOICE = "Input.Sampling.ToolChoice" since V2025_11_25 {
        /// The mode.
        mode: Option<ToolChoiceMode> => "mode",
    }
}

object! {
    /// `roots/list`: asks for the folders that the user has opened.
    #[derive(Default)]
    Roots / ROOTS = "Input.Roots" {
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
