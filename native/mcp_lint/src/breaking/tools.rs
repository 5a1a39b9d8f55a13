//! Tools: arguments, results, hints, required client capabilities.

use serde_json::{Map, Value};

use super::change::{Changes, Level};
use super::formats::{self, Asserting};
use super::others::{members, text};
use super::{arguments, headers, schemas};
use crate::places::{Role, places};
use crate::relation::Answer;
use mcp_core::schema::SchemaLimits;

/// Hints, the value that clients relied on, and the message for its loss.
const HINTS: &[(&str, bool, &str)] = &[
    ("readOnlyHint", true, "no longer says that it only reads"),
    (
        "destructiveHint",
        false,
        "no longer says that it destroys nothing",
    ),
    (
        "idempotentHint",
        true,
        "no longer says that a repeated call changes nothing more",
    ),
    (
        "openWorldHint",
        false,
        "no longer says that it stays inside a closed world",
    ),
];

pub(super) fn compare(old: &Value, new: &Value, limits: &SchemaLimits, changes: &mut Changes) {
    let (old, new) = (members(old, "tools"), members(new, "tools"));
    for (name, was) in &old {
        changes.about("tool", name);
        match new.get(name) {
            Some(is) => compare_tool(was, is, limits, changes),
            None => changes.add(Level::Breaking, "tool_removed", removed(was, &old, &new)),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        changes.about("tool", name);
        changes.add(Level::Compatible, "tool_added", "the tool is new");
    }
}

/// Describes a removed tool. A new tool with the same schemas may be another tool, so the text only
/// says that the schemas are equal.
fn removed(was: &Value, old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let is_alike = |is: &Value| {
        ["inputSchema", "outputSchema"]
            .iter()
            .all(|member| was.get(*member) == is.get(*member))
    };
    let added = new.iter().filter(|(name, _)| !old.contains_key(*name));
    let mut alike = added.filter(|(_, is)| is_alike(is)).map(|(name, _)| name);
    match (alike.next(), alike.next()) {
        (Some(name), None) => {
            format!(
                "the tool is gone; the new tool {name:?} has the same schemas and may be what became of it"
            )
        }
        _ => "the tool is gone".to_owned(),
    }
}

fn compare_tool(was: &Value, is: &Value, limits: &SchemaLimits, changes: &mut Changes) {
    let contained = schemas::compare_input(
        was.get("inputSchema"),
        is.get("inputSchema"),
        limits,
        changes,
    );
    schemas::compare_output(
        was.get("outputSchema"),
        is.get("outputSchema"),
        limits,
        changes,
    );
    headers::compare(was, is, changes);
    compare_formats(was, is, contained, limits, changes);
    arguments::compare(was, is, changes);
    compare_hints(was, is, changes);
    compare_visibility(was, is, changes);
    let requires = |tool: &Value| -> Vec<String> {
        let names = tool.get("requires").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let known = requires(was);
    for capability in requires(is).iter().filter(|name| !known.contains(name)) {
        changes.add(
            Level::Breaking,
            "capability_required",
            format!("clients without the capability {capability:?} are now refused"),
        );
    }
    compare_tasks(was, is, changes);
    let repairs = |tool: &Value| tool.get("repair") == Some(&Value::Bool(true));
    if repairs(was) && !repairs(is) && is_repairable(was) {
        changes.add(
            Level::Breaking,
            "repair_withdrawn",
            "arguments that do not fit are no longer repaired",
        );
    }
}

/// Whether any place of the schema allows the repair of a string or a single value.
fn is_repairable(tool: &Value) -> bool {
    const MEANT: &[&str] = &["array", "boolean", "integer", "number", "object"];
    let schema = tool.get("inputSchema").unwrap_or(&Value::Null);
    places(schema).iter().any(|place| {
        let wanted = match place.schema.get("type") {
            Some(Value::Array(types)) if types.len() == 1 => types.first(),
            wanted => wanted,
        };
        let wanted = wanted.and_then(Value::as_str);
        // The root is always an object, so it is never repaired.
        place.role != Role::Root && wanted.is_some_and(|wanted| MEANT.contains(&wanted))
    })
}

fn compare_visibility(was: &Value, is: &Value, changes: &mut Changes) {
    let is_for = |tool: &Value, who: &str| match tool.get("visibility") {
        Some(Value::Array(all)) => all.iter().any(|name| name == who),
        _ => true,
    };
    for (who, message) in [
        ("model", "models no longer see the tool"),
        ("app", "views may no longer call the tool"),
    ] {
        if is_for(was, who) && !is_for(is, who) {
            changes.add(Level::Breaking, "visibility_withdrawn", message);
        }
    }
}

/// Compares the asserted formats: the comparison of schemas treats formats as annotations.
fn compare_formats(
    was: &Value,
    is: &Value,
    contained: Answer,
    limits: &SchemaLimits,
    changes: &mut Changes,
) {
    let [was, is] = [was, is].map(Asserting::of);
    formats::compare(&was, &is, contained, limits, changes);
}

/// Compares task support (2025-11-25): a tool without it refuses calls that request a task, and a
/// tool that requires it refuses calls that do not.
fn compare_tasks(was: &Value, is: &Value, changes: &mut Changes) {
    let allows = |tool: &Value| matches!(text(tool, "taskSupport"), "optional" | "required");
    if text(is, "taskSupport") == "required" && text(was, "taskSupport") != "required" {
        changes.add(
            Level::Breaking,
            "task_required",
            "calls now have to run as tasks",
        );
    }
    if allows(was) && !allows(is) {
        changes.add(
            Level::Breaking,
            "task_withdrawn",
            "calls may no longer run as tasks",
        );
    }
}

fn compare_hints(was: &Value, is: &Value, changes: &mut Changes) {
    let hint = |tool: &Value, name: &str| tool.get("annotations")?.get(name)?.as_bool();
    for (name, trusted, message) in HINTS {
        if hint(was, name) == Some(*trusted) && hint(is, name) != Some(*trusted) {
            changes.add(
                Level::Breaking,
                "hint_withdrawn",
                format!(
                    "the tool {message} (`{name}`), by which clients may have let it run unasked"
                ),
            );
        }
    }
}
