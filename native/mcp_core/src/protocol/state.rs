//! Sealed `requestState` (2026-07-28).
//!
//! The client holds the state of an unfinished request and sends it back, so the returned state is
//! untrusted input. It is encrypted, authenticated, bound to the principal, the request and its
//! arguments, and it expires.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};

/// The length of a sealing secret.
pub const SECRET_BYTES: usize = 32;

/// The length of a nonce. Random nonces of this length do not collide in practice.
pub const NONCE_BYTES: usize = 24;

const EXPIRY_BYTES: usize = 8;

/// The version of the binding's form. A state with another version is invalid.
const FORM: &[u8] = b"2";

/// The request that a state belongs to. All fields must be equal when the state comes back.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'b> {
    /// The principal, in a form that is the same on every node.
    pub principal: &'b [u8],
    /// The router that was called.
    pub router: &'b str,
    /// The mount of the router; empty if the router has only one.
    pub mount: &'b str,
    /// The method.
    pub method: &'b str,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: &'b str,
    /// A digest of the arguments.
    pub arguments: &'b [u8],
}

impl Binding<'_> {
    /// Length-prefixed parts, so that different bindings never give the same bytes.
    fn associated_data(&self) -> Vec<u8> {
        let parts = [
            FORM,
            self.principal,
            self.router.as_bytes(),
            self.mount.as_bytes(),
            self.method.as_bytes(),
            self.name.as_bytes(),
            self.arguments,
        ];
        let mut data = Vec::with_capacity(128);
        for part in parts {
            data.extend_from_slice(&(part.len() as u64).to_be_bytes());
            data.extend_from_slice(part);
        }
        data
    }
}

/// Why a state was refused. The peer does not learn the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The server did not seal this state for this request.
    #[error("the request state does not belong to this request")]
    Invalid,
    /// The state was sealed for this request but has expired.
    #[error("the request state has expired")]
    Expired,
    /// The cipher refused to seal.
    #[error("the request state could not be sealed")]
    Unsealable,
}

/// Seals `state` until `expires_at`, in milliseconds of the clock that [`open`] uses too.
///
/// # Errors
/// [`StateError::Unsealable`] when the state is longer than the cipher allows.
pub fn seal(
    secret: &[u8; SECRET_BYTES],
    nonce: &[u8; NONCE_BYTES],
    binding: &Binding<'_>,
    expires_at: u64,
    state: &[u8],
) -> Result<String, StateError> {
    let mut plaintext = Vec::with_capacity(EXPIRY_BYTES.saturating_add(state.len()));
    plaintext.extend_from_slice(&expires_at.to_be_bytes());
    plaintext.extend_from_slice(state);
    let payload = Payload {
        msg: &plaintext,
        aad: &binding.associated_data(),
    };
    let sealed = XChaCha20Poly1305::new(&Key::from(*secret))
        .encrypt(&XNonce::from(*nonce), payload)
        .map_err(|_| StateError::Unsealable)?;
    Ok(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
}

/// Opens a state that [`seal`] sealed.
///
/// # Errors
/// [`StateError::Invalid`] unless the text is an unchanged state of this binding,
/// [`StateError::Expired`] when `now` has reached its expiry.
pub fn open(
    secret: &[u8; SECRET_BYTES],
    binding: &Binding<'_>,
    now: u64,
    sealed: &str,
) -> Result<Vec<u8>, StateError> {
    let bytes = URL_SAFE_NO_PAD
        .decode(sealed)
        .map_err(|_| StateError::Invalid)?;
    let (nonce, sealed) = bytes
        .split_first_chunk::<NONCE_BYTES>()
        .ok_or(StateError::Invalid)?;
    let payload = Payload {
        msg: sealed,
        aad: &binding.associated_data(),
    };
    let plaintext = XChaCha20Poly1305::new(&Key::from(*secret))
        .decrypt(&XNonce::from(*nonce), payload)
        .map_err(|_| StateError::Invalid)?;
    let (expires_at, state) = plaintext
        .split_first_chunk::<EXPIRY_BYTES>()
        .ok_or(StateError::Invalid)?;
    if now < u64::from_be_bytes(*expires_at) {
        Ok(state.to_vec())
    } else {
        Err(StateError::Expired)
    }
}
