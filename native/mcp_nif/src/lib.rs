//! Binds `mcp_core` to the BEAM: terms in, terms out.
//!
//! No rule of MCP lives here. This crate knows terms, resources, schedulers and descriptors.
//!
//! | module | owns |
//! |---|---|
//! | `terms` | terms into JSON, JSON into terms, terms as JSON for the schema validator |
//! | `json`, `schema`, `protocol` | the calls of `McpServer.JSON`, `McpServer.Schema`, `McpServer.Protocol` |
//! | `lint` | the calls of `McpServer.Lint`, `McpServer.Breaking` and `McpServer.Schema.Relation` |
//! | `results` | the calls of `McpServer.Results` |
//! | `http` | the calls of `McpServer.Protocol.HTTP`; the listener, its exchanges and their messages |
//! | `results` | the calls of `McpServer.Results` |
//! | `stdio` | the client's stdin, read on a thread of our own |
//! | `resources` | what Elixir holds references to; which thread or scheduler work runs on |
//! | `pretty` | JSON text spread over lines |
//! | `atoms` | every atom that is ever made |

mod atoms;
mod http;
mod json;
mod lint;
mod options;
mod pretty;
mod protocol;
mod resources;
mod results;
mod schema;
mod stdio;
mod terms;

use rustler::{Env, Term};

/// The load argument is the number of dirty CPU schedulers our calls may occupy.
fn load(env: Env<'_>, dirty_limit: Term<'_>) -> bool {
    if let Ok(limit) = dirty_limit.decode() {
        resources::limit_dirty_calls(limit);
    }
    terms::prepare(env).is_ok()
}

rustler::init!("Elixir.McpServer.Native", load = load);
