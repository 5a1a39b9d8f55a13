//! stdin for the stdio transport, and direct writes to stdout. The BEAM writes output that has to
//! wait for the client: the owner opens a port on the descriptor that [`stdio_open`] returns.

mod batch;
mod descriptors;
mod lines;
mod pollset;
mod reader;
mod writer;

use std::os::fd::AsRawFd;
use std::time::Duration;

use rustler::{Binary, Encoder, Env, LocalPid, ResourceArc, Term};

use crate::atoms;
use reader::Reader;

/// The longest wait on a scheduler.
const MAX_WAIT_US: u64 = 1000;

/// Takes over stdin and stdout: `{:ok, reader, output_descriptor}` or `{:error, reason}`.
#[rustler::nif]
fn stdio_open(env: Env<'_>) -> Term<'_> {
    let opened = descriptors::open().and_then(Reader::new);
    match opened {
        Ok(reader) => {
            let output = reader.descriptors.output().as_raw_fd();
            (atoms::ok(), ResourceArc::new(reader), output).encode(env)
        }
        Err(error) => env.error_tuple(reader::reason(error)),
    }
}

/// Inserts bytes that were read from stdin before it was taken over.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn stdio_prepend<'a>(env: Env<'a>, reader: ResourceArc<Reader>, bytes: Binary<'a>) -> Term<'a> {
    if reader.descriptors.prepend(&bytes) {
        atoms::ok().to_term(env)
    } else {
        env.error_tuple(atoms::already_reading())
    }
}

/// Starts to send lines to `owner`, one batch per credit, until the owner dies.
#[rustler::nif]
fn stdio_read(
    env: Env<'_>,
    reader: ResourceArc<Reader>,
    owner: LocalPid,
    max_line_bytes: usize,
) -> Term<'_> {
    if !reader.claim(max_line_bytes) {
        return env.error_tuple(atoms::already_reading());
    }
    if env.monitor(&reader, &owner).is_none() {
        return env.error_tuple(atoms::noproc());
    }
    let started = std::thread::Builder::new()
        .name("mcp_stdin".to_owned())
        .spawn(move || reader::run(&reader, owner));
    match started {
        Ok(_detached) => atoms::ok().to_term(env),
        Err(_) => env.error_tuple(atoms::system_limit()),
    }
}

/// Waits at most `wait_us` microseconds for an event; returns `none` without one. The thread must
/// have no credit.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn stdio_take(env: Env<'_>, reader: ResourceArc<Reader>, wait_us: u64) -> Term<'_> {
    reader
        .take(env, Duration::from_micros(wait_us.min(MAX_WAIT_US)))
        .unwrap_or_else(|| atoms::none().to_term(env))
}

/// Allows `batches` more messages.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn stdio_credit(reader: ResourceArc<Reader>, batches: usize) -> rustler::Atom {
    reader.add_credits(batches);
    atoms::ok()
}

/// Ends the reader; the next reader gets the bytes that were not sent.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn stdio_close(reader: ResourceArc<Reader>) -> rustler::Atom {
    reader.stop();
    atoms::ok()
}

/// Writes the first bytes of `text` to stdout without waiting. Returns the number of bytes for
/// which the client had room, or `closed` if the client is gone.
#[rustler::nif]
#[expect(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]
fn stdio_write_now<'a>(env: Env<'a>, reader: ResourceArc<Reader>, text: Binary<'a>) -> Term<'a> {
    if !reader.descriptors.predictable_output {
        return 0.encode(env);
    }
    match writer::write_now(reader.descriptors.output(), &text) {
        Ok(written) => written.encode(env),
        Err(_) => atoms::closed().to_term(env),
    }
}
