//! What can be said of a request by its head alone: no signature is verified, and nobody is asked.

use std::collections::HashSet;

use super::bearer::bearer;
use super::jws::object;
use super::policy::Policy;
use super::refusal::Refusal;
use super::token::{granted, named, signed};
use super::verified::{TokenDigest, digest};
use crate::http::{Challenge, Head, HttpAnswer, forbidden, invalid_authorization, unauthorized};

/// Which tokens a resource server takes, and from whom.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// What the tokens of each issuer must say.
    pub policies: Vec<Policy>,
    /// The digests of fixed tokens.
    pub fixed: HashSet<TokenDigest>,
    /// Whether there is somebody to ask about tokens that belong to none of these issuers.
    pub others: bool,
    /// Whether there may be issuers beside these, whose rules are not known here.
    pub tenants: bool,
    /// Whether a request may come without a token.
    pub anonymous: bool,
    /// Bytes of a token.
    pub max_token_bytes: usize,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its token was verified before.
    Known(TokenDigest),
    /// It is refused.
    Denied(Denial),
    /// A signature has to be verified, or somebody asked.
    Open,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// It has no token.
    Missing,
    /// Its token is sent against the rules.
    MalformedRequest,
    /// Its token grants too little.
    Scope,
    /// Its token is worth nothing.
    Token(Refusal),
}

impl Guard {
    /// Judges a request. `find` tells whether the scopes of a verified token are enough, and `now` is in
    /// seconds since 1970.
    pub fn judge(
        &self,
        head: &Head<'_>,
        now: u64,
        find: impl FnOnce(&TokenDigest) -> Option<bool>,
    ) -> Verdict {
        let token = match bearer(head) {
            Ok(Some(token)) => token,
            Ok(None) if self.anonymous => return Verdict::Open,
            Ok(None) => return Verdict::Denied(Denial::Missing),
            Err(_) => return Verdict::Denied(Denial::MalformedRequest),
        };
        // Only a fixed one may be so long, and a digest takes its time.
        if token.len() > self.max_token_bytes && self.fixed.is_empty() && !self.others {
            return Verdict::Denied(Denial::Token(Refusal::TooLarge));
        }
        let digest = digest(token);
        match find(&digest) {
            Some(true) => Verdict::Known(digest),
            Some(false) => Verdict::Denied(Denial::Scope),
            None if self.fixed.contains(&digest) => Verdict::Open,
            None => self.refusal(token, now).map_or(Verdict::Open, |refusal| {
                Verdict::Denied(Denial::Token(refusal))
            }),
        }
    }

    /// Why a token is refused whatever its signature.
    fn refusal(&self, token: &str, now: u64) -> Option<Refusal> {
        let of_nobody = |refusal| (!self.others).then_some(refusal);
        let jws = match signed(token, self.max_token_bytes) {
            Ok(Some(jws)) => jws,
            Ok(None) => return of_nobody(Refusal::Malformed),
            Err(refusal) => return of_nobody(refusal),
        };
        let read = object(&jws.payload).and_then(|claims| Ok((named(&claims)?, claims)));
        let (issuer, claims) = match read {
            Ok(read) => read,
            Err(refusal) => return of_nobody(refusal),
        };
        let policy = |policy: &&Policy| policy.options.issuer == issuer;
        match self.policies.iter().find(policy) {
            Some(policy) => granted(&jws, &claims, policy, now).err(),
            None if self.tenants => None,
            None => of_nobody(Refusal::Issuer),
        }
    }
}

impl Denial {
    /// The name, for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::MalformedRequest => "malformed_request",
            Self::Scope => "scope",
            Self::Token(refusal) => refusal.name(),
        }
    }

    /// The answer, which names the scopes of the endpoint and where its metadata lies.
    #[must_use]
    pub fn answer(self, scope: &[&str], resource_metadata: Option<&str>) -> HttpAnswer {
        let challenge = |error, description| Challenge {
            resource_metadata,
            error,
            description,
            scope,
            ..Challenge::default()
        };
        match self {
            Self::Missing => unauthorized(&challenge(None, None)),
            Self::MalformedRequest => {
                let text = "A request has one access token, in the header Authorization";
                invalid_authorization(&challenge(Some("invalid_request"), Some(text)))
            }
            Self::Scope => forbidden(&challenge(Some("insufficient_scope"), None)),
            Self::Token(refusal) => {
                let text = refusal.to_string();
                unauthorized(&challenge(Some("invalid_token"), Some(&text)))
            }
        }
    }
}
