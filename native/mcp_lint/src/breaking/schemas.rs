//! Compares a schema with its successor.

use serde_json::Value;

use super::change::{Changes, Level};
use super::reasons::{Direction, reasons};
use crate::relation::{Answer, Containment, contains};
use mcp_core::schema::{SchemaError, SchemaLimits};

/// The most bytes of an example.
const MAX_EXAMPLE: usize = 400;

/// The codes and messages of the possible changes of a schema.
struct Outcomes {
    breaking: (&'static str, &'static str),
    unknown: (&'static str, &'static str),
    compatible: (&'static str, &'static str),
}

const INPUT: Outcomes = Outcomes {
    breaking: (
        "input_narrowed",
        "the tool no longer accepts all arguments that it accepted",
    ),
    unknown: (
        "input_unknown",
        "whether the tool accepts all arguments that it accepted is not known",
    ),
    compatible: (
        "input_widened",
        "the tool accepts what it accepted, and may accept more",
    ),
};

const OUTPUT: Outcomes = Outcomes {
    breaking: (
        "output_widened",
        "the tool may return what it could not return",
    ),
    unknown: (
        "output_unknown",
        "whether the tool may return what it could not return is not known",
    ),
    compatible: (
        "output_narrowed",
        "the tool returns nothing that it could not return",
    ),
};

/// Compares input schemas: the tool must accept all old arguments. Returns whether it does, with
/// formats as annotations.
pub(super) fn compare_input(
    was: Option<&Value>,
    is: Option<&Value>,
    limits: &SchemaLimits,
    changes: &mut Changes,
) -> Answer {
    let anything = Value::Bool(true);
    let (was, is) = (was.unwrap_or(&anything), is.unwrap_or(&anything));
    let differing = || reasons(was, is, "/inputSchema", Direction::Narrowed);
    compare(is, was, limits, &INPUT, differing, changes)
}

/// Compares output schemas: the tool must return no new values.
pub(super) fn compare_output(
    was: Option<&Value>,
    is: Option<&Value>,
    limits: &SchemaLimits,
    changes: &mut Changes,
) {
    match (was, is) {
        (None, None) => {}
        (None, Some(_)) => changes.add(
            Level::Compatible,
            OUTPUT.compatible.0,
            "the tool now says what it returns",
        ),
        (Some(_), None) => changes.add(
            Level::Breaking,
            OUTPUT.breaking.0,
            "the tool no longer says what it returns",
        ),
        (Some(was), Some(is)) => {
            let differing = || reasons(was, is, "/outputSchema", Direction::Widened);
            compare(was, is, limits, &OUTPUT, differing, changes);
        }
    }
}

/// Reports whether `outer` accepts every value of `inner`.
fn compare(
    outer: &Value,
    inner: &Value,
    limits: &SchemaLimits,
    outcomes: &Outcomes,
    differing: impl FnOnce() -> Vec<String>,
    changes: &mut Changes,
) -> Answer {
    if outer == inner {
        return Answer::Yes;
    }
    let asked = contains(outer, inner, limits);
    let answered = answer(&asked);
    match answered {
        Answer::No => {
            let (code, message) = outcomes.breaking;
            changes.add(Level::Breaking, code, message);
            changes.explain(differing(), asked.ok().and_then(example));
        }
        Answer::Unknown => {
            let (code, message) = outcomes.unknown;
            changes.add(Level::Unknown, code, format!("{message}{}", why(&asked)));
            changes.explain(differing(), None);
        }
        Answer::Yes if answer(&contains(inner, outer, limits)) == Answer::Yes => {}
        Answer::Yes => {
            let (code, message) = outcomes.compatible;
            changes.add(Level::Compatible, code, message);
        }
    }
    answered
}

fn answer(asked: &Result<Containment, SchemaError>) -> Answer {
    asked.as_ref().map_or(Answer::Unknown, |known| known.answer)
}

fn why(asked: &Result<Containment, SchemaError>) -> String {
    let error = asked.as_ref().err();
    error.map_or_else(String::new, |error| {
        format!(": a schema cannot be compiled, {error}")
    })
}

/// The witness as JSON; `None` if it is longer than `MAX_EXAMPLE`.
pub(super) fn example(asked: Containment) -> Option<String> {
    let text = asked.witness?.to_string();
    (text.len() <= MAX_EXAMPLE).then_some(text)
}
