//! Checks the tokens of requests while they are read, with a table of the verified tokens.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use mcp_core::auth::{Guard, TokenDigest, Verdict, Verified, VerifiedTokens};
use mcp_core::http::Head;
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use crate::atoms;
use crate::auth::{AuthPolicyResource, KeySetResource};
use crate::options;
use crate::resources::binary_term;

/// A mount's rules for tokens, and its verified tokens.
pub(crate) struct GuardResource {
    guard: Guard,
    /// The scopes of the endpoint, for challenges.
    pub(crate) scopes: Vec<String>,
    known: RwLock<VerifiedTokens>,
}

#[rustler::resource_impl]
impl rustler::Resource for GuardResource {}

impl GuardResource {
    /// Judges the token of a head; `now` is in seconds since 1970.
    pub(crate) fn judge(&self, head: &Head<'_>, now: u64) -> Verdict {
        self.guard
            .judge(head, now, |digest| self.read().find(digest, now))
    }

    fn read(&self) -> RwLockReadGuard<'_, VerifiedTokens> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, VerifiedTokens> {
        self.known.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The options of a guard.
#[derive(Default)]
struct Given<'a> {
    policies: Vec<ResourceArc<AuthPolicyResource>>,
    fixed: Vec<Binary<'a>>,
    others: bool,
    tenants: bool,
    anonymous: bool,
    max_token_bytes: usize,
    scopes: Vec<String>,
    most: usize,
}

#[rustler::nif]
fn auth_guard(options: Term<'_>) -> NifResult<ResourceArc<GuardResource>> {
    let mut read = Given::default();
    options::read!(options, read => [
        policies, fixed, others, tenants, anonymous, max_token_bytes, scopes, most,
    ])
    .map_err(|_| Error::BadArg)?;
    let guard = Guard {
        policies: read
            .policies
            .iter()
            .map(|policy| policy.0.clone())
            .collect(),
        fixed: read.fixed.iter().map(digest).collect::<NifResult<_>>()?,
        others: read.others,
        tenants: read.tenants,
        anonymous: read.anonymous,
        max_token_bytes: read.max_token_bytes,
    };
    Ok(ResourceArc::new(GuardResource {
        guard,
        scopes: read.scopes,
        known: RwLock::new(VerifiedTokens::new(read.most)),
    }))
}

fn digest(given: &Binary<'_>) -> NifResult<TokenDigest> {
    TokenDigest::try_from(given.as_slice()).map_err(|_| Error::BadArg)
}

/// For a verified token: whether its scopes are enough. For an unknown token: `nil`.
#[rustler::nif]
fn auth_known<'a>(
    env: Env<'a>,
    guard: ResourceArc<GuardResource>,
    token: Binary<'a>,
    now: u64,
) -> NifResult<Term<'a>> {
    let digest = digest(&token)?;
    Ok(guard.read().find(&digest, now).encode(env))
}

/// Adds a verified token; returns the digests of the tokens that it evicted.
#[rustler::nif]
fn auth_remember<'a>(
    env: Env<'a>,
    guard: ResourceArc<GuardResource>,
    token: Binary<'a>,
    (until, sufficient, keys): (u64, bool, Option<ResourceArc<KeySetResource>>),
    holder: u64,
) -> NifResult<Vec<Term<'a>>> {
    let verified = Verified {
        until,
        sufficient,
        keys: keys.map(|keys| keys.in_force.clone()),
        holder,
    };
    let pushed_out = guard.write().insert(digest(&token)?, verified);
    Ok(pushed_out
        .map(|digest| binary_term(env, digest.to_vec()))
        .into_iter()
        .collect())
}

#[rustler::nif]
fn auth_forget(guard: ResourceArc<GuardResource>) -> Atom {
    guard.write().clear();
    atoms::ok()
}
