//! An HTTP/1.1 listener that knows bytes, connections and limits, and asks a [`Service`] what to answer.
//!
//! It runs hyper on threads of its own, each with a tokio runtime and the connections it was dealt.
//! It knows no tool, no method and no rule: a service judges the head of a request, then its body, and
//! either answers at once or opens an [`Exchange`], by which anybody on any thread answers later: with
//! one reply, or with a stream that stays open.
//!
//! | module | owns |
//! |---|---|
//! | `listener`, `hub`, `options`, `stats` | starting, draining and stopping; the limits; what is counted |
//! | `socket`, `accept` | the listening socket, and connections as they come |
//! | `connection`, `io`, `serve`, `watch` | one connection: its phase, its bytes, its life, its deadlines |
//! | `handler`, `framing`, `body`, `budget` | one request: how long it really is, its body, what bodies may take |
//! | `service`, `answer`, `payload` | what a listener asks, and what it is told |
//! | `call`, `exchange`, `reply` | answers that come later |
//!
//! # Time
//!
//! No request sets a timer. A connection notes when its phase began, and one task looks at all of them
//! a few times a second: heads and bodies that come too slowly, connections that idle, peers that do
//! not read, peers that are gone. Deadlines are kept to within that tick.

#![forbid(unsafe_code)]

mod accept;
mod answer;
mod body;
mod budget;
mod call;
mod connection;
mod exchange;
mod framing;
mod handler;
mod hub;
mod io;
mod listener;
mod options;
mod payload;
mod reply;
mod serve;
mod service;
mod socket;
mod stats;
mod watch;

pub use answer::Answer;
pub use bytes::Bytes;
pub use call::Call;
pub use exchange::{Ended, Events, Exchange};
pub use hyper::header;
pub use hyper::{HeaderMap, StatusCode};
pub use listener::Listener;
pub use options::Options;
pub use payload::Payload;
pub use service::{Fault, RequestHead, Service, Verdict};
pub use stats::Snapshot;
