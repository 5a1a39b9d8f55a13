//! A server with one entry of each kind, built once.

use std::sync::OnceLock;

use mcp_core::catalog::{Catalog, CatalogLimits, ListKind};
use mcp_core::protocol::{Admission, Context, MessageLimits};
use mcp_core::revision::Revision;
use serde_json::json;

use crate::schema::{COMPILER_STACK, Json};
use crate::worker::Worker;

/// Builds the server, so that its time does not count for the first input.
pub fn start() {
    catalog();
}

/// The server's outcome for a message.
pub fn admit<'a>(context: Context<'_>, bytes: &'a [u8]) -> Admission<'static, 'a> {
    mcp_core::protocol::admit(catalog(), context, bytes, &MessageLimits::default())
}

/// A page of a list, as the bytes after the id of the answer.
pub fn page(kind: ListKind, revision: Revision, cursor: Option<&str>) -> Option<&'static [u8]> {
    catalog().list(kind, revision, cursor)
}

/// Its lists have pages of one entry, so that cursors exist.
fn catalog() -> &'static Catalog<Json> {
    static CATALOG: OnceLock<Catalog<Json>> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let text = definition().to_string();
        let build = move || Catalog::build(text.as_bytes(), &CatalogLimits::default());
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
