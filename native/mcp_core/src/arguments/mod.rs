//! What becomes of a tool's arguments when they have been checked: members that are left out get their
//! default, strings are read as dates and the like, `1.0` is an integer where one is declared, keys become names that the program knows, what no
//! field declares is dropped.
//!
//! [`Plan::of`] finds out once what there is to do for a schema and the [`ArgumentRule`] beside it; a tool
//! without any has no plan and pays nothing. A binding walks the plan over its own representation of values.

mod cast;
mod decimal;
mod plan;
mod rule;
mod time;
mod uri;

pub use cast::{Cast, CastValue};
pub use decimal::Decimal;
pub use plan::{Member, ObjectPlan, Place, Plan};
pub use rule::{ArgumentRule, Keys, Undeclared};
pub use time::{Date, Time};
pub use uri::UriParts;
