//! What becomes of arguments beside their schema: strings that have to be dates and the like, members that are dropped.

use serde_json::{Map, Value, json};

use super::change::{Changes, Level};
use super::others::text;
use mcp_core::arguments::{ArgumentRule, Undeclared};
use mcp_core::json::pointer;

/// The member of a snapshot that has the types of Elixir that strings are read as, by their places.
const CASTS: &str = "casts";
/// The member that has the places of objects whose undeclared members are dropped.
const DROPPED: &str = "dropped";

/// Adds what a snapshot keeps of a rule.
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

/// What of it is stricter than it was; a place that is new is a matter of the schema.
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

/// Whether the comparison of schemas, or that of formats, says that the string has to be one.
fn is_told(before: &Value, is: &Value, place: &str, cast: &str) -> bool {
    let format = match cast {
        "date" | "uri" | "uuid" => cast,
        "datetime" => "date-time",
        // Every time has an offset by the format, and none by the type.
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
