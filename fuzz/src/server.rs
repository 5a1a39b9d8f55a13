//! A server with one of everything, built once.

use std::sync::OnceLock;

use mcp_core::catalog::Catalog;
use mcp_core::schema::{SchemaLimits, SerdeJson};
use serde_json::json;

use crate::worker::Worker;

/// The stack of the thread that schemas are compiled on.
pub const COMPILER_STACK: usize = 64 * 1024 * 1024;

/// The server. Its lists have pages of one entry, so that there are cursors.
pub fn catalog() -> &'static Catalog<SerdeJson> {
    static CATALOG: OnceLock<Catalog<SerdeJson>> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let text = definition().to_string();
        let build = move || Catalog::build(text.as_bytes(), &SchemaLimits::default());
        Worker::with_stack(COMPILER_STACK)
            .run(build)
            .expect("a catalogue")
    })
}

fn definition() -> serde_json::Value {
    json!({
        "server": {
            "info": {"name": "calc", "version": "1.2.3", "title": "Calculator"},
            "instructions": "Prefer add.",
            "ttlMs": 60_000,
            "cacheScope": "public",
            "pageSize": 1,
        },
        "tools": [
            {
                "name": "add",
                "description": "Adds",
                "inputSchema": {
                    "type": "object",
                    "properties": {
                        "a": {"type": "integer"},
                        "region": {"type": "string", "x-mcp-header": "Region"},
                    },
                    "required": ["a"],
                },
            },
            {"name": "ask", "inputSchema": {"type": "object"}},
        ],
        "toolRules": [{}, {"requires": ["sampling"]}],
        "prompts": [
            {"name": "greet", "arguments": [{"name": "who", "required": true}]},
            {"name": "part"},
        ],
        "promptCompletes": [true, false],
        "resources": [
            {"name": "config", "uri": "file:///config.json"},
            {"name": "readme", "uri": "docs://readme"},
        ],
        "resourceTemplates": [
            {"name": "user", "uriTemplate": "users://{id}/profile"},
            {"name": "file", "uriTemplate": "tree://{+path}{?page}"},
        ],
        "templateCompletes": [true, false],
    })
}
