//! Converts the arguments of a tool after validation. Absent members get their default, strings
//! become dates and similar values, and `1.0` becomes a declared integer. Keys may become names of
//! the program, and undeclared members may be dropped.
//!
//! [`Plan::of`] computes the work for a schema and its [`ArgumentRule`] once. A tool without work
//! has no plan and no cost. A binding applies the plan to its representation of values.

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
