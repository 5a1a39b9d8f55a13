//! Opaque cursors of paged lists.
//!
//! A cursor names the list, the catalogue and the page. A cursor from another list or an older
//! catalogue is refused, because it would skip entries.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

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

/// An FNV-1a hash. It only distinguishes catalogues and gives no security.
#[must_use]
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    fingerprint_of(0xcbf2_9ce4_8422_2325, &[bytes])
}

/// The fingerprint of the part of a catalogue that `parts` describe.
#[must_use]
pub(super) fn fingerprint_of(catalog: u64, parts: &[&[u8]]) -> u64 {
    let bytes = parts.iter().flat_map(|part| part.iter());
    bytes.fold(catalog, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
