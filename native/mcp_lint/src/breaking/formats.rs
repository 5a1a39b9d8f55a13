//! Formats that the validator enforces for strings in arguments.

use serde_json::Value;

use super::change::{Changes, Level};
use super::schemas::example;
use crate::places::places;
use crate::relation::{Answer, asserted_only, passes_formats};
use mcp_core::schema::{Formats, SchemaLimits};

/// The most formats that are compared one by one.
const MAX_ASKED: usize = 64;

/// The input schema of a tool with only its asserted formats.
pub(super) struct Asserting {
    schema: Value,
}

impl Asserting {
    pub(super) fn of(tool: &Value) -> Self {
        let formats = match tool.get("formats") {
            Some(Value::Array(names)) => {
                let names = names.iter().filter_map(Value::as_str);
                Formats::Only(names.map(str::to_owned).collect())
            }
            Some(rule) if rule == "assert" => Formats::Assert,
            _ => Formats::Annotate,
        };
        let schema = tool.get("inputSchema").unwrap_or(&Value::Bool(true));
        Self {
            schema: asserted_only(schema, &formats),
        }
    }

    /// The formats with their places.
    fn places(&self) -> Vec<(String, &str)> {
        let formats = places(&self.schema).into_iter().filter_map(|place| {
            let format = place.schema.get("format")?.as_str()?;
            Some((place.pointer, format))
        });
        formats.collect()
    }

    fn unformatted(&self) -> Value {
        asserted_only(&self.schema, &Formats::Annotate)
    }

    /// The same schema with only the format at this place.
    fn alone(&self, place: &str) -> Value {
        let mut schema = self.unformatted();
        let format = self.schema.pointer(&format!("{place}/format"));
        let members = schema.pointer_mut(place).and_then(Value::as_object_mut);
        if let (Some(format), Some(members)) = (format, members) {
            members.insert("format".to_owned(), format.clone());
        }
        schema
    }
}

/// `contained` says whether the new schema accepts all values of the old schema, with formats as
/// annotations.
pub(super) fn compare(
    was: &Asserting,
    is: &Asserting,
    contained: Answer,
    limits: &SchemaLimits,
    changes: &mut Changes,
) {
    let passes = |schema: &Value| {
        // A schema that cannot be compiled was reported before.
        passes_formats(schema, &was.schema, contained, limits)
            .map_or((Answer::Unknown, None), |known| {
                (known.answer, example(known))
            })
    };
    if is.schema == was.schema || is.schema == is.unformatted() {
        return;
    }
    let (answer, shown) = passes(&is.schema);
    if answer == Answer::Yes {
        return;
    }
    let known = was.places();
    let mut new = is.places();
    new.retain(|place| !known.contains(place));
    let mut is_told = false;
    for (index, (place, format)) in new.into_iter().enumerate() {
        let asked = (index < MAX_ASKED).then(|| passes(&is.alone(&place)));
        let (answer, shown) = asked.unwrap_or((Answer::Unknown, None));
        is_told |= tell(answer, shown, changes, || {
            format!("a string at /inputSchema{place} now has to be of the format {format:?}")
        });
    }
    if !is_told && (answer == Answer::No || contained == Answer::Yes) {
        tell(answer, shown, changes, || {
            "a string now has to be of a format".to_owned()
        });
    }
}

/// Returns whether it reported a change.
fn tell(
    answer: Answer,
    shown: Option<String>,
    changes: &mut Changes,
    message: impl Fn() -> String,
) -> bool {
    match answer {
        Answer::Yes => return false,
        Answer::No => changes.add(Level::Breaking, "format_asserted", message()),
        Answer::Unknown => {
            let message = format!("{}; whether it could be another is not known", message());
            changes.add(Level::Unknown, "format_unknown", message);
        }
    }
    changes.explain(Vec::new(), shown);
    true
}
