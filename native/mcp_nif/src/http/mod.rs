//! Streamable HTTP: the text of HTTP/1.1, and the rules of MCP for it.

pub(crate) mod answers;
mod body;
mod next;
mod response;
pub(crate) mod rules;

pub(crate) use rules::AcceptedHeadResource;
