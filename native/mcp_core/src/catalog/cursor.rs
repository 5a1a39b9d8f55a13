//! Opaque cursors of paged lists.
//!
//! A cursor names the list, the catalogue and the page. A cursor from another list or an older
//! catalogue is refused, because it would skip entries.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::ListKind;

/// Kind, fingerprint, page.
const BYTES: usize = 1 + 8 + 4;

/// The cursor of `page` in a list.
#[must_use]
pub(super) fn encode(kind: ListKind, fingerprint: u64, page: u32) -> String {
    let mut bytes = Vec::with_capacity(BYTES);
    bytes.push(kind as u8);
    bytes.extend_from_slice(&fingerprint.to_be_bytes());
    bytes.extend_from_slice(&page.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// The page that a cursor names, if the cursor belongs to this list.
#[must_use]
pub(super) fn decode(text: &str, kind: ListKind, fingerprint: u64) -> Option<u32> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
    let (&tag, rest) = bytes.split_first()?;
    let (print, page) = rest.split_first_chunk::<8>()?;
    let page: [u8; 4] = page.try_into().ok()?;
    let known = tag == kind as u8 && u64::from_be_bytes(*print) == fingerprint;
    known.then(|| u32::from_be_bytes(page))
}

/// A SHA-256 digest of a definition. Clients see only its first bytes.
#[must_use]
pub(super) fn digest(definition: &[u8]) -> [u8; 32] {
    Sha256::digest(definition).into()
}

/// The fingerprint of a whole catalogue.
#[must_use]
pub(super) fn fingerprint(digest: &[u8; 32]) -> u64 {
    let (first, _rest) = digest.split_first_chunk::<8>().unwrap_or((&[0; 8], &[]));
    u64::from_be_bytes(*first)
}

/// The fingerprint of the part of a catalogue that `parts` describe. It does not tell a client which
/// part that is, because most of `catalog` is unknown to it.
#[must_use]
pub(super) fn fingerprint_of(catalog: &[u8; 32], parts: &[&[u8]]) -> u64 {
    let mut hasher = Sha256::new();
    hasher.update(catalog);
    for part in parts {
        hasher.update((part.len() as u64).to_be_bytes());
        hasher.update(part);
    }
    fingerprint(&hasher.finalize().into())
}
