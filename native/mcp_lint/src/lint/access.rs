//! Tools without a scope in a catalogue with scopes.

use mcp_core::catalog::{Asks, ToolRule};
use serde_json::Value;

use super::finding::{Code, Findings};

/// Whether any tool requires scopes.
pub(super) fn is_protected(rules: &[ToolRule]) -> bool {
    rules.iter().any(|rule| rule.asks == Asks::Scopes)
}

pub(super) fn check_tool(tool: &Value, rule: &ToolRule, found: &mut Findings) {
    if rule.asks == Asks::Nothing && is_destructive(tool) {
        found.add(
            Code::MissingScopes,
            "",
            "the tool may destroy something, and every token may use it: other tools need a scope".to_owned(),
            "Write `scopes: [\"…\"]`, `scopes: :public` if it is meant for everybody, or `hints:` if it destroys nothing.",
        );
    }
}

/// A tool without hints may destroy. Another finding reports the missing hints.
fn is_destructive(tool: &Value) -> bool {
    let hint = |name: &str| tool.get("annotations")?.get(name)?.as_bool();
    hint("readOnlyHint") != Some(true) && hint("destructiveHint") == Some(true)
}
