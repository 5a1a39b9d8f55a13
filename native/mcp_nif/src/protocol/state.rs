//! Sealed request state.

use mcp_core::protocol::{Binding, NONCE_BYTES, SECRET_BYTES, StateError, open, seal};
use rustler::{Binary, Encoder, Env, Error, NifResult, Term};

use crate::atoms;
use crate::resources::binary_term;

/// Principal, router and mount, method, name, digest of the arguments.
type BindingTerm<'a> = (Binary<'a>, (&'a str, &'a str), &'a str, &'a str, Binary<'a>);

fn binding<'b>(term: &'b BindingTerm<'_>) -> Binding<'b> {
    let (principal, (router, mount), method, name, arguments) = term;
    Binding {
        principal: principal.as_slice(),
        router,
        mount,
        method,
        name,
        arguments: arguments.as_slice(),
    }
}

fn fixed<const N: usize>(binary: Binary<'_>) -> NifResult<[u8; N]> {
    binary.as_slice().try_into().map_err(|_| Error::BadArg)
}

#[rustler::nif]
fn seal_state<'a>(
    secret: Binary<'a>,
    nonce: Binary<'a>,
    bound_to: BindingTerm<'a>,
    expires_at: u64,
    state: Binary<'a>,
) -> NifResult<String> {
    let secret = fixed::<SECRET_BYTES>(secret)?;
    let nonce = fixed::<NONCE_BYTES>(nonce)?;
    seal(
        &secret,
        &nonce,
        &binding(&bound_to),
        expires_at,
        state.as_slice(),
    )
    .map_err(|_| Error::BadArg)
}

#[rustler::nif]
fn open_state<'a>(
    env: Env<'a>,
    secret: Binary<'a>,
    bound_to: BindingTerm<'a>,
    now: u64,
    sealed: &str,
) -> NifResult<Term<'a>> {
    let secret = fixed::<SECRET_BYTES>(secret)?;
    Ok(match open(&secret, &binding(&bound_to), now, sealed) {
        Ok(state) => (atoms::ok(), binary_term(env, state)).encode(env),
        Err(StateError::Expired) => (atoms::error(), atoms::expired()).encode(env),
        Err(_) => (atoms::error(), atoms::invalid()).encode(env),
    })
}
