//! The calls of `McpServer.Results`: the rules of result shapes, which are `mcp_core`'s.

pub(crate) mod dual;
pub(crate) mod envelope;
mod presentation;
mod rows;
