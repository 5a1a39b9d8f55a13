//! Key sets: a key is usable exactly if it follows the rules, which this target implements again.
//! Each key equals the published key, and a token finds a key only if no other key fits.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcp_core::auth::{Curve, KeySet, Material, Policy, PolicyOptions, Refusal, screen};
use mcp_core::json::Limits;
use mcp_fuzz::auth::{decode, encode, is_private, member, object, text};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::Tree;

const NOW: u64 = 1_700_000_000;
const LIMITS: Limits = Limits {
    max_bytes: 128 * 1024,
    max_depth: 8,
    max_values: 8 * 1024,
    max_digits: 20,
};
const ALGORITHMS: [(&str, &str); 11] = [
    ("RS256", "RSA"),
    ("RS384", "RSA"),
    ("RS512", "RSA"),
    ("PS256", "RSA"),
    ("PS384", "RSA"),
    ("PS512", "RSA"),
    ("ES256", "P-256"),
    ("ES384", "P-384"),
    ("ES512", "P-521"),
    ("EdDSA", "Ed25519"),
    ("Ed25519", "Ed25519"),
];

static POLICY: LazyLock<Policy> = LazyLock::new(|| {
    Policy::new(PolicyOptions {
        issuer: "i".to_owned(),
        audience: vec!["a".to_owned()],
        ..PolicyOptions::default()
    })
    .expect("a policy")
});

/// A usable key.
#[derive(Clone, PartialEq)]
struct Key {
    kid: Option<String>,
    algorithm: Option<String>,
    kind: &'static str,
    /// Its numbers, concatenated.
    bytes: Vec<u8>,
    signature_bytes: usize,
}

fuzz_target!(|bytes: &[u8]| within(|| {
    let given = given(bytes);
    let read = KeySet::published(bytes);
    let (Some(given), Ok(keys)) = (&given, &read) else {
        // Many unknown members of the root may hide the list.
        let is_crowded = bytes.len() > 4_096 && given.is_some();
        assert!(is_crowded || (given.is_none() && read.is_err()), "{read:?}");
        return;
    };
    let usable: Vec<Option<Key>> = given.iter().map(usable).collect();
    let expected: Vec<&Key> = usable
        .iter()
        .flatten()
        .filter(|key| !is_doubtful(key, &usable))
        .collect();
    let found: Vec<&Material> = keys.materials().collect();
    assert_eq!(found.len(), expected.len());
    assert_eq!(keys.skipped(), given.len() - expected.len());
    for (material, key) in found.iter().zip(&expected) {
        assert_eq!(parts(material), (key.kind, key.bytes.clone()));
    }
    prints_no_key(keys, &found);
    tokens(keys, &expected);
    retained(keys);
}));

/// The elements of `keys`.
fn given(bytes: &[u8]) -> Option<Vec<Tree>> {
    let members = object(bytes, &LIMITS)?;
    match member(&members, "keys")? {
        Tree::Array(keys) if keys.len() <= 100 => Some(keys.clone()),
        _ => None,
    }
}

fn usable(key: &Tree) -> Option<Key> {
    let Tree::Object(jwk) = key else {
        return None;
    };
    let kid = text(jwk, "kid").ok()?;
    let purpose = text(jwk, "use").ok()?;
    let operations = match member(jwk, "key_ops") {
        None => true,
        Some(Tree::Array(names)) => names
            .iter()
            .take(16)
            .any(|name| *name == Tree::Text("verify".to_owned())),
        Some(_) => false,
    };
    let is_sound = !is_private(jwk)
        && operations
        && purpose.is_none_or(|purpose| purpose == "sig")
        && kid.is_none_or(|kid| kid.len() <= 256);
    let (kind, bytes, signature_bytes) = is_sound.then(|| numbers(jwk)).flatten()?;
    let algorithm = text(jwk, "alg").ok()?;
    let fits = |name: &str| ALGORITHMS.contains(&(name, kind));
    algorithm.is_none_or(fits).then(|| Key {
        kid: kid.map(str::to_owned),
        algorithm: algorithm.map(str::to_owned),
        kind,
        bytes,
        signature_bytes,
    })
}

fn numbers(jwk: &[(String, Tree)]) -> Option<(&'static str, Vec<u8>, usize)> {
    let bytes = |name: &str| decode(text(jwk, name).ok()??);
    match text(jwk, "kty").ok()?? {
        "RSA" => {
            let strip = |bytes: Vec<u8>| {
                bytes
                    .into_iter()
                    .skip_while(|byte| *byte == 0)
                    .collect::<Vec<_>>()
            };
            let [n, e] = [strip(bytes("n")?), strip(bytes("e")?)];
            let bits = n.iter().map(|_| 8).sum::<u32>() - n.first()?.leading_zeros();
            let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte % 2 == 1);
            let is_sound = (2048..=8192).contains(&bits)
                && is_odd(&n)
                && is_odd(&e)
                && e != [1]
                && e.len() <= 8
                && !is_roca(&n);
            is_sound.then(|| ("RSA", [n.as_slice(), &e].concat(), n.len()))
        }
        "EC" => {
            let name = text(jwk, "crv").ok()??;
            let (kind, length) = [("P-256", 32), ("P-384", 48), ("P-521", 66)]
                .into_iter()
                .find(|(known, _)| *known == name)?;
            let [x, y] = [bytes("x")?, bytes("y")?];
            (x.len() == length && y.len() == length)
                .then(|| (kind, [vec![4], x, y].concat(), 2 * length))
        }
        "OKP" => {
            let public = bytes("x")?;
            (text(jwk, "crv").ok()?? == "Ed25519" && public.len() == 32)
                .then_some(("Ed25519", public, 64))
        }
        _ => None,
    }
}

/// Tries the discrete logarithms one by one.
fn is_roca(n: &[u8]) -> bool {
    [
        11_u64, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157,
    ]
    .into_iter()
    .all(|prime| {
        let rest = n
            .iter()
            .fold(0, |rest, byte| (rest * 256 + u64::from(*byte)) % prime);
        (0..prime).any(|exponent| (0..exponent).fold(1, |power, _| power * 65_537 % prime) == rest)
    })
}

/// Whether another key has the same name, and a token could mean either.
fn is_doubtful(key: &Key, all: &[Option<Key>]) -> bool {
    let could_be_both = |other: &Key| {
        ALGORITHMS
            .iter()
            .any(|(algorithm, kind)| fits(key, algorithm, kind) && fits(other, algorithm, kind))
    };
    key.kid.is_some()
        && all
            .iter()
            .flatten()
            .any(|other| other.kid == key.kid && other.bytes != key.bytes && could_be_both(other))
}

/// Whether a key is for an algorithm, which is for keys of a kind.
fn fits(key: &Key, algorithm: &str, kind: &str) -> bool {
    let edwards = |name: &str| matches!(name, "EdDSA" | "Ed25519");
    let is_named = |name: &str| name == algorithm || (edwards(name) && edwards(algorithm));
    key.kind == kind && key.algorithm.as_deref().is_none_or(is_named)
}

fn parts(material: &Material) -> (&'static str, Vec<u8>) {
    match material {
        Material::Rsa { modulus, exponent } => {
            ("RSA", [modulus.clone(), exponent.clone()].concat())
        }
        Material::Ec { curve, point } => {
            let name = match curve {
                Curve::P256 => "P-256",
                Curve::P384 => "P-384",
                Curve::P521 => "P-521",
            };
            (name, point.clone())
        }
        Material::Ed25519 { public } => ("Ed25519", public.clone()),
        Material::Secret(_) => panic!("a published secret"),
    }
}

fn prints_no_key(keys: &KeySet, materials: &[&Material]) {
    let printed = format!("{keys:?}");
    for material in materials {
        let (_, bytes) = parts(material);
        assert!(!printed.contains(&format!("{bytes:?}")));
        assert_eq!(
            format!("{material:?}").find(|letter: char| letter.is_ascii_whitespace()),
            None
        );
    }
}

/// Checks a token for each name and algorithm: it passes if all fitting keys are one key.
fn tokens(keys: &KeySet, expected: &[&Key]) {
    let is_named = expected.iter().any(|key| key.kid.is_some());
    let mut names: Vec<Option<String>> =
        expected.iter().take(4).map(|key| key.kid.clone()).collect();
    names.extend([None, Some("no such key".to_owned())]);
    for kid in names {
        for (algorithm, kind) in ALGORITHMS {
            let fitting: Vec<_> = expected
                .iter()
                .filter(|key| !is_named || kid.is_none() || key.kid == kid)
                .filter(|key| fits(key, algorithm, kind))
                .collect();
            let length = fitting.first().map_or(64, |key| key.signature_bytes);
            let token = token(kid.as_deref(), algorithm, length);
            match (screen(&token, &POLICY, keys, NOW), &fitting[..]) {
                // A key may be published twice.
                (Ok(pending), [key, others @ ..])
                    if others.iter().all(|other| other.bytes == key.bytes) =>
                {
                    assert_eq!(parts(pending.key()), (key.kind, key.bytes.clone()))
                }
                (Err(Refusal::Key), []) => {}
                (Err(Refusal::Key), [key, others @ ..])
                    if others.iter().any(|other| other.bytes != key.bytes) => {}
                (outcome, _) => panic!("{algorithm}: {outcome:?} of {} keys", fitting.len()),
            }
        }
    }
}

/// A token that only its signature can make invalid.
fn token(kid: Option<&str>, algorithm: &str, signature_bytes: usize) -> String {
    let mut header = format!(r#"{{"alg":"{algorithm}""#).into_bytes();
    if let Some(kid) = kid {
        header.extend(br#","kid":"#);
        header.extend(Tree::Text(kid.to_owned()).to_json());
    }
    header.push(b'}');
    let claims = format!(r#"{{"iss":"i","aud":"a","sub":"s","exp":{NOW}}}"#);
    let signature = vec![1; signature_bytes];
    format!(
        "{}.{}.{}",
        encode(&header),
        encode(claims.as_bytes()),
        encode(&signature)
    )
}

fn retained(keys: &KeySet) {
    let count = keys.materials().count();
    let is_edwards = |material: &Material| matches!(material, Material::Ed25519 { .. });
    let retained = keys.clone().retain(is_edwards);
    assert!(retained.materials().all(is_edwards));
    assert_eq!(
        retained.materials().count(),
        keys.materials().filter(|key| is_edwards(key)).count()
    );
    assert_eq!(
        retained.skipped(),
        keys.skipped() + count - retained.materials().count()
    );
}
