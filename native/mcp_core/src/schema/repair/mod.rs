//! Repairs values if the schema leaves no doubt about the intended value.
//!
//! Models write `"42"` for a number, an array as a string of JSON, or one value for a list. A
//! repair is tried only on an invalid value. It changes only values whose place allows exactly one
//! other type. It counts only if the value is valid afterwards. It adds and removes nothing, and a
//! string stays as it is where a string is allowed. Every change is necessary: without it its place
//! would be invalid.

mod change;
mod places;
mod walk;

use jsonschema::json::Json;

use super::Validator;
use crate::json::Limits;
use change::Allowance;
use places::Places;

/// Rounds of repair: a list of numbers sent as one string takes two.
const MAX_ROUNDS: usize = 3;

/// A step from a value to one of its members or items.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// To the property with that name.
    Name(String),
    /// To the item at that index.
    Index(usize),
}

/// The replacement of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// A number replaces the string that holds it; this is its JSON text.
    Number(String),
    /// A boolean replaces the string `true` or `false`.
    Boolean(bool),
    /// An array or object replaces the string that holds it. This is its JSON text: valid JSON
    /// within the limits of a message.
    Json(String),
    /// A list replaces its only item.
    List,
    /// The member is removed: it is `null`, which many clients write for a value that they do not
    /// give.
    Absent,
}

impl Change {
    /// The change's name for programs: `number`, `boolean`, `json`, `list` or `absent`.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Number(_) => "number",
            Self::Boolean(_) => "boolean",
            Self::Json(_) => "json",
            Self::List => "list",
            Self::Absent => "absent",
        }
    }
}

/// One change at one place of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The path to the place, from the root of the value.
    pub path: Vec<Step>,
    /// The change at that place.
    pub change: Change,
}

/// A value that was repaired.
#[derive(Clone, Debug)]
pub struct Repaired<N> {
    /// The valid value.
    pub node: N,
    /// The kinds of all changes, in the order in which they were made.
    pub kinds: Vec<&'static str>,
}

impl<J: Json> Validator<J> {
    /// The members of an invalid value that count as absent: they are `null`, `properties` declares
    /// them without `null`, and their object does not require them. Ordered by path.
    ///
    /// A subschema has no `null` if it names its types or its values without it, under the
    /// conditions of [`repair`](Self::repair).
    ///
    /// # Examples
    /// ```
    /// use mcp_core::schema::{SchemaLimits, SerdeJson, Step, compile};
    /// use serde_json::json;
    ///
    /// let schema = br#"{"properties": {"limit": {"type": "integer"}}}"#;
    /// let validator = compile::<SerdeJson>(schema, &SchemaLimits::default())?;
    /// let absent = validator.absent(&json!({"limit": null}));
    /// assert_eq!(absent[0].path, [Step::Name("limit".to_owned())]);
    /// # Ok::<(), mcp_core::schema::SchemaError>(())
    /// ```
    #[allow(
        clippy::needless_pass_by_value,
        reason = "a node is a handle on a value: it is passed like a reference"
    )]
    #[must_use]
    pub fn absent(&self, node: J::Node<'_>) -> Vec<Edit> {
        Places::new(self.schema(), self.max_refs())
            .and_then(|places| walk::absent::<J>(&places, &node))
            .unwrap_or_default()
    }

    /// Repairs an invalid value; `None` if the intended value is in doubt.
    ///
    /// `apply` makes the edits. They are ordered by path and do not nest. `apply` is called at most
    /// three times. A value has at most 256 edits, and at most 256 KiB of JSON in strings is read.
    /// `room` is the rest of the limits of the value's text: its depth, the number of added values,
    /// and the length of numbers.
    ///
    /// A place is not in doubt if its subschema names one type and neither it nor a subschema on
    /// the path has `anyOf`, `oneOf`, `allOf`, `not` or `if`. References must stay inside the
    /// schema, and the dialect must be that of a draft. A scalar that is not blank becomes a list
    /// if the items have one type, and the scalar has that type or gets it by a repair.
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
        apply: impl FnMut(&J::Node<'i>, &[Edit]) -> Option<J::Node<'i>>,
    ) -> Option<Repaired<J::Node<'i>>> {
        let mut steps = u64::MAX;
        self.repair_within(node, room, &mut steps, apply)
    }

    /// As [`repair`](Self::repair); takes the steps of its checks from `steps`, and is `None` if
    /// they do not suffice.
    pub fn repair_within<'i>(
        &self,
        node: J::Node<'i>,
        room: &Limits,
        steps: &mut u64,
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
            if self.verdict_from(repaired.node.clone(), steps)? {
                return Some(repaired);
            }
        }
        None
    }
}
