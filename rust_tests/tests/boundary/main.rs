//! `mcp_core` through its public door, against golden files, corpora and tables.

mod breaking;
mod catalog;
mod dual;
mod http;
mod http1;
mod json;
mod jsonrpc;
mod lint;
mod model;
mod protocol;
mod purity;
mod results;
mod schema;
mod tasks;
mod template;
