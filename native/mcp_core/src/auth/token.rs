//! A token's way: screened, verified by somebody else, granted.

use super::algorithm::Algorithm;
use super::claims::{Grant, judge};
use super::jws::{Jws, is_jws, object};
use super::keys::{KeySet, Material};
use super::policy::Policy;
use super::refusal::Refusal;
use crate::json::Document;

/// A token, or a proof, that meets every rule and whose signature is still to be verified: then `T` counts.
///
/// Printed, it shows nothing of what was sent: what is printed ends in logs.
pub struct Pending<T> {
    algorithm: Algorithm,
    key: Material,
    signing_input: String,
    signature: Vec<u8>,
    claimed: T,
}

impl std::fmt::Debug for Pending<Grant> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.print("Pending", formatter)
    }
}

/// Says that a signature was verified.
#[derive(Debug)]
pub struct Proof(());

impl Proof {
    /// For who has verified the signature of a [`Pending`] token with its key.
    #[must_use]
    pub const fn of_signature() -> Self {
        Self(())
    }
}

impl<T> Pending<T> {
    /// `None` for a signature that no such key makes.
    pub(super) fn new(
        (algorithm, key): (Algorithm, Material),
        signing_input: &str,
        signature: Vec<u8>,
        claimed: T,
    ) -> Option<Self> {
        (signature.len() == algorithm.signature_bytes(&key)).then(|| Self {
            algorithm,
            key,
            signing_input: signing_input.to_owned(),
            signature,
            claimed,
        })
    }

    pub(super) fn print(
        &self,
        name: &str,
        formatter: &mut std::fmt::Formatter<'_>,
    ) -> std::fmt::Result {
        formatter.debug_tuple(name).field(&self.algorithm).finish()
    }

    /// The algorithm to verify with.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key to verify with. One that a proof brings proves nothing before a token is bound to it.
    #[must_use]
    pub const fn key(&self) -> &Material {
        &self.key
    }

    /// What was signed.
    #[must_use]
    pub fn signing_input(&self) -> &str {
        &self.signing_input
    }

    /// The signature; of an elliptic curve r and s beside each other.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }
}

impl<T: Clone> Pending<T> {
    /// What the token grants, or what must not have been seen before.
    #[must_use]
    pub fn verified(&self, _proof: Proof) -> T {
        self.claimed.clone()
    }
}

/// Judges a token by everything but its signature, which comes last: it costs the most.
///
/// `now` is in seconds since 1970.
///
/// # Errors
/// Why the token is refused. [`Refusal::Key`] stands behind all rules for claims, so a key set is not
/// fetched again for a token that would be refused anyway.
pub fn screen(
    token: &str,
    policy: &Policy,
    keys: &KeySet,
    now: u64,
) -> Result<Pending<Grant>, Refusal> {
    let (jws, grant) = judged(token, policy, now)?;
    let algorithm = jws.header.algorithm;
    let key = keys
        .find(jws.header.kid.as_deref(), algorithm)
        .ok_or(Refusal::Key)?;
    let with = (algorithm, key.clone());
    Pending::new(with, jws.signing_input, jws.signature, grant).ok_or(Refusal::Signature)
}

/// The parts of a token that meets every rule but those of its key and signature.
pub(super) fn judged<'t>(
    token: &'t str,
    policy: &Policy,
    now: u64,
) -> Result<(Jws<'t>, Grant), Refusal> {
    if token.len() > policy.options.max_token_bytes {
        return Err(Refusal::TooLarge);
    }
    let jws = Jws::read(token)?;
    let grant = granted(&jws, &object(&jws.payload)?, policy, now)?;
    Ok((jws, grant))
}

/// What a token grants if its signature is one; `claims` is its payload.
pub(super) fn granted(
    jws: &Jws<'_>,
    claims: &Document<'_>,
    policy: &Policy,
    now: u64,
) -> Result<Grant, Refusal> {
    if !policy.allows(jws.header.algorithm) {
        return Err(Refusal::Algorithm);
    }
    judge(
        &jws.payload,
        claims,
        jws.header.is_access_token,
        policy,
        now,
    )
}

/// The issuer that a token names, to choose policy and keys by: nothing of it is proved.
///
/// `Ok(None)` for a token that is not a signed one.
///
/// # Errors
/// Why the token is refused whatever its issuer.
pub fn issuer(token: &str, max_bytes: usize) -> Result<Option<String>, Refusal> {
    let Some(jws) = signed(token, max_bytes)? else {
        return Ok(None);
    };
    named(&object(&jws.payload)?).map(Some)
}

/// The parts of a token; `None` for one that is not a signed one.
pub(super) fn signed(token: &str, max_bytes: usize) -> Result<Option<Jws<'_>>, Refusal> {
    if token.len() > max_bytes {
        return Err(Refusal::TooLarge);
    }
    if is_jws(token) {
        Jws::read(token).map(Some)
    } else {
        Ok(None)
    }
}

/// The issuer that claims name.
pub(super) fn named(claims: &Document<'_>) -> Result<String, Refusal> {
    let issuer = claims.root().get("iss").and_then(|issuer| issuer.text());
    issuer
        .map(std::borrow::Cow::into_owned)
        .ok_or(Refusal::Issuer)
}
