//! Counts the requests that the core answered without Elixir since the library was loaded.

use std::sync::atomic::{AtomicU64, Ordering};

use mcp_core::protocol::Answered;
use rustler::{Atom, Env, NifResult, Term};

use crate::atoms;

static COUNTS: [AtomicU64; Answered::ALL.len()] =
    [const { AtomicU64::new(0) }; Answered::ALL.len()];

/// Counts one answer.
pub(crate) fn count(answered: Answered) {
    if let Some(count) = COUNTS.get(answered as usize) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// Counts the answer to a request head if it is a refusal.
pub(crate) fn count_http(status: u16) {
    if status >= 400 {
        count(Answered::Http);
    }
}

/// The counts by kind.
#[rustler::nif]
fn answered_alone(env: Env<'_>) -> NifResult<Term<'_>> {
    let counts: Vec<(Atom, u64)> = Answered::ALL
        .iter()
        .zip(&COUNTS)
        .map(|(answered, count)| (name(*answered), count.load(Ordering::Relaxed)))
        .collect();
    Term::map_from_pairs(env, &counts)
}

fn name(answered: Answered) -> Atom {
    match answered {
        Answered::Ping => atoms::ping(),
        Answered::Discover => atoms::discover(),
        Answered::List => atoms::list(),
        Answered::Initialize => atoms::initialize(),
        Answered::ParseError => atoms::parse_error(),
        Answered::InvalidRequest => atoms::invalid_request(),
        Answered::MethodNotFound => atoms::method_not_found(),
        Answered::InvalidParams => atoms::invalid_params(),
        Answered::OtherError => atoms::other_error(),
        Answered::Http => atoms::http(),
    }
}
