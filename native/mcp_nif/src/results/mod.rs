//! The calls of `McpServer.Results`.

pub(crate) mod dual;
mod rows;
