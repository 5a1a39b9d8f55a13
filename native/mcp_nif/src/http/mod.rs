//! Streamable HTTP.

mod answers;
mod exchange;
mod gate;
mod head;
mod listener;
mod mailbox;
pub(crate) mod rules;
mod served;
