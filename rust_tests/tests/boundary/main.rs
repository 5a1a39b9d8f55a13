//! `mcp_core` through its public door, against golden files, corpora and tables.

mod arguments;
mod auth;
mod breaking;
mod catalog;
mod dpop;
mod dual;
mod generated;
mod grants;
mod guard;
mod http;
mod http1;
mod json;
mod jsonrpc;
mod lint;
mod model;
mod protocol;
mod purity;
mod results;
mod schema;
mod tasks;
mod template;

/// A JSON file of `test/fixtures`.
fn fixture(path: &str) -> serde_json::Value {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../test/fixtures");
    let text = std::fs::read_to_string(std::path::Path::new(fixtures).join(path)).expect(path);
    serde_json::from_str(&text).expect(path)
}
