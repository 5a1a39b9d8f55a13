//! The params of what a server asks of a client: the person's input, the model's, or the roots.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::Kind;
use super::common::{Audience, JsonSchema, Meta};
use super::content::SamplingBlock;
use super::member::Member;
use super::tool::Tool;

names! {
    /// How a person is asked.
    ElicitMode {
        /// By a form.
        Form = "form",
        /// By a web page.
        Url = "url",
    }
}

object! {
    /// `elicitation/create`: asks the person, by a form or (from 2025-11-25 on) by a web page.
    #[derive(Default)]
    Elicit / ELICIT = "Input.Elicit" since V2025_06_18 one_of ["requestedSchema", "url"] {
        /// What the person reads.
        message: String => "message",
        /// How the person is asked.
        mode: Option<ElicitMode> => "mode" since V2025_11_25,
        /// The form: an object schema of plain values.
        requested_schema: Option<JsonSchema> => "requestedSchema" as "requested_schema",
        /// The page.
        url: Option<String> => "url" since V2025_11_25,
        /// The id that `notifications/elicitation/complete` will name.
        elicitation_id: Option<String> => "elicitationId" as "elicitation_id"
            since V2025_11_25 until V2025_11_25,
        /// Which task asks.
        meta: Option<Meta> => "_meta" since V2025_11_25 until V2025_11_25,
    }
}

names! {
    /// Whose context a client may add.
    IncludeContext {
        /// Nobody's.
        None = "none",
        /// This server's.
        ThisServer = "thisServer",
        /// Every server's.
        AllServers = "allServers",
    }
}

object! {
    /// `sampling/createMessage`: asks the client's model.
    Sampling / SAMPLING = "Input.Sampling" {
        /// The conversation.
        messages: Vec<SamplingMessage> => "messages",
        /// Which model is wanted.
        model_preferences: Option<ModelPreferences> => "modelPreferences" as "model_preferences",
        /// The system prompt that is wanted.
        system_prompt: Option<String> => "systemPrompt" as "system_prompt",
        /// Whose context is wanted.
        include_context: Option<IncludeContext> => "includeContext" as "include_context",
        /// How freely the model may choose.
        temperature: Option<Number> => "temperature",
        /// The most tokens it may write.
        max_tokens: u64 => "maxTokens" as "max_tokens",
        /// Texts it stops at.
        stop_sequences: Option<Vec<String>> => "stopSequences" as "stop_sequences",
        /// Data for the provider of the model.
        metadata: Option<Map<String, Value>> => "metadata",
        /// Tools the model may wish to call.
        tools: Option<Vec<Tool>> => "tools" since V2025_11_25,
        /// Whether it must.
        tool_choice: Option<ToolChoice> => "toolChoice" as "tool_choice" since V2025_11_25,
        /// Which task asks.
        meta: Option<Meta> => "_meta" since V2025_11_25 until V2025_11_25,
    }
}

object! {
    /// One message of a sampling conversation.
    SamplingMessage / SAMPLING_MESSAGE = "Input.Sampling.Message" {
        /// Who says it.
        role: Audience => "role",
        /// What is said.
        content: SamplingContent => "content",
        /// Further data.
        meta: Option<Meta> => "_meta" since V2025_11_25,
    }
}

/// What a sampling message says: one block, or (from 2025-11-25 on) several.
#[derive(Clone, Debug, PartialEq)]
pub enum SamplingContent {
    /// One block.
    One(SamplingBlock),
    /// Several.
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
    /// Which model is wanted. The priorities go from 0 to 1.
    #[derive(Default)]
    ModelPreferences / MODEL_PREFERENCES = "Input.Sampling.ModelPreferences" {
        /// Models by name, best first.
        hints: Option<Vec<ModelHint>> => "hints",
        /// How much a low price matters.
        cost_priority: Option<Number> => "costPriority" as "cost_priority",
        /// How much speed matters.
        speed_priority: Option<Number> => "speedPriority" as "speed_priority",
        /// How much ability matters.
        intelligence_priority: Option<Number> => "intelligencePriority" as "intelligence_priority",
    }
}

object! {
    /// A model by name.
    #[derive(Default)]
    ModelHint / MODEL_HINT = "Input.Sampling.ModelHint" {
        /// A part of its name.
        name: Option<String> => "name",
    }
}

names! {
    /// Whether a model calls tools.
    ToolChoiceMode {
        /// As it likes.
        Auto = "auto",
        /// At least one.
        Required = "required",
        /// None.
        None = "none",
    }
}

object! {
    /// Whether a model calls tools.
    #[derive(Default)]
    ToolChoice / TOOL_CHOICE = "Input.Sampling.ToolChoice" since V2025_11_25 {
        /// Whether it does.
        mode: Option<ToolChoiceMode> => "mode",
    }
}

object! {
    /// `roots/list`: asks which folders the person has opened.
    #[derive(Default)]
    Roots / ROOTS = "Input.Roots" {
        /// Further data.
        meta: Option<Meta> => "_meta",
    }
}
