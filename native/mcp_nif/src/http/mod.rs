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

pub(crate) use exchange::ExchangeResource;
pub(crate) use rules::ScreenedResource;
