//! HTTP: its syntax, MCP's rules for it, and the endpoint of stored results.

mod answers;
mod body;
mod next;
mod response;
mod rules;
mod stored_results;

pub(crate) use rules::{AcceptedHeadResource, text};
