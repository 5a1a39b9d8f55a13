//! Keeps the library and its resource types in memory when the module is purged.
//!
//! The VM frees a resource type when its module is purged and no object of it lives. With the last
//! type that has a destructor it unmaps the library. A reader's thread and calls on dirty
//! schedulers continue after a purge: they run code of the library and create objects. So one
//! object of each type that they create is never freed.

use mcp_core::catalog::{Catalog, CatalogLimits};
use mcp_core::http::{Head, Policy, PolicyOptions, check_head};
use mcp_core::schema::{SchemaOptions, compile_with};

use crate::dirty;
use crate::http::AcceptedHeadResource;
use crate::protocol::{CatalogResource, PageResource};
use crate::resources::{Output, hold};
use crate::schema::SchemaResource;

/// The smallest valid definition.
const DEFINITION: &[u8] = br#"{"server":{"info":{"name":"","version":""}}}"#;

/// Keeps the library in memory. It is called when the library is loaded. `None` if an object cannot
/// be created.
pub(crate) fn hold_library() -> Option<()> {
    dirty::hold_types();
    hold(Output(Vec::new()));
    hold(SchemaResource(
        compile_with(b"true", &SchemaOptions::default()).ok()?,
    ));
    hold(CatalogResource::without_tools(
        Catalog::build(DEFINITION, &CatalogLimits::default()).ok()?,
    ));
    hold(PageResource::default());
    hold(accepted_head()?);
    Some(())
}

fn accepted_head() -> Option<AcceptedHeadResource> {
    let policy = Policy::new(PolicyOptions::default()).ok()?;
    let head = Head {
        method: "POST",
        target: "/mcp",
        authority: Some("localhost"),
        headers: &[
            ("content-type", b"application/json"),
            ("accept", b"application/json, text/event-stream"),
        ],
    };
    check_head(&policy, &head).ok().map(AcceptedHeadResource)
}
