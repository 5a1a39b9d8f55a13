//! Validates proofs that a client holds the key of its token (RFC 9449), without cryptography.
//!
//! The caller computes hashes and verifies the signature. [`screen_proof`] returns a
//! [`PendingProof`] with the data to verify. Only [`Pending::verified`] returns the unique values
//! of a proof.

use super::algorithm::Algorithm;
use super::audience::canonical;
use super::claims::seconds;
use super::jws::{decode, object, segments};
use super::keys::{Material, embedded};
use super::token::Pending;
use crate::http::{Field, Head};
use crate::json::View;

const MAX_PROOF_BYTES: usize = 8 * 1024;
const MAX_TEXT_BYTES: usize = 256;
/// Headers that name another key or change how a proof is read.
const REFUSED: [&str; 6] = ["jku", "x5u", "crit", "b64", "zip", "cty"];

/// The algorithms for proofs that a resource server announces.
pub const PROOF_ALGORITHMS: [Algorithm; 11] = [
    Algorithm::Es256,
    Algorithm::Es384,
    Algorithm::Es512,
    Algorithm::EdDsa,
    Algorithm::Ed25519,
    Algorithm::Ps256,
    Algorithm::Ps384,
    Algorithm::Ps512,
    Algorithm::Rs256,
    Algorithm::Rs384,
    Algorithm::Rs512,
];

/// The reason for refusing a proof; its text is safe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofRefusal {
    /// No proof.
    #[error("The access token needs a proof in the header DPoP")]
    Missing,
    /// Two or more proofs.
    #[error("A request has one proof, in the header DPoP")]
    Repeated,
    /// Not three segments of base64url with JSON objects in the first two.
    #[error("The proof is malformed")]
    Malformed,
    /// A `typ` other than `dpop+jwt`.
    #[error("The proof is not of the type dpop+jwt")]
    Type,
    /// No algorithm, a symmetric one, or an unknown one.
    #[error("The algorithm of the proof is not allowed")]
    Algorithm,
    /// An unsupported header.
    #[error("The header of the proof is not allowed")]
    Header,
    /// `jwk` is not a public key of the algorithm.
    #[error("The proof brings no public key of its algorithm")]
    Key,
    /// The signature is invalid for the key.
    #[error("The signature of the proof is wrong")]
    Signature,
    /// A claim is missing or has another type.
    #[error("The claims of the proof are not sufficient")]
    Claims,
    /// The proof is for another method.
    #[error("The proof is for another method")]
    Method,
    /// The proof is for another URL.
    #[error("The proof is for another URL")]
    Target,
    /// The proof is too old or from the future.
    #[error("The time of the proof is too far from now")]
    Time,
    /// The proof is for another token.
    #[error("The proof is for another access token")]
    Token,
}

impl ProofRefusal {
    /// The refusal's name for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "proof_missing",
            Self::Repeated => "proof_repeated",
            Self::Malformed => "proof_malformed",
            Self::Type => "proof_type",
            Self::Algorithm => "proof_algorithm",
            Self::Header => "proof_header",
            Self::Key => "proof_key",
            Self::Signature => "proof_signature",
            Self::Claims => "proof_claims",
            Self::Method => "proof_method",
            Self::Target => "proof_target",
            Self::Time => "proof_time",
            Self::Token => "proof_token",
        }
    }
}

/// The request that a proof must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven<'r> {
    /// The method of the request.
    pub method: &'r str,
    /// The URL that clients use; it never comes from the request's host.
    pub url: &'r str,
    /// The base64url SHA-256 digest of the access token.
    pub token_hash: &'r str,
    /// The current time in seconds since 1970.
    pub now: u64,
    /// The allowed difference between now and the time of a proof, in seconds.
    pub window: u64,
}

/// A valid proof whose signature is not yet verified.
pub type PendingProof = Pending<Unique>;

/// The values that identify a proof among all proofs of its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Unique {
    /// `jti`
    pub id: String,
    /// `nonce`: a value from the server.
    pub nonce: Option<String>,
    /// `iat`, in seconds since 1970.
    pub issued_at: u64,
}

impl std::fmt::Debug for PendingProof {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.print("PendingProof", formatter)
    }
}

impl std::fmt::Debug for Unique {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Unique")
    }
}

impl PendingProof {
    /// The text to hash with SHA-256 for the key's thumbprint (RFC 7638).
    #[must_use]
    pub fn thumbprint_text(&self) -> String {
        self.key().thumbprint_text()
    }
}

/// The proof of a request, which must have exactly one proof header.
///
/// # Errors
/// [`ProofRefusal::Missing`], [`ProofRefusal::Repeated`] or [`ProofRefusal::Malformed`].
pub fn proof<'h>(head: &Head<'h>) -> Result<&'h str, ProofRefusal> {
    match head.field("dpop") {
        Field::Absent => Err(ProofRefusal::Missing),
        Field::Repeated => Err(ProofRefusal::Repeated),
        Field::One(value) => std::str::from_utf8(value).map_err(|_| ProofRefusal::Malformed),
    }
}

/// Validates a proof except for its signature, the key to which the token is bound, and reuse.
///
/// # Errors
/// The reason for the refusal.
pub fn screen_proof(proof: &str, proven: &Proven<'_>) -> Result<PendingProof, ProofRefusal> {
    if proof.len() > MAX_PROOF_BYTES {
        return Err(ProofRefusal::Malformed);
    }
    let (signing_input, [header, claims, signature]) =
        segments(proof).map_err(|_| ProofRefusal::Malformed)?;
    let [header, claims, signature] = [header, claims, signature].map(decode);
    let malformed = |_| ProofRefusal::Malformed;
    let key = key(&header.map_err(malformed)?)?;
    let unique = judge(&claims.map_err(malformed)?, proven)?;
    let signature = signature.map_err(malformed)?;
    Pending::new(key, signing_input, signature, unique).ok_or(ProofRefusal::Signature)
}

fn key(header: &[u8]) -> Result<(Algorithm, Material), ProofRefusal> {
    let document = object(header).map_err(|_| ProofRefusal::Malformed)?;
    let header = document.root();
    let text = |name| header.get(name).and_then(|value| value.text());
    if !text("typ").is_some_and(|name| name.eq_ignore_ascii_case("dpop+jwt")) {
        return Err(ProofRefusal::Type);
    }
    let algorithm = text("alg")
        .and_then(|name| Algorithm::parse(&name))
        .filter(|algorithm| PROOF_ALGORITHMS.contains(algorithm))
        .ok_or(ProofRefusal::Algorithm)?;
    if REFUSED.iter().any(|name| header.get(name).is_some()) {
        return Err(ProofRefusal::Header);
    }
    let jwk = header.get("jwk").ok_or(ProofRefusal::Key)?;
    let key = embedded(jwk.raw(), algorithm).ok_or(ProofRefusal::Key)?;
    Ok((algorithm, key))
}

fn judge(claims: &[u8], proven: &Proven<'_>) -> Result<Unique, ProofRefusal> {
    let document = object(claims).map_err(|_| ProofRefusal::Malformed)?;
    let claims = document.root();
    let [id, method, url, token] = [
        text(&claims, "jti")?,
        text(&claims, "htm")?,
        text(&claims, "htu")?,
        text(&claims, "ath")?,
    ];
    let issued_at = time(&claims, "iat")?.ok_or(ProofRefusal::Claims)?;
    let nonce = match claims.get("nonce") {
        None => None,
        Some(_) => Some(text(&claims, "nonce")?),
    };
    if id.is_empty() || id.len() > MAX_TEXT_BYTES {
        return Err(ProofRefusal::Claims);
    }
    if method != proven.method {
        return Err(ProofRefusal::Method);
    }
    if target(&url) != target(proven.url) {
        return Err(ProofRefusal::Target);
    }
    let over = time(&claims, "exp")?.is_some_and(|at| at <= proven.now);
    if over || issued_at.abs_diff(proven.now) > proven.window {
        return Err(ProofRefusal::Time);
    }
    if token != proven.token_hash {
        return Err(ProofRefusal::Token);
    }
    Ok(Unique {
        id,
        nonce,
        issued_at,
    })
}

fn text(claims: &View<'_, '_>, name: &str) -> Result<String, ProofRefusal> {
    let claim = claims.get(name).and_then(|claim| claim.text());
    claim
        .map(std::borrow::Cow::into_owned)
        .ok_or(ProofRefusal::Claims)
}

fn time(claims: &View<'_, '_>, name: &str) -> Result<Option<u64>, ProofRefusal> {
    seconds(claims, name).map_err(|_| ProofRefusal::Claims)
}

/// The normalised form of a URL: as for audiences, without query, fragment and needless escapes.
fn target(url: &str) -> String {
    let ends = url.find(['?', '#']).unwrap_or(url.len());
    let url = url.get(..ends).unwrap_or_default();
    let mut parts = canonical(url)
        .split('%')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    for part in parts.iter_mut().skip(1) {
        *part = unescaped(part);
    }
    parts.concat()
}

/// The text after a `%`: an unescaped unreserved character, or the escape in upper case.
fn unescaped(part: &str) -> String {
    let Some((digits, rest)) = part.split_at_checked(2) else {
        return format!("%{part}");
    };
    let is_unreserved = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let is_hexadecimal = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    match u8::from_str_radix(digits, 16)
        .ok()
        .filter(|_| is_hexadecimal)
    {
        Some(byte) if is_unreserved(&byte) => format!("{}{rest}", char::from(byte)),
        Some(_) => format!("%{}{rest}", digits.to_ascii_uppercase()),
        None => format!("%{part}"),
    }
}

#[cfg(test)]
mod tests {
    use super::target;

    #[test]
    fn a_url_is_compared_without_what_makes_no_difference() {
        for (given, expected) in [
            (
                "HTTPS://MCP.example:443/mcp/?a=b#c",
                "https://mcp.example/mcp",
            ),
            (
                "https://mcp.example/%7euser/%2fa%C3%bc",
                "https://mcp.example/~user/%2Fa%C3%BC",
            ),
            ("https://mcp.example/MCP", "https://mcp.example/MCP"),
            ("https://mcp.example/%", "https://mcp.example/%"),
            (
                "https://mcp.example/%+1%zz%ü",
                "https://mcp.example/%+1%zz%ü",
            ),
            ("https://mcp.example#x", "https://mcp.example"),
        ] {
            assert_eq!(target(given), expected);
        }
    }
}
