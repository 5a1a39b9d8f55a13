//! Snapshots: the parts of a catalogue that clients rely on, as a text for version control.

use serde_json::{Map, Value, json};

use super::arguments;
use mcp_core::catalog::{CatalogError, Definition, ToolRule};
use mcp_core::schema::Formats;

/// The version of the snapshot format.
const FORM: u64 = 1;

/// The most bytes of a snapshot.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The members of a tool in a snapshot.
const TOOL: &[&str] = &[
    "annotations",
    "description",
    "inputSchema",
    "outputSchema",
    "title",
];

/// The members of resources and templates in a snapshot.
const RESOURCE: &[&str] = &["description", "mimeType", "name", "title"];

/// Why a text is no snapshot.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// Not a JSON object, or too large.
    #[error("it is not a snapshot: {0}")]
    Json(String),
    /// An unknown version of the snapshot format.
    #[error("it is not a snapshot of the form {FORM}, which \"mcpSnapshot\" names")]
    Form,
}

/// The snapshot of a definition: JSON with sorted keys, one line per member.
///
/// # Errors
/// [`CatalogError`] if the text is no definition.
///
/// # Examples
/// ```
/// use mcp_lint::breaking::snapshot;
/// let definition = br#"{"server": {"info": {"name": "s"}}, "tools": [{"name": "b"}, {"name": "a"}]}"#;
/// let text = snapshot(definition)?;
/// assert!(text.find("\"a\"") < text.find("\"b\""));
/// assert!(text.ends_with("}\n"));
/// # Ok::<(), mcp_core::catalog::CatalogError>(())
/// ```
pub fn snapshot(definition: &[u8]) -> Result<String, CatalogError> {
    let definition = Definition::read(definition)?;
    let unruled = ToolRule::default();
    let rules = definition.tool_rules.iter();
    let rules = rules.chain(std::iter::repeat(&unruled));
    let tools = definition.tools.iter().zip(rules).map(|(tool, rule)| {
        let mut picked = pick(tool, TOOL);
        picked.insert("requires".to_owned(), json!(rule.requires));
        match &rule.formats {
            Formats::Annotate => {}
            Formats::Assert => drop(picked.insert("formats".to_owned(), json!("assert"))),
            Formats::Only(names) => drop(picked.insert("formats".to_owned(), json!(names))),
        }
        arguments::keep(rule.arguments.as_ref(), &mut picked);
        if rule.repair {
            picked.insert("repair".to_owned(), json!(true));
        }
        for (name, pointer) in [
            ("taskSupport", "/execution/taskSupport"),
            ("visibility", "/_meta/ui/visibility"),
        ] {
            if let Some(value) = tool.pointer(pointer) {
                picked.insert(name.to_owned(), value.clone());
            }
        }
        (text(tool, "name"), picked)
    });
    let prompts = definition.prompts.iter().map(|prompt| {
        let picked = pick(prompt, &["arguments", "description", "title"]);
        (text(prompt, "name"), picked)
    });
    let resources = definition.resources.iter();
    let resources = resources.map(|resource| (text(resource, "uri"), pick(resource, RESOURCE)));
    let templates = definition.resource_templates.iter();
    let templates =
        templates.map(|template| (text(template, "uriTemplate"), pick(template, RESOURCE)));
    let snapshot = json!({
        "mcpSnapshot": FORM,
        "prompts": by_name(prompts),
        "resourceTemplates": by_name(templates),
        "resources": by_name(resources),
        "tools": by_name(tools),
    });
    // Values parsed from JSON can always be written.
    let mut text = serde_json::to_string_pretty(&sorted(snapshot)).unwrap_or_default();
    text.push('\n');
    Ok(text)
}

fn pick(object: &Value, members: &[&str]) -> Map<String, Value> {
    let picked = members.iter().filter_map(|name| {
        let value = object.get(*name).filter(|value| !value.is_null())?;
        Some(((*name).to_owned(), value.clone()))
    });
    picked.collect()
}

fn by_name(entries: impl Iterator<Item = (String, Map<String, Value>)>) -> Value {
    Value::Object(
        entries
            .map(|(name, picked)| (name, Value::Object(picked)))
            .collect(),
    )
}

fn text(object: &Value, member: &str) -> String {
    let text = object.get(member).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// The value with the keys of every object sorted.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> = members.into_iter().collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            let members = members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)));
            Value::Object(members.collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        other => other,
    }
}

/// Reads a snapshot.
pub(super) fn read(text: &[u8]) -> Result<Value, SnapshotError> {
    if text.len() > MAX_BYTES {
        return Err(SnapshotError::Json(format!(
            "it has more than {MAX_BYTES} bytes"
        )));
    }
    let snapshot: Value =
        serde_json::from_slice(text).map_err(|error| SnapshotError::Json(error.to_string()))?;
    match snapshot.get("mcpSnapshot").and_then(Value::as_u64) {
        Some(FORM) => Ok(snapshot),
        _ => Err(SnapshotError::Form),
    }
}
