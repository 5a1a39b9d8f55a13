//! What the fuzz targets have in common. Each target states what must hold of any input, and panics where it does not.

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
