//! Arguments that headers repeat (2026-07-28): calls with the old annotations must still pass.

use serde_json::Value;

use super::change::{Changes, Level};
use mcp_core::catalog::header_parameters::{HeaderParameter, collect};
use mcp_core::json::pointer;

/// The most references followed in a row.
const MAX_REFS: usize = 64;

pub(super) fn compare(was: &Value, is: &Value, changes: &mut Changes) {
    let [was, is] = [was, is].map(|tool| tool.get("inputSchema").unwrap_or(&Value::Null));
    // The catalogue refused invalid annotations; invalid annotations of a hand-edited snapshot
    // count as absent.
    let [old, new] = [was, is].map(|schema| collect(schema).unwrap_or_default());
    for parameter in &new {
        compare_parameter(parameter, &old, was, changes);
    }
    let is_gone = |known: &&HeaderParameter| {
        !new.iter()
            .any(|other| other.key == known.key || other.path == known.path)
    };
    for known in old.iter().filter(is_gone) {
        let (header, at) = (&known.header, place(known));
        let message = format!("the header Mcp-Param-{header} no longer has to repeat {at}");
        changes.add(Level::Compatible, "header_removed", message);
    }
}

fn compare_parameter(
    parameter: &HeaderParameter,
    old: &[HeaderParameter],
    was: &Value,
    changes: &mut Changes,
) {
    let (header, at) = (&parameter.header, place(parameter));
    if let Some(known) = old.iter().find(|known| known.key == parameter.key) {
        if known.path != parameter.path {
            let before = place(known);
            let message =
                format!("the header Mcp-Param-{header} repeated {before} and has to repeat {at}");
            changes.add(Level::Breaking, "header_changed", message);
        }
    } else if let Some(known) = old.iter().find(|known| known.path == parameter.path) {
        let before = &known.header;
        let message = format!(
            "the header Mcp-Param-{before} repeated {at}; Mcp-Param-{header} has to repeat it now"
        );
        changes.add(Level::Breaking, "header_changed", message);
    } else if may_hold(was, &parameter.path) {
        let message = format!("the header Mcp-Param-{header} now has to repeat {at}");
        changes.add(Level::Breaking, "header_required", message);
    }
}

fn place(parameter: &HeaderParameter) -> String {
    let names = parameter.path.iter().map(|name| pointer::segment(name));
    names.fold("/inputSchema".to_owned(), |place, name| {
        format!("{place}/properties/{name}")
    })
}

/// Whether a value of the schema may have a value at this path; true if that is unknown.
fn may_hold(schema: &Value, path: &[String]) -> bool {
    let mut here = schema;
    for name in path {
        here = target(schema, here);
        let declared = here
            .get("properties")
            .and_then(|properties| properties.get(name));
        here = match declared {
            Some(declared) => declared,
            None if here.get("patternProperties").is_some() => return true,
            None => here
                .get("additionalProperties")
                .unwrap_or(&Value::Bool(true)),
        };
        if here == &Value::Bool(false) {
            return false;
        }
    }
    true
}

/// The target of a subschema's references inside the schema.
fn target<'s>(schema: &'s Value, here: &'s Value) -> &'s Value {
    let mut here = here;
    for _ in 0..MAX_REFS {
        let reference = here.get("$ref").and_then(Value::as_str);
        let led = reference.and_then(|reference| schema.pointer(reference.strip_prefix('#')?));
        let Some(led) = led else { break };
        here = led;
    }
    here
}
