//! Access tokens: converts terms for the core's rules. OTP verifies the signatures.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use mcp_core::auth::{
    self, Algorithm, Curve, Grant, InForce, KeySet, KeySetError, Material, PROOF_ALGORITHMS,
    Pending, PendingProof, Policy, PolicyOptions, Proof, Proven, Refusal, Scheme,
};
use mcp_core::http::Head;
use rustler::{Atom, Binary, Encoder, Env, NifResult, ResourceArc, Term};

use crate::atoms;
use crate::http::text;
use crate::options;
use crate::resources::binary_term;

/// The rules for the tokens of one issuer.
pub(crate) struct AuthPolicyResource(pub(crate) Policy);

#[rustler::resource_impl]
impl rustler::Resource for AuthPolicyResource {}

/// The keys of one issuer.
pub(crate) struct KeySetResource {
    keys: KeySet,
    pub(crate) in_force: InForce,
}

impl KeySetResource {
    fn new(keys: KeySet) -> ResourceArc<Self> {
        ResourceArc::new(Self {
            keys,
            in_force: InForce::default(),
        })
    }
}

#[rustler::resource_impl]
impl rustler::Resource for KeySetResource {}

/// A token whose signature is not verified yet.
pub(crate) struct PendingResource(Pending<Grant>);

#[rustler::resource_impl]
impl rustler::Resource for PendingResource {}

/// A proof whose signature is not verified yet.
pub(crate) struct PendingProofResource(PendingProof);

#[rustler::resource_impl]
impl rustler::Resource for PendingProofResource {}

type Headers<'a> = Vec<(Binary<'a>, Binary<'a>)>;

/// Passes the target and the headers of a head to `judge`.
fn with_headers<R>(target: &str, headers: &Headers<'_>, judge: impl FnOnce(&Head<'_>) -> R) -> R {
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .filter_map(|(name, value)| Some((text(name)?, value.as_slice())))
        .collect();
    judge(&Head {
        method: "",
        target,
        authority: None,
        headers: &headers,
    })
}

/// `nil`, `{:ok, token}` or `:malformed`
#[rustler::nif]
fn auth_bearer<'a>(env: Env<'a>, target: Binary<'a>, headers: Headers<'a>) -> Term<'a> {
    let Some(target) = text(&target) else {
        return atoms::malformed().encode(env);
    };
    with_headers(target, &headers, |head| match auth::bearer(head) {
        Ok(None) => atoms::nil().encode(env),
        Ok(Some(token)) => (atoms::ok(), token).encode(env),
        Err(_) => atoms::malformed().encode(env),
    })
}

/// `nil`, `{:bearer, token}`, `{:dpop, token}` or `:malformed`
#[rustler::nif]
fn auth_credentials<'a>(env: Env<'a>, target: Binary<'a>, headers: Headers<'a>) -> Term<'a> {
    let Some(target) = text(&target) else {
        return atoms::malformed().encode(env);
    };
    with_headers(target, &headers, |head| match auth::credentials(head) {
        Ok(None) => atoms::nil().encode(env),
        Ok(Some((Scheme::Bearer, token))) => (atoms::bearer(), token).encode(env),
        Ok(Some((Scheme::Dpop, token))) => (atoms::dpop(), token).encode(env),
        Err(_) => atoms::malformed().encode(env),
    })
}

/// The names of the signature algorithms that proofs may use.
#[rustler::nif]
fn auth_proof_algorithms() -> Vec<&'static str> {
    PROOF_ALGORITHMS.map(Algorithm::name).to_vec()
}

/// `{:ok, pending, algorithm, key, signing_input, signature, thumbprint_text}` or `{:error, reason, text}`
#[rustler::nif]
fn auth_proof<'a>(
    env: Env<'a>,
    headers: Headers<'a>,
    request: (&str, &str, &str),
    times: (u64, u64),
) -> NifResult<Term<'a>> {
    let (method, url, token_hash) = request;
    let (now, window) = times;
    let proven = Proven {
        method,
        url,
        token_hash,
        now,
        window,
    };
    let screened = with_headers("", &headers, |head| {
        auth::proof(head).and_then(|proof| auth::screen_proof(proof, &proven))
    });
    match screened {
        Ok(pending) => {
            let (algorithm, key, input, signature) = to_verify(env, &pending);
            let thumbprint = pending.thumbprint_text();
            let pending = ResourceArc::new(PendingProofResource(pending));
            Ok((
                atoms::ok(),
                pending,
                algorithm,
                key,
                input,
                signature,
                thumbprint,
            )
                .encode(env))
        }
        Err(refusal) => {
            let name = Atom::from_str(env, refusal.name())?;
            Ok((atoms::error(), name, refusal.to_string()).encode(env))
        }
    }
}

/// `{id, nonce, issued_at}` of a proof with a verified signature.
#[rustler::nif]
fn auth_proof_verified(
    pending: ResourceArc<PendingProofResource>,
) -> (String, Option<String>, u64) {
    let unique = pending.0.verified(Proof::of_signature());
    (unique.id, unique.nonce, unique.issued_at)
}

#[rustler::nif]
fn auth_policy<'a>(env: Env<'a>, options: Term<'a>) -> Term<'a> {
    let policy = policy_options(options).and_then(Policy::new);
    match policy {
        Ok(policy) => (atoms::ok(), ResourceArc::new(AuthPolicyResource(policy))).encode(env),
        Err(error) => env.error_tuple(error),
    }
}

fn policy_options(given: Term<'_>) -> Result<PolicyOptions, String> {
    let mut read = PolicyOptions::default();
    options::read!(given, read => [
        issuer, audience, audience_claim, algorithms, leeway, expires, strict_type, subject,
        scope_claims, claims, max_token_bytes, introspected, bound,
    ])?;
    Ok(read)
}

/// `{:ok, keys, [key], skipped}` or `{:error, text}`
#[rustler::nif]
fn auth_keyset<'a>(env: Env<'a>, json: Binary<'a>) -> Term<'a> {
    keyset_term(env, KeySet::published(json.as_slice()))
}

/// As `auth_keyset`, for one shared secret.
#[rustler::nif]
fn auth_secret<'a>(env: Env<'a>, secret: Binary<'a>) -> Term<'a> {
    keyset_term(env, KeySet::secret(secret.as_slice()))
}

fn keyset_term(env: Env<'_>, keys: Result<KeySet, KeySetError>) -> Term<'_> {
    let keys = match keys {
        Ok(keys) => keys,
        Err(error) => return env.error_tuple(error.to_string()),
    };
    let materials = keys
        .materials()
        .map(|key| key_term(env, key))
        .collect::<Vec<_>>();
    let skipped = keys.skipped();
    (atoms::ok(), KeySetResource::new(keys), materials, skipped).encode(env)
}

/// The key set without the keys at the places that are `false` in the list.
#[rustler::nif]
fn auth_retain(keys: ResourceArc<KeySetResource>, sound: Vec<bool>) -> ResourceArc<KeySetResource> {
    let kept: Vec<&Material> = keys
        .keys
        .materials()
        .zip(sound)
        .filter_map(|(key, sound)| sound.then_some(key))
        .collect();
    KeySetResource::new(keys.keys.clone().retain(|key| kept.contains(&key)))
}

/// Invalidates the tokens that these keys verified, because newer keys replaced them.
#[rustler::nif]
fn auth_withdraw(keys: ResourceArc<KeySetResource>) -> Atom {
    keys.in_force.withdraw();
    atoms::ok()
}

/// `{:ok, issuer}`, `:opaque` or `{:error, reason, text}`
#[rustler::nif]
fn auth_issuer<'a>(env: Env<'a>, token: Binary<'a>, max_bytes: usize) -> NifResult<Term<'a>> {
    let Some(token) = text(&token) else {
        return refused(env, Refusal::Malformed);
    };
    match auth::issuer(token, max_bytes) {
        Ok(Some(issuer)) => Ok((atoms::ok(), issuer).encode(env)),
        Ok(None) => Ok(atoms::opaque().encode(env)),
        Err(refusal) => refused(env, refusal),
    }
}

/// `{:ok, pending, algorithm, key, signing_input, signature}` or `{:error, reason, text}`. Without
/// keys, a token that meets all other rules is refused for its key.
#[rustler::nif]
fn auth_screen<'a>(
    env: Env<'a>,
    token: Binary<'a>,
    policy: ResourceArc<AuthPolicyResource>,
    keys: Option<ResourceArc<KeySetResource>>,
    now: u64,
) -> NifResult<Term<'a>> {
    let Some(token) = text(&token) else {
        return refused(env, Refusal::Malformed);
    };
    let none = KeySet::default();
    let keys = keys.as_ref().map_or(&none, |keys| &keys.keys);
    match auth::screen(token, &policy.0, keys, now) {
        Ok(pending) => {
            let (algorithm, key, input, signature) = to_verify(env, &pending);
            let pending = ResourceArc::new(PendingResource(pending));
            Ok((atoms::ok(), pending, algorithm, key, input, signature).encode(env))
        }
        Err(refusal) => refused(env, refusal),
    }
}

/// The grant of a token with a verified signature: issuer, subject, client, scopes, expiry, claims.
#[rustler::nif]
fn auth_verified(env: Env<'_>, pending: ResourceArc<PendingResource>) -> Term<'_> {
    grant_term(env, pending.0.verified(Proof::of_signature()))
}

/// Reads an issuer's introspection response: `{:ok, grant}` or `{:error, reason, text}`.
#[rustler::nif]
fn auth_introspected<'a>(
    env: Env<'a>,
    answer: Binary<'a>,
    policy: ResourceArc<AuthPolicyResource>,
    now: u64,
) -> NifResult<Term<'a>> {
    match auth::introspected(answer.as_slice(), &policy.0, now) {
        Ok(grant) => Ok((atoms::ok(), grant_term(env, grant)).encode(env)),
        Err(refusal) => refused(env, refusal),
    }
}

fn grant_term(env: Env<'_>, grant: Grant) -> Term<'_> {
    let claims = binary_term(env, grant.claims);
    (
        grant.issuer,
        grant.subject,
        grant.client_id,
        grant.scopes,
        grant.expires_at,
        claims,
    )
        .encode(env)
}

/// The algorithm, the key, the signed bytes and the signature.
fn to_verify<'a, T>(
    env: Env<'a>,
    pending: &Pending<T>,
) -> (&'static str, Term<'a>, String, Term<'a>) {
    (
        pending.algorithm().name(),
        key_term(env, pending.key()),
        pending.signing_input().to_owned(),
        binary_term(env, pending.signature().to_vec()),
    )
}

fn refused(env: Env<'_>, refusal: Refusal) -> NifResult<Term<'_>> {
    // The atom cannot come from input: the name is a constant of the core.
    let name = Atom::from_str(env, refusal.name())?;
    Ok((atoms::error(), name, refusal.to_string()).encode(env))
}

fn key_term<'a>(env: Env<'a>, key: &Material) -> Term<'a> {
    let bytes = |bytes: &[u8]| binary_term(env, bytes.to_vec());
    match key {
        Material::Rsa { modulus, exponent } => {
            (atoms::rsa(), bytes(modulus), bytes(exponent)).encode(env)
        }
        Material::Ec { curve, point } => {
            (atoms::ec(), curve_atom(*curve), bytes(point)).encode(env)
        }
        Material::Ed25519 { public } => (atoms::ed25519(), bytes(public)).encode(env),
        Material::Secret(secret) => (atoms::hmac(), bytes(secret)).encode(env),
    }
}

/// OTP's name of a curve.
fn curve_atom(curve: Curve) -> Atom {
    match curve {
        Curve::P256 => atoms::secp256r1(),
        Curve::P384 => atoms::secp384r1(),
        Curve::P521 => atoms::secp521r1(),
    }
}
