//! Key sets (RFC 7517), and the choice of a key for a token.
//!
//! A key that is unknown, weak or not for signatures is skipped: it must not make the whole set
//! useless.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::algorithm::{Algorithm, Curve};
use super::roca;
use crate::json::{Document, Limits, View, elements};

const LIMITS: Limits = Limits {
    max_bytes: 128 * 1024,
    max_depth: 8,
    max_values: 8 * 1024,
    max_digits: 20,
};
const MAX_KEYS: usize = 100;
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
const MAX_EXPONENT_BYTES: usize = 8;
pub(super) const MAX_KID_BYTES: usize = 256;

/// A key that verifies signatures.
#[derive(Clone, PartialEq, Eq)]
pub enum Material {
    /// Modulus and exponent, without leading zeros.
    Rsa {
        /// `n`
        modulus: Vec<u8>,
        /// `e`
        exponent: Vec<u8>,
    },
    /// An uncompressed point: `04`, x, y. The verifier checks that it lies on the curve.
    Ec {
        /// `crv`
        curve: Curve,
        /// The point.
        point: Vec<u8>,
    },
    /// A public key of Ed25519.
    Ed25519 {
        /// `x`
        public: Vec<u8>,
    },
    /// The secret of an HMAC.
    Secret(Vec<u8>),
}

impl std::fmt::Debug for Material {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Rsa { .. } => "Rsa",
            Self::Ec { .. } => "Ec",
            Self::Ed25519 { .. } => "Ed25519",
            Self::Secret(_) => "Secret",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    kid: Option<String>,
    algorithm: Option<Algorithm>,
    material: Material,
}

/// The keys for verifying tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<Key>,
    skipped: usize,
}

/// The reason for refusing a key set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeySetError {
    /// The text is not JSON, or beyond a limit.
    #[error("the key set is not JSON of at most 128 KiB with a list \"keys\" of at most 100 keys")]
    Malformed,
    /// The secret is too short.
    #[error("the secret must have at least 32 bytes")]
    Short,
}

impl KeySet {
    /// Reads the JWK set of an issuer.
    ///
    /// # Errors
    /// [`KeySetError::Malformed`]; an unusable key is skipped.
    pub fn published(json: &[u8]) -> Result<Self, KeySetError> {
        let document = Document::scan(json, &LIMITS).map_err(|_| KeySetError::Malformed)?;
        let keys = document.root().get("keys").ok_or(KeySetError::Malformed)?;
        if document.duplicate().is_some() || keys.kind() != crate::json::Kind::Array {
            return Err(KeySetError::Malformed);
        }
        let given = elements(keys.raw(), MAX_KEYS.saturating_add(1));
        if given.len() > MAX_KEYS {
            return Err(KeySetError::Malformed);
        }
        let read: Vec<Key> = given.iter().filter_map(|key| Key::read(key)).collect();
        let keys: Vec<Key> = read
            .iter()
            .filter(|key| !read.iter().any(|other| other.contradicts(key)))
            .cloned()
            .collect();
        let skipped = given.len().saturating_sub(keys.len());
        Ok(Self { keys, skipped })
    }

    /// A set with one shared secret.
    ///
    /// # Errors
    /// [`KeySetError::Short`]
    pub fn secret(secret: &[u8]) -> Result<Self, KeySetError> {
        if secret.len() < 32 {
            return Err(KeySetError::Short);
        }
        let key = Key {
            kid: None,
            algorithm: None,
            material: Material::Secret(secret.to_vec()),
        };
        Ok(Self {
            keys: vec![key],
            skipped: 0,
        })
    }

    /// The keys.
    pub fn materials(&self) -> impl Iterator<Item = &Material> {
        self.keys.iter().map(|key| &key.material)
    }

    /// The number of skipped keys.
    #[must_use]
    pub const fn skipped(&self) -> usize {
        self.skipped
    }

    /// The set without the keys that `is_sound` refuses, such as points off their curve.
    #[must_use]
    pub fn retain(mut self, is_sound: impl Fn(&Material) -> bool) -> Self {
        let before = self.keys.len();
        self.keys.retain(|key| is_sound(&key.material));
        let lost = before.saturating_sub(self.keys.len());
        self.skipped = self.skipped.saturating_add(lost);
        self
    }

    /// The key that fits the token's `kid` and algorithm; `None` if none or several different ones
    /// fit. An issuer may publish one key twice, such as for `EdDSA` and `Ed25519`.
    pub(super) fn find(&self, kid: Option<&str>, algorithm: Algorithm) -> Option<&Material> {
        let nameless = self.keys.iter().all(|key| key.kid.is_none());
        let mut fitting = self.keys.iter().filter(|key| {
            let named = nameless || kid.is_none() || key.kid.as_deref() == kid;
            named && key.fits(algorithm)
        });
        let material = &fitting.next()?.material;
        fitting
            .all(|other| other.material == *material)
            .then_some(material)
    }
}

impl Key {
    fn read(json: &[u8]) -> Option<Self> {
        let document = Document::scan(json, &LIMITS).ok()?;
        let jwk = document.root();
        let is_private = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
            .iter()
            .any(|name| jwk.get(name).is_some());
        let kid = optional_text(&jwk, "kid")?;
        let usage = optional_text(&jwk, "use")?;
        let algorithm = optional_text(&jwk, "alg")?
            .map(|name| Algorithm::parse(&name).ok_or(()))
            .transpose()
            .ok()?;
        let material = material(&jwk)?;
        let sound = !is_private
            && usage.is_none_or(|usage| usage == "sig")
            && kid.as_ref().is_none_or(|kid| kid.len() <= MAX_KID_BYTES)
            && jwk
                .get("key_ops")
                .is_none_or(|operations| verifies(&operations))
            && algorithm.is_none_or(|algorithm| algorithm.takes(&material));
        sound.then_some(Self {
            kid,
            algorithm,
            material,
        })
    }

    /// Whether a token could mean either key. Keys of different types may share a `kid` (RFC 7517
    /// section 4.5): the token's algorithm chooses.
    fn contradicts(&self, other: &Self) -> bool {
        self.kid.is_some()
            && self.kid == other.kid
            && self.material != other.material
            && Algorithm::all().any(|algorithm| self.fits(algorithm) && other.fits(algorithm))
    }

    fn fits(&self, algorithm: Algorithm) -> bool {
        algorithm.takes(&self.material)
            && self.algorithm.is_none_or(|declared| declared.is(algorithm))
    }
}

/// The public key in a proof, if it fits the algorithm.
pub(super) fn embedded(jwk: &[u8], algorithm: Algorithm) -> Option<Material> {
    let key = Key::read(jwk).filter(|key| key.fits(algorithm));
    key.map(|key| key.material)
}

impl Material {
    /// The members for a thumbprint, in the order and form of RFC 7638; empty for a secret.
    pub(super) fn thumbprint_text(&self) -> String {
        let text = |bytes: &[u8]| URL_SAFE_NO_PAD.encode(bytes);
        match self {
            Self::Rsa { modulus, exponent } => {
                let [n, e] = [text(modulus), text(exponent)];
                format!(r#"{{"e":"{e}","kty":"RSA","n":"{n}"}}"#)
            }
            Self::Ec { curve, point } => {
                let (x, y) = point
                    .get(1..)
                    .and_then(|point| point.split_at_checked(curve.bytes()))
                    .unwrap_or_default();
                let [x, y] = [text(x), text(y)];
                let name = curve.name();
                format!(r#"{{"crv":"{name}","kty":"EC","x":"{x}","y":"{y}"}}"#)
            }
            Self::Ed25519 { public } => {
                let x = text(public);
                format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#)
            }
            Self::Secret(_) => String::new(),
        }
    }
}

/// `None` if the member is not a string, `Some(None)` if it is absent.
#[allow(clippy::option_option, reason = "absent and wrong are two things")]
fn optional_text(jwk: &View<'_, '_>, name: &str) -> Option<Option<String>> {
    match jwk.get(name) {
        None => Some(None),
        Some(value) => value.text().map(|text| Some(text.into_owned())),
    }
}

fn verifies(operations: &View<'_, '_>) -> bool {
    elements(operations.raw(), 16).contains(&br#""verify""#.as_slice())
}

fn material(jwk: &View<'_, '_>) -> Option<Material> {
    match jwk.get("kty")?.text()?.as_ref() {
        "RSA" => rsa(number(jwk, "n")?, number(jwk, "e")?),
        "EC" => ec(jwk),
        "OKP" => {
            let curve = jwk.get("crv")?.text()?;
            let public = bytes(jwk, "x")?;
            (curve == "Ed25519" && public.len() == 32).then_some(Material::Ed25519 { public })
        }
        _ => None,
    }
}

fn rsa(modulus: Vec<u8>, exponent: Vec<u8>) -> Option<Material> {
    let leading = modulus.first()?.leading_zeros();
    let bits = modulus.len().saturating_mul(8);
    let bits = bits.saturating_sub(usize::try_from(leading).ok()?);
    let is_odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
    let is_one = exponent == [1];
    let sound = RSA_BITS.contains(&bits)
        && is_odd(&modulus)
        && is_odd(&exponent)
        && !is_one
        && exponent.len() <= MAX_EXPONENT_BYTES
        && !roca::is_weak(&modulus);
    sound.then_some(Material::Rsa { modulus, exponent })
}

fn ec(jwk: &View<'_, '_>) -> Option<Material> {
    let curve = Curve::parse(&jwk.get("crv")?.text()?)?;
    let [x, y] = [bytes(jwk, "x")?, bytes(jwk, "y")?];
    let sound = [&x, &y].iter().all(|part| part.len() == curve.bytes());
    sound.then(|| Material::Ec {
        curve,
        point: [vec![4], x, y].concat(),
    })
}

fn bytes(jwk: &View<'_, '_>, name: &str) -> Option<Vec<u8>> {
    let text = jwk.get(name)?.text()?;
    URL_SAFE_NO_PAD.decode(text.as_bytes()).ok()
}

/// The bytes of a number, without leading zeros.
fn number(jwk: &View<'_, '_>, name: &str) -> Option<Vec<u8>> {
    let bytes = bytes(jwk, name)?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    bytes.get(start..).map(<[u8]>::to_vec)
}
