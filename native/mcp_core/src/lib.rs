//! The Model Context Protocol as pure functions.
//!
//! The input is bytes, which are parsed and checked once; the output is bytes. The crate does no
//! I/O, reads no clock, draws no random numbers, starts no threads and keeps no global state: time
//! and randomness are arguments. It does not depend on the BEAM; `mcp_nif` binds it.
//!
//! | module | owns |
//! |---|---|
//! | [`json`] | JSON text under limits: the reader, shallow documents, string escapes |
//! | [`jsonrpc`] | JSON-RPC 2.0 envelopes, ids and error codes |
//! | [`revision`] | the protocol revisions and their two eras |
//! | [`protocol`] | methods, admission of a message, result frames, sealed request state |
//! | [`model`] | the MCP objects: wire shapes and serde structs |
//! | [`arguments`] | conversion of checked arguments: defaults, dates and similar types, keys |
//! | [`schema`] | JSON Schema compiled under limits; problems a model can act on |
//! | [`http`] | Streamable HTTP: heads, responses, server-sent events |
//! | [`http1`] | HTTP/1.1 without I/O: request heads, body lengths, chunks, response heads |
//! | [`catalog`] | tools, prompts, resources: lists encoded once, paging, URI templates |
//! | [`results`] | the shapes of results: envelopes, presentations, the endpoints of stored results |
//! | [`auth`] | access tokens: how clients send them, required claims, signing keys |
//! | [`apps`] | the MCP Apps extension: Content-Security-Policy |

#![forbid(unsafe_code)]

pub mod apps;
pub mod arguments;
pub mod auth;
pub mod catalog;
pub mod http;
pub mod http1;
pub mod json;
pub mod jsonrpc;
pub mod model;
pub mod protocol;
pub mod results;
pub mod revision;
pub mod schema;
