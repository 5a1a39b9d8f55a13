//! `mcp_core::json`: what is accepted, what is refused and why, and what comes out.

pub(crate) mod corpora;
mod document;
mod limits;
mod numbers;
mod properties;
mod strings;
mod suites;
mod tree;
mod write;
