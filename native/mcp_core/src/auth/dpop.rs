//! Proofs that a client holds the key of its token (RFC 9449), judged by everything but arithmetic.
//!
//! The signature, and what is hashed, is for somebody else to compute: [`screen_proof`] gives a [`PendingProof`] with what
//! is to be verified, and what is unique in a proof comes out of [`Pending::verified`] alone.

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
/// Headers that name another key, or change how a proof is read.
const REFUSED: [&str; 6] = ["jku", "x5u", "crit", "b64", "zip", "cty"];

/// The algorithms of proofs, as a resource server announces them.
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

/// Why a proof is refused, in words that are safe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofRefusal {
    /// There is none.
    #[error("The access token needs a proof in the header DPoP")]
    Missing,
    /// There are two.
    #[error("A request has one proof, in the header DPoP")]
    Repeated,
    /// No three segments of base64url with JSON objects in the first two.
    #[error("The proof is malformed")]
    Malformed,
    /// Another `typ` than `dpop+jwt`.
    #[error("The proof is not of the type dpop+jwt")]
    Type,
    /// None, a symmetric one, or one that is not known.
    #[error("The algorithm of the proof is not allowed")]
    Algorithm,
    /// A header that is not understood.
    #[error("The header of the proof is not allowed")]
    Header,
    /// No public key of the algorithm in `jwk`.
    #[error("The proof brings no public key of its algorithm")]
    Key,
    /// A signature that no such key makes.
    #[error("The signature of the proof is wrong")]
    Signature,
    /// A claim is missing, or of another type.
    #[error("The claims of the proof are not sufficient")]
    Claims,
    /// It was made for another method.
    #[error("The proof is for another method")]
    Method,
    /// It was made for another URL.
    #[error("The proof is for another URL")]
    Target,
    /// It was made long ago, or in the future.
    #[error("The time of the proof is too far from now")]
    Time,
    /// It was made for another token.
    #[error("The proof is for another access token")]
    Token,
}

impl ProofRefusal {
    /// The refusal's name, for metrics.
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

/// What a proof has to be for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Proven<'r> {
    /// The method of the request.
    pub method: &'r str,
    /// The URL that the client sees, never what a request says of its host.
    pub url: &'r str,
    /// The SHA-256 digest of the access token, as base64url.
    pub token_hash: &'r str,
    /// In seconds since 1970.
    pub now: u64,
    /// Seconds that a proof may be older or younger than now.
    pub window: u64,
}

/// A proof that meets every rule and whose signature is still to be verified.
pub type PendingProof = Pending<Unique>;

/// What tells a proof from all others of its key.
#[derive(Clone, PartialEq, Eq)]
pub struct Unique {
    /// `jti`
    pub id: String,
    /// `nonce`: what the server has given.
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
    /// The text whose SHA-256 digest is the key's thumbprint (RFC 7638).
    #[must_use]
    pub fn thumbprint_text(&self) -> String {
        self.key().thumbprint_text()
    }
}

/// The proof of a request: of exactly one header.
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

/// Judges a proof by everything but its signature, the key that the token is bound to, and whether it was used before.
///
/// # Errors
/// Why it is refused.
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

/// A URL as it is compared: as audiences are, without query and fragment, and what need not be escaped is not.
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

/// What stands behind a `%`: the letter that is escaped needlessly, or the escape in upper case.
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
