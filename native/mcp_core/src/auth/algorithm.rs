//! Signature algorithms (RFC 7518, 8037, 9864), and the keys for each.

use super::keys::Material;

/// A curve of an elliptic-curve key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Curve {
    /// `P-256`
    P256,
    /// `P-384`
    P384,
    /// `P-521`
    P521,
}

impl Curve {
    pub(super) fn parse(name: &str) -> Option<Self> {
        [Self::P256, Self::P384, Self::P521]
            .into_iter()
            .find(|curve| curve.name() == name)
    }

    /// The name in a JWK.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::P384 => "P-384",
            Self::P521 => "P-521",
        }
    }

    /// The length of a coordinate in bytes.
    pub(super) const fn bytes(self) -> usize {
        match self {
            Self::P256 => 32,
            Self::P384 => 48,
            Self::P521 => 66,
        }
    }
}

/// A signature algorithm; `none` is not supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "the names are those of RFC 7518, 8037 and 9864"
)]
pub enum Algorithm {
    Rs256,
    Rs384,
    Rs512,
    Ps256,
    Ps384,
    Ps512,
    Es256,
    Es384,
    Es512,
    EdDsa,
    Ed25519,
    Hs256,
    Hs384,
    Hs512,
}

const NAMES: [(&str, Algorithm); 14] = [
    ("RS256", Algorithm::Rs256),
    ("RS384", Algorithm::Rs384),
    ("RS512", Algorithm::Rs512),
    ("PS256", Algorithm::Ps256),
    ("PS384", Algorithm::Ps384),
    ("PS512", Algorithm::Ps512),
    ("ES256", Algorithm::Es256),
    ("ES384", Algorithm::Es384),
    ("ES512", Algorithm::Es512),
    ("EdDSA", Algorithm::EdDsa),
    ("Ed25519", Algorithm::Ed25519),
    ("HS256", Algorithm::Hs256),
    ("HS384", Algorithm::Hs384),
    ("HS512", Algorithm::Hs512),
];

impl Algorithm {
    /// The algorithm with exactly this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        NAMES
            .into_iter()
            .find_map(|(known, algorithm)| (known == name).then_some(algorithm))
    }

    /// Every algorithm.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        NAMES.into_iter().map(|(_, algorithm)| algorithm)
    }

    /// The name of the algorithm.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut names = NAMES.into_iter();
        names
            .find_map(|(name, algorithm)| (algorithm == self).then_some(name))
            .unwrap_or_default()
    }

    /// Whether the algorithm may use a key. The key decides, never the token.
    pub(super) fn takes(self, material: &Material) -> bool {
        match (self, material) {
            (
                Self::Rs256 | Self::Rs384 | Self::Rs512 | Self::Ps256 | Self::Ps384 | Self::Ps512,
                Material::Rsa { .. },
            )
            | (Self::EdDsa | Self::Ed25519, Material::Ed25519 { .. }) => true,
            (Self::Es256, Material::Ec { curve, .. }) => *curve == Curve::P256,
            (Self::Es384, Material::Ec { curve, .. }) => *curve == Curve::P384,
            (Self::Es512, Material::Ec { curve, .. }) => *curve == Curve::P521,
            (Self::Hs256, Material::Secret(secret)) => secret.len() >= 32,
            (Self::Hs384, Material::Secret(secret)) => secret.len() >= 48,
            (Self::Hs512, Material::Secret(secret)) => secret.len() >= 64,
            _ => false,
        }
    }

    /// The length in bytes of a signature by this key.
    pub(super) fn signature_bytes(self, material: &Material) -> usize {
        match (self, material) {
            (_, Material::Rsa { modulus, .. }) => modulus.len(),
            (_, Material::Ec { curve, .. }) => curve.bytes().saturating_mul(2),
            (_, Material::Ed25519 { .. }) | (Self::Hs512, _) => 64,
            (Self::Hs384, _) => 48,
            _ => 32,
        }
    }

    /// Whether both are the same algorithm: `EdDSA` and `Ed25519` are two names for one.
    pub(super) fn is(self, other: Self) -> bool {
        let edwards = |algorithm| matches!(algorithm, Self::EdDsa | Self::Ed25519);
        self == other || (edwards(self) && edwards(other))
    }
}
