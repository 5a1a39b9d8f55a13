//! The calls of `McpServer.Results`: the rules of result shapes, which are `mcp_core`'s.

pub(crate) mod envelope;
mod presentation;
