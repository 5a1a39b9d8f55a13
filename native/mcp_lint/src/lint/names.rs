//! Names that clients refuse or models confuse.

use std::collections::BTreeMap;

use serde_json::Value;

use super::finding::{Code, Findings, Kind, name};

/// The longest name that all clients accept.
const MAX_NAME: usize = 64;

pub(super) fn check_tool(tool: &Value, found: &mut Findings) {
    let name = name(tool);
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let fault = if name.len() > MAX_NAME {
        format!("the name has {} characters", name.len())
    } else if let Some(other) = name
        .chars()
        .find(|&other| !u8::try_from(other).is_ok_and(is_allowed))
    {
        format!("the name has a {other:?} in it")
    } else {
        return;
    };
    found.add(
        Code::ToolName,
        "/name",
        format!("{fault}; some clients take 1 to {MAX_NAME} characters of A-Z a-z 0-9 _ - only"),
        "Rename the tool.",
    );
}

/// Reports names that differ only in case and separators.
pub(super) fn check_alike(kind: Kind, entries: &[Value], found: &mut Findings) {
    let mut known: BTreeMap<String, &str> = BTreeMap::new();
    for entry in entries {
        let name = name(entry);
        if let Some(earlier) = known.get(&folded(name)) {
            found.about(kind, entry);
            found.add(
                Code::AlikeNames,
                "/name",
                format!("the name differs from {earlier:?} in case and separators only"),
                "Give them names that say what is different.",
            );
        } else {
            known.insert(folded(name), name);
        }
    }
}

fn folded(name: &str) -> String {
    let letters = name
        .chars()
        .filter(|letter| !matches!(letter, '_' | '-' | '.' | '/'));
    letters.flat_map(char::to_lowercase).collect()
}
