//! Streamable HTTP.

pub(crate) mod answers;
mod exchange;
mod gate;
mod head;
mod listener;
mod mailbox;
mod rest;
pub(crate) mod rules;
mod served;
