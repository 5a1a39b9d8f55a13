//! Argument rules outside the schema: types of strings such as dates, and dropped members.

use serde_json::{Map, Value, json};

use super::change::{Changes, Level};
use super::others::text;
use mcp_core::arguments::{ArgumentRule, Undeclared};
use mcp_core::json::pointer;

/// The member of a snapshot with the Elixir types that strings are converted to, by place.
const CASTS: &str = "casts";
/// The member with the places of objects whose undeclared members are dropped.
const DROPPED: &str = "dropped";

/// Adds the parts of a rule that a snapshot keeps.
pub(super) fn keep(rule: Option<&ArgumentRule>, picked: &mut Map<String, Value>) {
    let (mut casts, mut dropped) = (Map::new(), Vec::new());
    if let Some(rule) = rule {
        walk(rule, "", &mut casts, &mut dropped);
    }
    if !casts.is_empty() {
        picked.insert(CASTS.to_owned(), Value::Object(casts));
    }
    if !dropped.is_empty() {
        picked.insert(DROPPED.to_owned(), json!(dropped));
    }
}

fn walk(
    rule: &ArgumentRule,
    place: &str,
    casts: &mut Map<String, Value>,
    dropped: &mut Vec<String>,
) {
    if let Some(cast) = rule.cast {
        casts.insert(place.to_owned(), json!(cast.as_str()));
    }
    if rule.undeclared == Undeclared::Drop {
        dropped.push(place.to_owned());
    }
    for (name, rule) in &rule.properties {
        let place = format!("{place}/properties/{}", pointer::segment(name));
        walk(rule, &place, casts, dropped);
    }
    if let Some(items) = &rule.items {
        walk(items, &format!("{place}/items"), casts, dropped);
    }
}

/// Reports the stricter rules. The comparison of schemas reports new places.
pub(super) fn compare(was: &Value, is: &Value, changes: &mut Changes) {
    let known = |place: &str| was.get("inputSchema")?.pointer(place);
    let casts = is.get(CASTS).and_then(Value::as_object);
    for (place, cast) in casts.into_iter().flatten() {
        let cast = cast.as_str().unwrap_or_default();
        let Some(schema) = known(place) else { continue };
        let before = was.get(CASTS).and_then(|casts| casts.get(place));
        if before.and_then(Value::as_str) != Some(cast) && !is_told(schema, is, place, cast) {
            let message =
                format!("a string at /inputSchema{place} now has to be one of the type :{cast}");
            changes.add(Level::Breaking, "cast_added", message);
        }
    }
    let dropped = |tool: &Value| tool.get(DROPPED).and_then(Value::as_array).cloned();
    let before = dropped(was).unwrap_or_default();
    for place in dropped(is).unwrap_or_default() {
        let is_open = place
            .as_str()
            .and_then(known)
            .is_some_and(|schema| schema.get("additionalProperties") != Some(&Value::Bool(false)));
        if is_open && !before.contains(&place) {
            let place = place.as_str().unwrap_or_default();
            let message = format!(
                "members of /inputSchema{place} that are not declared no longer reach the tool"
            );
            changes.add(Level::Breaking, "undeclared_dropped", message);
        }
    }
}

/// Whether the comparison of schemas or formats already reports the new type.
fn is_told(before: &Value, is: &Value, place: &str, cast: &str) -> bool {
    let format = match cast {
        "date" | "uri" | "uuid" => cast,
        "datetime" => "date-time",
        // The format requires an offset, but the type allows none.
        "time" => return false,
        _pattern => {
            let now = is
                .get("inputSchema")
                .and_then(|schema| schema.pointer(place));
            return now.and_then(|now| now.get("pattern")) != before.get("pattern");
        }
    };
    match is.get("formats") {
        Some(Value::Array(names)) => names.iter().any(|name| name == format),
        _ => text(is, "formats") == "assert",
    }
}
