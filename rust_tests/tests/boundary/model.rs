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

use std::path::PathBuf;

use mcp_core::model::Shape;
use mcp_core::revision::Revision;
use serde_json::Value;

/// A file of the shared material, or `None` with a notification when it is not there.
fn shared(path: &str) -> Option<Value> {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared")).join(path);
    let Ok(text) = std::fs::read_to_string(&file) else {
        println!("skipped: shared file {path} is absent");
        return None;
    };
    Some(serde_json::from_str(&text).expect(path))
}

/// The object as that revision's JSON text.
fn encoded(shape: &Shape, value: &Value, revision: Revision) -> String {
    String::from_utf8(mcp_core::model::encode_for(shape, value, revision)).unwrap()
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}
