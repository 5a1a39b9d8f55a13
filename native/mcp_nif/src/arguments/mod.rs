//! Arguments as a handler gets them: a plan of `mcp_core`, walked over terms.

mod cast;
mod plan;
mod prepare;

pub(crate) use plan::{Missing, Structs, TermPlan};
pub(crate) use prepare::{Prepared, prepare};
