//! Streamable HTTP.

mod answers;
pub(crate) mod rules;
