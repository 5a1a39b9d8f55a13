//! The steps of a token: screened here, verified by the caller, granted here.

use super::algorithm::Algorithm;
use super::claims::{Grant, judge};
use super::jws::{Jws, is_jws, object};
use super::keys::{KeySet, Material};
use super::policy::Policy;
use super::refusal::Refusal;
use crate::json::Document;

/// A valid token or proof whose signature is not yet verified; `T` counts only after that.
///
/// `Debug` shows no received data, because such output ends in logs.
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

/// Evidence that a signature was verified.
#[derive(Debug)]
pub struct Proof(());

impl Proof {
    /// For a caller that has verified the signature of a [`Pending`] token with its key.
    #[must_use]
    pub const fn of_signature() -> Self {
        Self(())
    }
}

impl<T> Pending<T> {
    /// `None` if the signature's length does not fit the key.
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

    /// The algorithm for the verification.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The key for the verification. A key in a proof proves nothing until it matches a token's
    /// binding.
    #[must_use]
    pub const fn key(&self) -> &Material {
        &self.key
    }

    /// The signed text.
    #[must_use]
    pub fn signing_input(&self) -> &str {
        &self.signing_input
    }

    /// The signature; for an elliptic curve, r followed by s.
    #[must_use]
    pub fn signature(&self) -> &[u8] {
        &self.signature
    }
}

impl<T: Clone> Pending<T> {
    /// The grant of a token, or the unique values of a proof.
    #[must_use]
    pub fn verified(&self, _proof: Proof) -> T {
        self.claimed.clone()
    }
}

/// Validates a token except for its signature, the most expensive check.
///
/// `now` is in seconds since 1970.
///
/// # Errors
/// The reason for the refusal. [`Refusal::Key`] comes after all rules for claims, so a key set is
/// not fetched again for a token that is invalid anyway.
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

/// The parts of a token that meets all rules except those for its key and signature.
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

/// The grant of a token if its signature is valid; `claims` is its payload.
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

/// The issuer that a token names, for the choice of policy and keys. It is unverified.
///
/// `Ok(None)` if the token is not a signed one.
///
/// # Errors
/// The reason for refusing the token, whatever its issuer.
pub fn issuer(token: &str, max_bytes: usize) -> Result<Option<String>, Refusal> {
    let Some(jws) = signed(token, max_bytes)? else {
        return Ok(None);
    };
    named(&object(&jws.payload)?).map(Some)
}

/// The parts of a token; `None` if it is not a signed one.
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

/// The issuer in the claims.
pub(super) fn named(claims: &Document<'_>) -> Result<String, Refusal> {
    let issuer = claims.root().get("iss").and_then(|issuer| issuer.text());
    issuer
        .map(std::borrow::Cow::into_owned)
        .ok_or(Refusal::Issuer)
}
