//! Sealed `requestState` (2026-07-28).
//!
//! The client carries the state of a half-answered request and hands it back; it is an attacker's
//! input by then. It is encrypted and authenticated, bound to who asked, for what and with which
//! arguments, and it expires.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{Key, XChaCha20Poly1305, XNonce};

/// The length of a sealing secret.
pub const SECRET_BYTES: usize = 32;

/// The length of a nonce: long enough to be drawn at random.
pub const NONCE_BYTES: usize = 24;

const EXPIRY_BYTES: usize = 8;

/// A state that was bound in another form is no state of this release.
const FORM: &[u8] = b"2";

/// What a state belongs to. All of it must be equal when the state comes back.
#[derive(Clone, Copy, Debug)]
pub struct Binding<'b> {
    /// Who asked, in a form that is the same on every node.
    pub principal: &'b [u8],
    /// The router that was called.
    pub router: &'b str,
    /// Where the router is served; empty where that is one place only.
    pub mount: &'b str,
    /// The method.
    pub method: &'b str,
    /// The tool's or prompt's name, or the resource's URI.
    pub name: &'b str,
    /// A digest of the arguments.
    pub arguments: &'b [u8],
}

impl Binding<'_> {
    /// Each part behind its length, so that no two bindings read alike.
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

/// Why a state was refused. A peer learns only that it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// Not something this server sealed for this request.
    #[error("the request state does not belong to this request")]
    Invalid,
    /// Sealed for this request, too long ago.
    #[error("the request state has expired")]
    Expired,
    /// The cipher refused to seal.
    #[error("the request state could not be sealed")]
    Unsealable,
}

/// Seals `state` until `expires_at` (milliseconds of any clock that [`open`] is given too).
///
/// # Errors
/// [`StateError::Unsealable`] when the cipher refuses, which it does for states beyond its limits.
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

/// Opens what [`seal`] sealed.
///
/// # Errors
/// [`StateError::Invalid`] for anything but an untouched state of this binding,
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
