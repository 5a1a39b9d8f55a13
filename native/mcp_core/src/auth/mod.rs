//! Validates OAuth 2.1 access tokens for a resource server: the header that carries a token, the
//! claims of a signed token (RFC 7515, 7519, 9068), and the key for its signature.
//!
//! This module has the rules, but not the cryptography of signatures. [`screen`] returns a
//! [`Pending`] token with the data to verify. Only [`Pending::verified`] returns its [`Grant`], so
//! no code reads an unverified claim.
//!
//! ```
//! use mcp_core::auth::{KeySet, Policy, PolicyOptions, Refusal, screen};
//!
//! let policy = Policy::new(PolicyOptions {
//!     issuer: "https://auth.example".to_owned(),
//!     audience: vec!["https://mcp.example/mcp".to_owned()],
//!     ..PolicyOptions::default()
//! })?;
//! let keys = KeySet::published(br#"{"keys":[]}"#).expect("a key set");
//! assert_eq!(screen("a.b.c", &policy, &keys, 1_700_000_000).err(), Some(Refusal::Malformed));
//! # Ok::<(), String>(())
//! ```

mod algorithm;
mod audience;
mod bearer;
mod claims;
mod dpop;
mod guard;
mod introspection;
mod jws;
mod keys;
mod policy;
mod refusal;
mod roca;
mod token;
mod verified;

pub use algorithm::{Algorithm, Curve};
pub use bearer::{MalformedCredentials, Scheme, bearer, credentials};
pub use claims::Grant;
pub use dpop::{PROOF_ALGORITHMS, PendingProof, ProofRefusal, Proven, Unique, proof, screen_proof};
pub use guard::{Denial, Guard, Verdict};
pub use introspection::introspected;
pub use keys::{KeySet, KeySetError, Material};
pub use policy::{Policy, PolicyOptions};
pub use refusal::Refusal;
pub use token::{Pending, Proof, issuer, screen};
pub use verified::{InForce, TokenDigest, Verified, VerifiedTokens, digest};
