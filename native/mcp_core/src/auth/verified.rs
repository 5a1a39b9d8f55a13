//! A cache of verified tokens, so that each token is verified once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

/// The SHA-256 digest of a complete token.
pub type TokenDigest = [u8; 32];

/// The digest of a token.
#[must_use]
pub fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// Whether the keys that verified a token are still valid. All clones share this state.
#[derive(Clone, Debug)]
pub struct InForce(Arc<AtomicBool>);

impl Default for InForce {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl InForce {
    /// Marks the keys as replaced, for all clones.
    pub fn withdraw(&self) {
        self.0.store(false, Ordering::Release);
    }

    fn holds(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A verified token.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The second since 1970 from which the token must be verified again.
    pub until: u64,
    /// Whether its scopes suffice for the endpoint.
    pub sufficient: bool,
    /// The keys that verified it, if they can be withdrawn.
    pub keys: Option<InForce>,
    /// The number of its holder: the user or client to whom it was issued.
    pub holder: u64,
}

/// A holder may fill one eighth of a table, so that it cannot evict the tokens of all others.
const HOLDERS: usize = 8;

/// Verified tokens by digest. The table contains neither tokens nor refused ones.
#[derive(Debug)]
pub struct VerifiedTokens {
    most: usize,
    entries: HashMap<TokenDigest, (u64, Verified)>,
    /// The number of the next entry.
    next: u64,
    by_age: BTreeMap<u64, TokenDigest>,
    by_holder: HashMap<u64, BTreeMap<u64, TokenDigest>>,
}

impl VerifiedTokens {
    /// A table of at most `most` tokens.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            entries: HashMap::new(),
            next: 0,
            by_age: BTreeMap::new(),
            by_holder: HashMap::new(),
        }
    }

    /// Whether the scopes of a known token suffice; `None` if the token must be verified.
    #[must_use]
    pub fn find(&self, digest: &TokenDigest, now: u64) -> Option<bool> {
        let (_, token) = self.entries.get(digest)?;
        let in_force = token.keys.as_ref().is_none_or(InForce::holds);
        (now < token.until && in_force).then_some(token.sufficient)
    }

    /// Adds a token. If the holder's share is full, its oldest token is dropped; otherwise a full
    /// table drops the oldest of all. Returns the digest of the dropped token.
    pub fn insert(&mut self, digest: TokenDigest, token: Verified) -> Option<TokenDigest> {
        self.remove(&digest);
        let pushed_out = self.oldest(token.holder);
        if let Some(oldest) = &pushed_out {
            self.remove(oldest);
        }
        if self.entries.len() < self.most {
            let number = self.next;
            self.next = number.wrapping_add(1);
            self.by_age.insert(number, digest);
            let own = self.by_holder.entry(token.holder).or_default();
            own.insert(number, digest);
            self.entries.insert(digest, (number, token));
        }
        pushed_out
    }

    fn oldest(&self, holder: u64) -> Option<TokenDigest> {
        let share = self.most.div_ceil(HOLDERS);
        let own = self.by_holder.get(&holder);
        let full = (self.entries.len() >= self.most).then_some(&self.by_age);
        let tokens = own.filter(|own| own.len() >= share).or(full)?;
        tokens.values().next().copied()
    }

    fn remove(&mut self, digest: &TokenDigest) {
        let Some((number, token)) = self.entries.remove(digest) else {
            return;
        };
        self.by_age.remove(&number);
        if let Entry::Occupied(mut own) = self.by_holder.entry(token.holder) {
            own.get_mut().remove(&number);
            if own.get().is_empty() {
                own.remove();
            }
        }
    }

    /// Removes all tokens.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.by_age.clear();
        self.by_holder.clear();
    }
}
