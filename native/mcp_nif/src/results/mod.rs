//! The shapes of results: what is bulk work of presentations and of stored results.

pub(crate) mod dual;
mod presentation;
mod rows;
