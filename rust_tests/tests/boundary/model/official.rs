//! The structure of the official schemas, and where each shape is in them.

use std::collections::BTreeSet;

use jsonschema::Validator;
use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::Value;

use crate::fixture;

/// A revision's official schema.
pub(super) struct Official {
    document: Value,
    definitions: &'static str,
}

impl Official {
    pub(super) fn load(revision: Revision) -> Self {
        let document = fixture(&format!("wire_schemas/{}.json", revision.as_str()));
        let definitions = if document.get("$defs").is_some() {
            "$defs"
        } else {
            "definitions"
        };
        Self {
            document,
            definitions,
        }
    }

    fn definition(&self, name: &str) -> Option<&Value> {
        self.document[self.definitions].get(name)
    }

    /// A validator for a place in the schema, such as `Tool` or `CompleteResult/properties/completion`.
    pub(super) fn validator(&self, place: &str) -> Validator {
        let mut schema = self.document.clone();
        schema["$ref"] = format!("#/{}/{place}", self.definitions).into();
        jsonschema::validator_for(&schema).expect(place)
    }

    /// The property names at that place, through references and alternatives.
    pub(super) fn properties(&self, schema: &Value) -> BTreeSet<String> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let name = reference.rsplit('/').next().unwrap();
            return self.properties(self.definition(name).unwrap());
        }
        let own = schema.get("properties").and_then(Value::as_object);
        let alternatives = schema.get("anyOf").and_then(Value::as_array);
        let mut names: BTreeSet<_> = own
            .into_iter()
            .flatten()
            .map(|(key, _)| key.clone())
            .collect();
        names.extend(
            alternatives
                .into_iter()
                .flatten()
                .flat_map(|schema| self.properties(schema)),
        );
        names
    }

    pub(super) fn place(&self, place: &str) -> Option<&Value> {
        place
            .split('/')
            .try_fold(&self.document[self.definitions], |value, key| {
                value.get(key)
            })
    }
}

/// Where the schemas describe each shape.
pub(super) const PLACES: &[(&Shape, &str)] = &[
    (&TOOL, "Tool"),
    (&TOOL_ANNOTATIONS, "ToolAnnotations"),
    (&TOOL_EXECUTION, "ToolExecution"),
    (&CALL_RESULT, "CallToolResult"),
    (&TEXT_CONTENT, "TextContent"),
    (&IMAGE_CONTENT, "ImageContent"),
    (&AUDIO_CONTENT, "AudioContent"),
    (&EMBEDDED_RESOURCE, "EmbeddedResource"),
    (&RESOURCE_LINK, "ResourceLink"),
    (&TOOL_USE_CONTENT, "ToolUseContent"),
    (&TOOL_RESULT_CONTENT, "ToolResultContent"),
    (&ANNOTATIONS, "TextContent/properties/annotations"),
    (&ICON, "Icon"),
    (&IMPLEMENTATION, "Implementation"),
    (&PROMPT, "Prompt"),
    (&PROMPT_ARGUMENT, "PromptArgument"),
    (&PROMPT_MESSAGE, "PromptMessage"),
    (&GET_RESULT, "GetPromptResult"),
    (&COMPLETION, "CompleteResult/properties/completion"),
    (&RESOURCE, "Resource"),
    (&RESOURCE_TEMPLATE, "ResourceTemplate"),
    (&READ_RESULT, "ReadResourceResult"),
    (
        &RESOURCE_CONTENT,
        "ReadResourceResult/properties/contents/items",
    ),
    (&PROGRESS, "ProgressNotification/properties/params"),
    (&LOG_MESSAGE, "LoggingMessageNotification/properties/params"),
    (
        &RESOURCE_UPDATED,
        "ResourceUpdatedNotification/properties/params",
    ),
    (&CANCELLED, "CancelledNotification/properties/params"),
    (
        &ELICITATION_COMPLETE,
        "ElicitationCompleteNotification/properties/params",
    ),
    (
        &SUBSCRIPTIONS_ACKNOWLEDGED,
        "SubscriptionsAcknowledgedNotification/properties/params",
    ),
    (&ELICIT, "ElicitRequest/properties/params"),
    (&SAMPLING, "CreateMessageRequest/properties/params"),
    (&SAMPLING_MESSAGE, "SamplingMessage"),
    (&MODEL_PREFERENCES, "ModelPreferences"),
    (&MODEL_HINT, "ModelHint"),
    (&TOOL_CHOICE, "ToolChoice"),
];
