//! Binds `mcp_core` to the BEAM: terms in, terms out.
//!
//! No rule of MCP lives here. This crate knows terms, resources, schedulers and descriptors.
//!
//! | module | owns |
//! |---|---|
//! | `arguments` | conversion of checked arguments for handlers |
//! | `terms` | terms into JSON, JSON into terms, terms as JSON for the schema validator |
//! | `json`, `schema`, `protocol` | the calls of `McpServer.JSON`, `McpServer.Schema`, `McpServer.Protocol` |
//! | `lint` | the calls of `McpServer.Lint`, `McpServer.Breaking` and `McpServer.Schema.Relation` |
//! | `results` | texts of presentations, and rows of stored results |
//! | `http` | the calls of `McpServer.Protocol.HTTP` and `McpServer.DualResponse.Rest.Endpoint` |
//! | `auth` | the calls of `McpServer.Protocol.Auth`: access tokens, key sets |
//! | `guard` | the check of tokens, and the verified tokens |
//! | `stdio` | the reader of stdin, which has a thread, and the writer of stdout |
//! | `counters` | counts of the requests that the core answers without Elixir |
//! | `dirty` | permits for dirty CPU schedulers, and the queue for them |
//! | `resources` | native buffers and resources, and the thread that work runs on |
//! | `unload_guard` | the objects that keep the library loaded after a purge |
//! | `pretty` | indented JSON text |
//! | `atoms` | all atoms of the library |

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

/// The load argument is the version of `mcp_server`, and the number of dirty CPU schedulers our
/// calls may occupy. A library of another version is refused: its functions may be missing or
/// differ.
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
