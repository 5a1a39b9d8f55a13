//! Tokens whose signatures were verified, so that each is verified once.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

/// The SHA-256 digest of a whole token.
pub type TokenDigest = [u8; 32];

/// The digest that a token is known by.
#[must_use]
pub fn digest(token: &str) -> TokenDigest {
    Sha256::digest(token.as_bytes()).into()
}

/// Whether the keys are still in force that a token was verified with; all that it was cloned to are told at once.
#[derive(Clone, Debug)]
pub struct InForce(Arc<AtomicBool>);

impl Default for InForce {
    fn default() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
}

impl InForce {
    /// Says that other keys have taken their place.
    pub fn withdraw(&self) {
        self.0.store(false, Ordering::Release);
    }

    fn holds(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A token that was verified.
#[derive(Clone, Debug)]
pub struct Verified {
    /// From which second since 1970 it has to be verified again.
    pub until: u64,
    /// Whether its scopes are enough for the endpoint.
    pub sufficient: bool,
    /// The keys that verified it, where they may be withdrawn.
    pub keys: Option<InForce>,
    /// A number for whom it was issued to.
    pub holder: u64,
}

/// How many holders fill a table: none pushes out the tokens of all others.
const HOLDERS: usize = 8;

/// Verified tokens by their digests: never a token, and never one that was refused.
#[derive(Debug)]
pub struct VerifiedTokens {
    most: usize,
    entries: HashMap<TokenDigest, (u64, Verified)>,
    /// What comes next has this number.
    next: u64,
    by_age: BTreeMap<u64, TokenDigest>,
    by_holder: HashMap<u64, BTreeMap<u64, TokenDigest>>,
}

impl VerifiedTokens {
    /// A table of at most so many tokens.
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

    /// Whether the scopes of a known token are enough; `None` for one that has to be verified.
    #[must_use]
    pub fn find(&self, digest: &TokenDigest, now: u64) -> Option<bool> {
        let (_, token) = self.entries.get(digest)?;
        let in_force = token.keys.as_ref().is_none_or(InForce::holds);
        (now < token.until && in_force).then_some(token.sufficient)
    }

    /// Remembers a token, and forgets the one that makes room for it: the oldest of its holder where that has many,
    /// else the oldest of all.
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

    /// Forgets all tokens.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.by_age.clear();
        self.by_holder.clear();
    }
}
