//! Converts arguments for handlers: applies a plan of `mcp_core` to terms.

mod cast;
mod plan;
mod prepare;

pub(crate) use plan::{Missing, Structs, TermPlan};
pub(crate) use prepare::{Prepared, prepare};
