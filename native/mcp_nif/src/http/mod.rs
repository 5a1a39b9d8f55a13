//! Streamable HTTP.

mod answers;
mod exchange;
mod gate;
mod listener;
mod mailbox;
pub(crate) mod rules;
