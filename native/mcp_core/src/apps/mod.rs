//! The MCP Apps extension: user interfaces as resources, drawn by the host in a sandbox.
//!
//! The objects themselves ([`AppMeta`](crate::model::AppMeta) and what stands in it) are with the
//! other objects; here is what the extension is called, what a declared policy becomes, and whether
//! the views that tools name exist.

pub mod csp;
pub mod origin;
pub mod views;

/// The extension's key among the capabilities.
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of a UI resource.
pub const MIME_TYPE: &str = "text/html;profile=mcp-app";

/// How the URI of every UI resource begins.
pub const SCHEME: &str = "ui://";
