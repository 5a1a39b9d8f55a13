//! A server's description: capabilities, `initialize` and `server/discover`.

use serde_json::{Map, Value, json};

use super::definition::{Definition, ServerDefinition};
use super::extras::{Extras, ServerExtras};
use super::lists::{Caching, ListKind};
use crate::apps::views::is_view;
use crate::apps::{EXTENSION, MIME_TYPE};
use crate::json;
use crate::model::{self, TASKS_EXTENSION};
use crate::revision::{Era, Revision};

/// The capabilities that a server advertises.
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a capability of its own"
)]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capabilities {
    /// Offers `tools/*`.
    pub tools: bool,
    /// Offers `prompts/*`.
    pub prompts: bool,
    /// Offers `resources/*`.
    pub resources: bool,
    /// Offers `completion/complete`.
    pub completions: bool,
    /// Calls may run as tasks.
    pub tasks: bool,
    /// Extensions, by identifier.
    pub extensions: Map<String, Value>,
    /// Capabilities outside the specification, by name.
    pub experimental: Map<String, Value>,
}

impl Capabilities {
    pub(super) fn of(definition: &Definition, dynamic: &[ListKind]) -> Self {
        let offers = |kind: ListKind| !definition.list(kind).is_empty() || dynamic.contains(&kind);
        let mut extensions = definition.server.extensions.clone();
        if has_views(definition) {
            extensions
                .entry(EXTENSION)
                .or_insert_with(|| json!({ "mimeTypes": [MIME_TYPE] }));
        }
        Self {
            tools: offers(ListKind::Tools) || definition.run_time_tools,
            prompts: offers(ListKind::Prompts),
            resources: offers(ListKind::Resources) || offers(ListKind::ResourceTemplates),
            completions: definition.prompt_completes.contains(&true)
                || definition.template_completes.contains(&true),
            tasks: definition.tools.iter().any(may_be_task) || definition.run_time_tasks,
            extensions,
            experimental: definition.server.experimental.clone(),
        }
    }

    /// The capabilities object in `revision`.
    #[must_use]
    pub fn to_value(&self, revision: Revision) -> Value {
        let mut object = Map::new();
        let mut put = |name: &str, offered: bool, value: Value| {
            if offered {
                object.insert(name.to_owned(), value);
            }
        };
        put("tools", self.tools, json!({ "listChanged": true }));
        put(
            "resources",
            self.resources,
            json!({ "subscribe": true, "listChanged": true }),
        );
        put("prompts", self.prompts, json!({ "listChanged": true }));
        put("logging", true, json!({}));
        put(
            "completions",
            self.completions && revision >= Revision::V2025_03_26,
            json!({}),
        );
        put(
            "tasks",
            self.tasks && revision == Revision::V2025_11_25,
            json!({ "list": {}, "cancel": {}, "requests": { "tools": { "call": {} } } }),
        );
        let mut extensions = self.extensions.clone();
        if self.tasks && revision.era() == Era::Stateless {
            extensions.insert(TASKS_EXTENSION.to_owned(), json!({}));
        }
        put(
            "extensions",
            !extensions.is_empty() && revision >= Revision::V2025_06_18,
            Value::Object(extensions),
        );
        put(
            "experimental",
            !self.experimental.is_empty(),
            Value::Object(self.experimental.clone()),
        );
        Value::Object(object)
    }
}

fn may_be_task(tool: &Value) -> bool {
    tool.pointer("/execution/taskSupport")
        .and_then(Value::as_str)
        .is_some_and(|support| support != "forbidden")
}

fn has_views(definition: &Definition) -> bool {
    let uris = definition.resources.iter().map(|entry| entry.get("uri"));
    let templates = definition.resource_templates.iter();
    uris.chain(templates.map(|entry| entry.get("uriTemplate")))
        .any(|uri| uri.and_then(Value::as_str).is_some_and(is_view))
}

/// The parts after the id of the prebuilt responses to `initialize` and `server/discover`.
#[derive(Debug)]
pub(super) struct Descriptions {
    initialize: [Vec<u8>; Revision::ALL.len()],
    discover: Vec<u8>,
}

impl Descriptions {
    pub(super) fn encode(
        server: &ServerDefinition,
        capabilities: &Capabilities,
        caching: Caching,
        extras: &ServerExtras,
    ) -> Self {
        Self {
            initialize: Revision::ALL
                .map(|revision| initialize_tail(server, capabilities, revision)),
            discover: discover_tail(server, capabilities, caching, extras),
        }
    }

    pub(super) fn initialize(&self, revision: Revision) -> &[u8] {
        self.initialize
            .get(revision.index())
            .map_or(&[], Vec::as_slice)
    }

    pub(super) fn discover(&self) -> &[u8] {
        &self.discover
    }
}

fn initialize_tail(
    server: &ServerDefinition,
    capabilities: &Capabilities,
    revision: Revision,
) -> Vec<u8> {
    let extras = Extras::default();
    let mut out = Vec::new();
    extras.open_result(&mut out);
    out.extend_from_slice(b"\"protocolVersion\":");
    json::write_string(&mut out, revision.as_str());
    out.extend_from_slice(b",\"capabilities\":");
    out.extend_from_slice(capabilities.to_value(revision).to_string().as_bytes());
    out.extend_from_slice(b",\"serverInfo\":");
    out.extend_from_slice(&model::encode_for(
        &model::IMPLEMENTATION,
        &server.info,
        revision,
    ));
    write_instructions(&mut out, server);
    extras.close_result(&mut out);
    out
}

fn discover_tail(
    server: &ServerDefinition,
    capabilities: &Capabilities,
    caching: Caching,
    extras: &ServerExtras,
) -> Vec<u8> {
    let revision = Revision::NEWEST;
    let extras = extras.at(revision);
    let mut out = Vec::new();
    extras.open_result(&mut out);
    out.extend_from_slice(b"\"supportedVersions\":[");
    json::write_string(&mut out, revision.as_str());
    out.extend_from_slice(b"],\"capabilities\":");
    out.extend_from_slice(capabilities.to_value(revision).to_string().as_bytes());
    write_instructions(&mut out, server);
    out.push(b',');
    caching.write(&mut out);
    extras.close_result(&mut out);
    out
}

fn write_instructions(out: &mut Vec<u8>, server: &ServerDefinition) {
    if let Some(instructions) = &server.instructions {
        out.extend_from_slice(b",\"instructions\":");
        json::write_string(out, instructions);
    }
}
