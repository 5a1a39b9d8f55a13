//! Decides about a request by its head alone, without verifying a signature or asking an issuer.

use std::collections::HashSet;

use super::bearer::bearer;
use super::jws::object;
use super::policy::Policy;
use super::refusal::Refusal;
use super::token::{granted, named, signed};
use super::verified::{TokenDigest, digest};
use crate::http::{Challenge, Head, HttpAnswer, forbidden, invalid_authorization, unauthorized};

/// The tokens that a resource server accepts, and their issuers.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// The rules for the tokens of each issuer.
    pub policies: Vec<Policy>,
    /// The digests of fixed tokens.
    pub fixed: HashSet<TokenDigest>,
    /// Whether another verifier accepts tokens of unknown issuers.
    pub others: bool,
    /// Whether there may be more issuers, whose rules are unknown here.
    pub tenants: bool,
    /// Whether a request may come without a token.
    pub anonymous: bool,
    /// The longest token in bytes.
    pub max_token_bytes: usize,
}

/// The decision about a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The token was verified before.
    Known(TokenDigest),
    /// The request is refused.
    Denied(Denial),
    /// The head alone does not decide: for example, a signature must be verified.
    Open,
}

/// The reason for refusing a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The request has no token.
    Missing,
    /// The credentials are malformed.
    MalformedRequest,
    /// The token lacks a scope.
    Scope,
    /// The token is invalid.
    Token(Refusal),
}

impl Guard {
    /// Decides about a request. `find` returns whether the scopes of a verified token suffice.
    /// `now` is in seconds since 1970.
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
        // Such a token cannot be valid here, and computing its digest would take time.
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

    /// A reason for refusing a token that does not depend on its signature.
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
    /// The name for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::MalformedRequest => "malformed_request",
            Self::Scope => "scope",
            Self::Token(refusal) => refusal.name(),
        }
    }

    /// The response, with the endpoint's scopes and the URL of its metadata.
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
