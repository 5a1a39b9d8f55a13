//! Decodes chunked bodies as they arrive.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::sync::{Mutex, PoisonError};

use mcp_core::http1::{ChunkError, ChunkLimits, Chunked};
use rustler::{Binary, Encoder, Env, ResourceArc, Term};

use crate::atoms;
use crate::resources::{binary_term, report_work};

/// A partly decoded body. Only one process reads it, so the lock is never contended.
pub(crate) struct ChunkedResource(Mutex<Body>);

struct Body {
    decoder: Chunked,
    decoded: Vec<u8>,
    max_bytes: usize,
}

#[rustler::resource_impl]
impl rustler::Resource for ChunkedResource {}

/// A decoder for a body of at most `max_bytes`.
#[rustler::nif]
fn http_chunked(max_bytes: usize) -> ResourceArc<ChunkedResource> {
    ResourceArc::new(ChunkedResource(Mutex::new(Body {
        decoder: Chunked::new(ChunkLimits::default()),
        decoded: Vec::new(),
        max_bytes,
    })))
}

/// `more`, `{:done, body, used}`, or `{:error, :malformed | :too_large}`.
#[rustler::nif]
fn http_decode_chunks<'a>(
    env: Env<'a>,
    body: ResourceArc<ChunkedResource>,
    bytes: Binary<'a>,
) -> Term<'a> {
    let mut body = body.0.lock().unwrap_or_else(PoisonError::into_inner);
    let Body {
        decoder,
        decoded,
        max_bytes,
    } = &mut *body;
    report_work(env, bytes.len());
    let room = max_bytes.saturating_sub(decoded.len());
    match decoder.decode(bytes.as_slice(), decoded, room) {
        Ok(progress) if progress.done => {
            let whole = binary_term(env, std::mem::take(decoded));
            (atoms::done(), whole, progress.used).encode(env)
        }
        Ok(_) => atoms::more().encode(env),
        Err(ChunkError::TooLarge) => env.error_tuple(atoms::too_large()),
        Err(_) => env.error_tuple(atoms::malformed()),
    }
}
