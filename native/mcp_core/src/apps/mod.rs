//! The MCP Apps extension: user interfaces as resources, which the host displays in a sandbox.
//!
//! [`AppMeta`](crate::model::AppMeta) and its members are in the `model` module. This module has
//! the extension's names, the policy of a declaration, and the check that the views of tools exist.

pub mod csp;
pub mod origin;
pub mod views;

/// The extension's key among the capabilities.
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of a UI resource.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// The prefix of the URI of every UI resource.
pub const SCHEME: &str = "ui://";
