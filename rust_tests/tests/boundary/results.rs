//! The shapes of results.

mod envelope;
mod presentation;

use std::path::PathBuf;

use serde_json::Value;

/// A fixture of the documents, or `None` with a notification when it is not there.
fn fixture(name: &str) -> Option<Value> {
    let fixtures = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/fixtures"
    ));
    let Ok(text) = std::fs::read_to_string(fixtures.join(name)) else {
        println!("skipped: the fixture {name} is absent");
        return None;
    };
    serde_json::from_str(&text).ok()
}
