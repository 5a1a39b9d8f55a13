//! The listener from the outside: raw sockets against a service that does as its path says.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "a test that fails panics"
)]

mod client;
mod server;

mod connections;
mod deadlines;
mod exchanges;
mod lifecycle;
mod requests;
mod sizes;
mod streams;
