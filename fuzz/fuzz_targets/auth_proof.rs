//! Proofs of keys: a proof is accepted exactly if it follows the rules of RFC 9449, which this
//! target implements again. No two texts are the same proof.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::auth::{PROOF_ALGORITHMS, PendingProof, Proof, ProofRefusal, Proven, screen_proof};
use mcp_core::json::Limits;
use mcp_fuzz::auth::{decode, encode, is_private, member, object, seconds, text};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::Tree;

const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_values: 1024,
    max_digits: 20,
};
const PROVEN: Proven<'_> = Proven {
    method: "POST",
    url: "https://mcp.example/mcp",
    token_hash: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
    now: 1_700_000_000,
    window: 300,
};

fuzz_target!(|bytes: &[u8]| within(|| {
    let Some(proof) = assembled(bytes) else {
        return;
    };
    let outcome = screen_proof(&proof, &PROVEN);
    match (&outcome, expected(&proof)) {
        (Ok(pending), Some(id)) => is_sound(&proof, pending, &id),
        (Err(refusal), None) => {
            assert!(refusal.name().starts_with("proof_"), "{refusal:?}");
        }
        (outcome, expected) => panic!("{proof}: {outcome:?}, but {expected:?}"),
    }
}));

/// A complete proof, or its header and claims between NULs with a signature of the length of ES256
/// and EdDSA.
fn assembled(bytes: &[u8]) -> Option<String> {
    let (form, rest) = bytes.split_first()?;
    if form % 2 == 0 {
        return std::str::from_utf8(rest).ok().map(str::to_owned);
    }
    let mut parts = rest.splitn(2, |byte| *byte == 0);
    let [header, claims] = [0; 2].map(|_| encode(parts.next().unwrap_or_default()));
    Some(format!("{header}.{claims}.{}", encode(&[1; 64])))
}

/// The id of an accepted proof.
fn expected(proof: &str) -> Option<String> {
    let segments: Vec<&str> = proof.split('.').collect();
    let [header, claims, signature] = segments[..] else {
        return None;
    };
    if proof.len() > 8 * 1024 {
        return None;
    }
    let [header, claims, signature] = [header, claims, signature].map(decode);
    let (header, signature) = (object(&header?, &LIMITS)?, signature?);
    let claims = object(&claims?, &LIMITS)?;
    let refused = ["jku", "x5u", "crit", "b64", "zip", "cty"];
    let kind = text(&header, "typ").ok()??;
    if !kind.eq_ignore_ascii_case("dpop+jwt")
        || refused.iter().any(|name| member(&header, name).is_some())
    {
        return None;
    }
    let length = signature_bytes(&header, text(&header, "alg").ok()??)?;
    (signature.len() == length).then_some(())?;
    claimed(&claims)
}

fn claimed(claims: &[(String, Tree)]) -> Option<String> {
    let said = |name: &str| text(claims, name).ok().flatten();
    let (id, method, url) = (said("jti")?, said("htm")?, said("htu")?);
    text(claims, "nonce").ok()?;
    let issued = seconds(claims, "iat")??;
    let is_over = seconds(claims, "exp")?.is_some_and(|at| at <= PROVEN.now);
    let is_good = (1..=256).contains(&id.len())
        && method == PROVEN.method
        && is_ours(url)
        && issued.abs_diff(PROVEN.now) <= PROVEN.window
        && !is_over
        && said("ath")? == PROVEN.token_hash;
    is_good.then(|| id.to_owned())
}

/// Compares letter by letter, plain or escaped; only scheme and host ignore case.
fn is_ours(url: &str) -> bool {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((origin, path)) = url.split_at_checked(19) else {
        return false;
    };
    let path = path.strip_prefix(":443").unwrap_or(path);
    let mut letters = path.bytes();
    let mut plain = Vec::new();
    while let Some(letter) = letters.next() {
        plain.push(match letter {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (Some(high), Some(low)) = (digit(letters.next()), digit(letters.next())) else {
                    return false;
                };
                match u8::try_from(high * 16 + low).expect("two digits") {
                    byte if byte.is_ascii_alphanumeric() => byte,
                    _ => return false,
                }
            }
            letter => letter,
        });
    }
    origin.eq_ignore_ascii_case("https://mcp.example") && (plain == b"/mcp" || plain == b"/mcp/")
}

/// The length of the signatures of a header's key. Another target checks the rules for RSA keys.
fn signature_bytes(header: &[(String, Tree)], algorithm: &str) -> Option<usize> {
    let Some(Tree::Object(jwk)) = member(header, "jwk") else {
        return None;
    };
    let usage = text(jwk, "use").ok()?;
    let declared = text(jwk, "alg").ok()?;
    let edwards = |name: &str| ["EdDSA", "Ed25519"].contains(&name);
    let fits = |name: &str| name == algorithm || (edwards(name) && edwards(algorithm));
    let is_usable = !is_private(jwk)
        && usage.is_none_or(|usage| usage == "sig")
        && declared.is_none_or(fits)
        && text(jwk, "kid").ok()?.is_none_or(|kid| kid.len() <= 256)
        && member(jwk, "key_ops").is_none_or(verifies);
    let kind = text(jwk, "kty").ok()??;
    let curve = || text(jwk, "crv").ok().flatten();
    let length = |name: &str| Some(decode(text(jwk, name).ok()??)?.len());
    let size = match (kind, algorithm) {
        ("EC", "ES256") if curve()? == "P-256" => 32,
        ("EC", "ES384") if curve()? == "P-384" => 48,
        ("EC", "ES512") if curve()? == "P-521" => 66,
        ("OKP", name) if edwards(name) && curve()? == "Ed25519" => 32,
        _ => return None,
    };
    let is_whole = length("x")? == size && (kind == "OKP" || length("y")? == size);
    (is_usable && is_whole).then_some(size * 2)
}

fn verifies(operations: &Tree) -> bool {
    match operations {
        Tree::Array(names) => names
            .iter()
            .take(16)
            .any(|name| matches!(name, Tree::Text(name) if name == "verify")),
        _ => false,
    }
}

fn is_sound(proof: &str, pending: &PendingProof, id: &str) {
    assert!(PROOF_ALGORITHMS.contains(&pending.algorithm()));
    let signature = encode(pending.signature());
    assert_eq!(format!("{}.{signature}", pending.signing_input()), proof);
    let thumbprint = pending.thumbprint_text();
    let members = object(thumbprint.as_bytes(), &LIMITS).expect("an object");
    assert!(members.is_sorted_by_key(|(name, _)| name), "{thumbprint}");
    assert_eq!(pending.verified(Proof::of_signature()).id, id);
    for place in [0, proof.len() / 2, proof.len() - 1] {
        let mut other = proof.to_owned();
        other.replace_range(place..=place, "=");
        let refused = screen_proof(&other, &PROVEN).err();
        assert_eq!(refused, Some(ProofRefusal::Malformed), "{other}");
    }
}
