//! Binds `mcp_core` to the BEAM: terms in, terms out.
//!
//! No rule of MCP lives here. This crate knows terms, resources, schedulers and descriptors.
//!
//! | module | owns |
//! |---|---|
//! | `arguments` | checked arguments as a handler gets them |
//! | `terms` | terms into JSON, JSON into terms, terms as JSON for the schema validator |
//! | `json`, `schema`, `protocol` | the calls of `McpServer.JSON`, `McpServer.Schema`, `McpServer.Protocol` |
//! | `lint` | the calls of `McpServer.Lint`, `McpServer.Breaking` and `McpServer.Schema.Relation` |
//! | `results` | texts of presentations, and rows of stored results |
//! | `http` | the calls of `McpServer.Protocol.HTTP` and `McpServer.DualResponse.Rest.Endpoint` |
//! | `auth` | the calls of `McpServer.Protocol.Auth`: access tokens, key sets |
//! | `guard` | who is let in by a token, and the tokens that were verified |
//! | `stdio` | the client's stdin, read on a thread of our own |
//! | `counters` | how often the core answers alone |
//! | `dirty` | who may work on a dirty CPU scheduler, and who is next |
//! | `resources` | what Elixir holds references to; which thread work runs on |
//! | `unload_guard` | what stays in memory when the module is purged |
//! | `pretty` | JSON text spread over lines |
//! | `atoms` | every atom that is ever made |

mod arguments;
mod atoms;
mod auth;
mod counters;
mod dirty;
mod guard;
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
mod unload_guard;

use rustler::{Env, Term};

/// The load argument is the version of `mcp_server` that asks, and the number of dirty CPU schedulers our calls may
/// occupy. A library of another version may lack functions, or mean something else by them: it is refused.
fn load(env: Env<'_>, argument: Term<'_>) -> bool {
    let Ok((version, dirty_limit)) = argument.decode::<(&str, usize)>() else {
        return false;
    };
    dirty::limit_calls(dirty_limit);
    version == env!("CARGO_PKG_VERSION")
        && terms::prepare(env).is_ok()
        && unload_guard::hold_library().is_some()
}

rustler::init!("Elixir.McpServer.Native", load = load);
