//! The MCP objects: golden files, the rules of the tables, every revision against its schema.

// A test that fails should say so by panicking; indexing into a JSON value never does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod apps;
mod csp;
mod encoding;
mod form_mistakes;
mod forms;
mod golden;
mod json_rpc;
mod official;
mod prompts;
mod resources;
mod revisions;
mod round_trip;
mod samples;
mod schemas;
mod tables;
mod tools;

use mcp_core::model::Shape;
use mcp_core::revision::Revision;
use serde_json::Value;

/// The object as that revision's JSON text.
fn encoded(shape: &Shape, value: &Value, revision: Revision) -> String {
    String::from_utf8(mcp_core::model::encode_for(shape, value, revision)).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
