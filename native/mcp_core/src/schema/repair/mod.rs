//! What a value was meant to be, where the schema leaves no doubt.
//!
//! Models write `"42"` where a number is asked for, an array as a string of JSON, one value where a
//! list of them belongs. A repair is tried only on a value that is not valid, changes only what has
//! not the one type that its place allows, and counts only if the value is valid then. Nothing is
//! added and nothing left out, and where a string is allowed it stays as it is. So no change can be
//! left out: the place that it was made at would not be valid without it.

mod change;
mod places;
mod walk;

use jsonschema::json::Json;

use super::Validator;
use crate::json::Limits;
use change::Allowance;
use places::Places;

/// How often what came out of a repair is repaired again: a list of numbers that was sent as one
/// string takes two rounds.
const MAX_ROUNDS: usize = 3;

/// A step from a value to one it holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the property of that name.
    Name(String),
    /// To the item at that place.
    Index(usize),
}

/// What a value is replaced with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A string with the number in it, of which this is the JSON text.
    Number(String),
    /// A string with `true` or `false` in it.
    Boolean(bool),
    /// A string with the array or the object in it, of which this is the JSON text: sound JSON
    /// within the limits of a message.
    Json(String),
    /// A value with the list of it alone.
    List,
}

impl Change {
    /// The change's name for programs: `number`, `boolean`, `json` or `list`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Boolean(_) => "boolean",
            Self::Json(_) => "json",
            Self::List => "list",
        }
    }
}

/// One change at one place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The way to the place from the whole value.
    pub path: Vec<Step>,
    /// What happens there.
    pub change: Change,
}

/// A value that was repaired.
#[derive(Clone, Debug)]
pub struct Repaired<N> {
    /// It is valid.
    pub node: N,
    /// The changes' kinds, one for each, in the order in which they were made.
    pub kinds: Vec<&'static str>,
}

impl<J: Json> Validator<J> {
    /// Repairs a value that is not valid; `None` where that cannot be done without a doubt.
    ///
    /// `apply` makes the edits: in order of their paths, none of them inside another's place. It is
    /// called at most three times. A value has at most 256 edits, and at most 256 KiB of JSON in
    /// strings are read. `room` is what is left of the limits of the text the value is of: how deep
    /// it may become, how many values may be added, and how long numbers may be.
    ///
    /// Without a doubt means that the subschema of a place names one type and holds no `anyOf`,
    /// `oneOf`, `allOf`, `not` or `if`, nor does any on the way there, that references lead to it
    /// inside the schema only, and that the schema's dialect is a draft's own. A scalar that is not
    /// blank becomes a list where the items have one type, which the scalar has or gets by a repair.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::json::Limits;
    /// use mcp_core::schema::{Change, SchemaLimits, SerdeJson, Step, compile};
    /// use serde_json::json;
    ///
    /// let schema = br#"{"properties": {"limit": {"type": "integer"}}}"#;
    /// let validator = compile::<SerdeJson>(schema, &SchemaLimits::default())?;
    /// let (given, meant) = (json!({"limit": "10"}), json!({"limit": 10}));
    /// let repaired = validator.repair(&given, &Limits::default(), |_, edits| {
    ///     assert_eq!(edits[0].path, [Step::Name("limit".to_owned())]);
    ///     assert_eq!(edits[0].change, Change::Number("10".to_owned()));
    ///     Some(&meant)
    /// });
    /// assert_eq!(repaired.unwrap().node, &meant);
    /// # Ok::<(), mcp_core::schema::SchemaError>(())
    /// ```
    pub fn repair<'i>(
        &self,
        node: J::Node<'i>,
        room: &Limits,
        mut apply: impl FnMut(&J::Node<'i>, &[Edit]) -> Option<J::Node<'i>>,
    ) -> Option<Repaired<J::Node<'i>>> {
        let mut allowance = Allowance::new(*room);
        let places = Places::new(self.schema(), self.max_refs())?;
        let mut repaired = Repaired {
            node,
            kinds: Vec::new(),
        };
        for _ in 0..MAX_ROUNDS {
            let edits = walk::edits::<J>(&places, &repaired.node, &mut allowance)?;
            if edits.is_empty() {
                return None;
            }
            repaired.node = apply(&repaired.node, &edits)?;
            let kinds = edits.iter().map(|edit| edit.change.kind());
            repaired.kinds.extend(kinds);
            if self.is_valid(repaired.node.clone()) {
                return Some(repaired);
            }
        }
        None
    }
}
