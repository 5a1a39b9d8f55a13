//! The catalogue that is served, and what is kept of it for the wire.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use mcp_listener::{Bytes, Payload};
use rustler::ResourceArc;

use crate::protocol::CatalogResource;

/// Tails up to here are copied: that costs less than a second piece.
const COPIED_TAIL: usize = 1024;

/// A catalogue, and the tails of its lists as they are written.
pub(super) struct Served {
    pub(super) catalog: ResourceArc<CatalogResource>,
    tails: Mutex<HashMap<(usize, usize), Bytes>>,
}

impl Served {
    pub(super) fn new(catalog: ResourceArc<CatalogResource>) -> Self {
        Self {
            catalog,
            tails: Mutex::default(),
        }
    }

    /// Head and tail as one body. The tail is the catalogue's and stays where it is as long as the
    /// catalogue lives, so its place names it; it is copied once.
    pub(super) fn payload(&self, mut head: Vec<u8>, tail: &[u8]) -> Payload {
        if tail.len() <= COPIED_TAIL {
            head.extend_from_slice(tail);
            return head.into();
        }
        let place = (tail.as_ptr().addr(), tail.len());
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = tails
            .entry(place)
            .or_insert_with(|| Bytes::copy_from_slice(tail));
        Payload::pair(head.into(), kept.clone())
    }
}
