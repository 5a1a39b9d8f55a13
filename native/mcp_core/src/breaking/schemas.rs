//! One schema with its successor.

use serde_json::Value;

use super::change::{Changes, Level};
use super::reasons::{Direction, reasons};
use crate::schema::{Answer, Containment, SchemaError, SchemaLimits, contains};

/// Bytes of an example that is shown.
const MAX_EXAMPLE: usize = 400;

/// What a tool takes: it has to take what it took.
pub(super) fn compare_input(
    was: Option<&Value>,
    is: Option<&Value>,
    limits: &SchemaLimits,
    changes: &mut Changes,
) {
    let anything = Value::Bool(true);
    let (was, is) = (was.unwrap_or(&anything), is.unwrap_or(&anything));
    if was == is {
        return;
    }
    let asked = contains(is, was, limits);
    let differing = || reasons(was, is, "/inputSchema", Direction::Narrowed);
    match answer(&asked) {
        Answer::No => {
            changes.add(
                Level::Breaking,
                "input_narrowed",
                "the tool no longer accepts all arguments that it accepted",
            );
            changes.explain(differing(), example(asked));
        }
        Answer::Unknown => {
            changes.add(
                Level::Unknown,
                "input_unknown",
                format!(
                    "whether the tool accepts all arguments that it accepted is not known{}",
                    why(&asked)
                ),
            );
            changes.explain(differing(), None);
        }
        Answer::Yes if contains(was, is, limits).is_ok_and(|back| back.answer == Answer::Yes) => {}
        Answer::Yes => {
            changes.add(
                Level::Compatible,
                "input_widened",
                "the tool accepts what it accepted, and may accept more",
            );
        }
    }
}

/// What a tool returns: it may return no more than it could.
pub(super) fn compare_output(
    was: Option<&Value>,
    is: Option<&Value>,
    limits: &SchemaLimits,
    changes: &mut Changes,
) {
    let (was, is) = match (was, is) {
        (None, None) => return,
        (None, Some(_)) => {
            return changes.add(
                Level::Compatible,
                "output_narrowed",
                "the tool now says what it returns",
            );
        }
        (Some(_), None) => {
            return changes.add(
                Level::Breaking,
                "output_widened",
                "the tool no longer says what it returns",
            );
        }
        (Some(was), Some(is)) => (was, is),
    };
    if was == is {
        return;
    }
    let asked = contains(was, is, limits);
    let differing = || reasons(was, is, "/outputSchema", Direction::Widened);
    match answer(&asked) {
        Answer::No => {
            changes.add(
                Level::Breaking,
                "output_widened",
                "the tool may return what it could not return",
            );
            changes.explain(differing(), example(asked));
        }
        Answer::Unknown => {
            changes.add(
                Level::Unknown,
                "output_unknown",
                format!(
                    "whether the tool may return what it could not return is not known{}",
                    why(&asked)
                ),
            );
            changes.explain(differing(), None);
        }
        Answer::Yes if contains(is, was, limits).is_ok_and(|back| back.answer == Answer::Yes) => {}
        Answer::Yes => {
            changes.add(
                Level::Compatible,
                "output_narrowed",
                "the tool returns nothing that it could not return",
            );
        }
    }
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

fn example(asked: Result<Containment, SchemaError>) -> Option<String> {
    let text = asked.ok()?.witness?.to_string();
    (text.len() <= MAX_EXAMPLE).then_some(text)
}
