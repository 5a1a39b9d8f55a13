//! Prompts, resources and templates.

use serde_json::{Map, Value};

use super::change::{Changes, Level};

pub(super) fn compare_prompts(old: &Value, new: &Value, changes: &mut Changes) {
    let (old, new) = (members(old, "prompts"), members(new, "prompts"));
    for (name, was) in &old {
        changes.about("prompt", name);
        match new.get(name) {
            Some(is) => compare_arguments(was, is, changes),
            None => changes.add(Level::Breaking, "prompt_removed", "the prompt is gone"),
        }
    }
    for name in new.keys().filter(|name| !old.contains_key(*name)) {
        changes.about("prompt", name);
        changes.add(Level::Compatible, "prompt_added", "the prompt is new");
    }
}

fn compare_arguments(was: &Value, is: &Value, changes: &mut Changes) {
    let (old, new) = (arguments(was), arguments(is));
    for (name, was_required) in &old {
        match new.iter().find(|(known, _)| known == name) {
            None => changes.add(
                Level::Breaking,
                "argument_removed",
                format!("the argument {name:?} is gone"),
            ),
            Some((_, true)) if !was_required => changes.add(
                Level::Breaking,
                "argument_required",
                format!("the argument {name:?} is now required"),
            ),
            Some((_, false)) if *was_required => changes.add(
                Level::Compatible,
                "argument_optional",
                format!("the argument {name:?} is no longer required"),
            ),
            Some(_) => {}
        }
    }
    for (name, is_required) in new
        .iter()
        .filter(|(name, _)| !old.iter().any(|(known, _)| known == name))
    {
        if *is_required {
            let message = format!("the new argument {name:?} is required");
            changes.add(Level::Breaking, "argument_required", message);
        } else {
            let message = format!("the argument {name:?} is new");
            changes.add(Level::Compatible, "argument_added", message);
        }
    }
}

/// The names of a prompt's arguments, and whether each is required.
fn arguments(prompt: &Value) -> Vec<(&str, bool)> {
    let arguments = prompt.get("arguments").and_then(Value::as_array);
    let arguments = arguments.into_iter().flatten().map(|argument| {
        let required = argument.get("required").and_then(Value::as_bool);
        (text(argument, "name"), required.unwrap_or(false))
    });
    arguments.collect()
}

pub(super) fn compare_resources(old: &Value, new: &Value, changes: &mut Changes) {
    let codes = ["resource_removed", "resource_added"];
    compare_addresses(old, new, ("resources", "resource"), codes, changes);
}

pub(super) fn compare_templates(old: &Value, new: &Value, changes: &mut Changes) {
    let codes = ["template_removed", "template_added"];
    let what = ("resourceTemplates", "resource template");
    compare_addresses(old, new, what, codes, changes);
}

/// Compares resources or templates: `member` is their key in a snapshot, `kind` their noun.
fn compare_addresses(
    old: &Value,
    new: &Value,
    (member, kind): (&str, &'static str),
    [removed, added]: [&'static str; 2],
    changes: &mut Changes,
) {
    let (old, new) = (members(old, member), members(new, member));
    for (uri, was) in &old {
        changes.about(kind, uri);
        match new.get(uri) {
            Some(is) => compare_media_types(was, is, changes),
            None => changes.add(Level::Breaking, removed, moved(was, &old, &new)),
        }
    }
    for uri in new.keys().filter(|uri| !old.contains_key(*uri)) {
        changes.about(kind, uri);
        let noun = kind.rsplit(' ').next().unwrap_or(kind);
        changes.add(Level::Compatible, added, format!("the {noun} is new"));
    }
}

fn compare_media_types(was: &Value, is: &Value, changes: &mut Changes) {
    let (was, is) = (text(was, "mimeType"), text(is, "mimeType"));
    if was != is && !was.is_empty() {
        let is = if is.is_empty() { "not told" } else { is };
        changes.add(
            Level::Breaking,
            "media_type_changed",
            format!("the media type was {was} and is {is}"),
        );
    }
}

/// Where a removed entry went: a new entry with the same name, if one exists.
fn moved(was: &Value, old: &Map<String, Value>, new: &Map<String, Value>) -> String {
    let mut added = new.iter().filter(|(uri, _)| !old.contains_key(*uri));
    let namesake = added.find(|(_, is)| text(is, "name") == text(was, "name"));
    match namesake {
        Some((uri, _)) => format!("it is gone; {:?} is now {uri}", text(was, "name")),
        None => "it is gone".to_owned(),
    }
}

/// The objects of a snapshot's member, by name.
pub(super) fn members(snapshot: &Value, member: &str) -> Map<String, Value> {
    let members = snapshot.get(member).and_then(Value::as_object);
    members.cloned().unwrap_or_default()
}

/// A member that is a string; empty if absent.
pub(super) fn text<'v>(object: &'v Value, member: &str) -> &'v str {
    object
        .get(member)
        .and_then(Value::as_str)
        .unwrap_or_default()
}
