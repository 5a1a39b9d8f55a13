//! Code shared by the fuzz targets. Each target states properties of all inputs, and panics if one
//! is violated.

pub mod answers;
pub mod auth;
pub mod budget;
pub mod events;
pub mod http;
pub mod http1;
pub mod schema;
pub mod server;
pub mod tree;
pub mod worker;
