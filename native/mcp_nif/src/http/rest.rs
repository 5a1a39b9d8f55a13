//! What lies below the path of stored results: judged here, answered by processes.

use std::sync::{PoisonError, RwLock};

use mcp_core::http::{Head, HttpAnswer};
use mcp_core::results::dual::{Action, Refusal, Wanted, refuse, screen, select};
use mcp_listener::{Answer, Call, Fault, RequestHead};
use rustler::{Encoder, LocalPid, NifResult, ResourceArc, Term};

use super::exchange::ExchangeResource;
use super::gate::finished;
use super::head::OwnedHead;
use super::mailbox::send;
use crate::atoms;
use crate::results::dual::{EndpointResource, selection_term, wanted_term};

/// An endpoint, and who answers what it lets through.
pub(super) struct Rest {
    endpoint: ResourceArc<EndpointResource>,
    /// Whether a hook has to see the heads.
    hooks: bool,
    desk: RwLock<LocalPid>,
}

/// What is remembered of a head until its body is there.
pub(crate) struct Asked {
    wanted: Wanted,
    head: Option<OwnedHead>,
}

/// Seconds after which a client that met no desk may come back.
const RETRY_AFTER: u32 = 1;

impl Rest {
    /// `{endpoint, hooks?, desk}`
    pub(super) fn decode(given: Term<'_>) -> NifResult<Self> {
        let (endpoint, hooks, desk) = given.decode()?;
        Ok(Self {
            endpoint,
            hooks,
            desk: RwLock::new(desk),
        })
    }

    pub(super) fn set_desk(&self, desk: LocalPid) {
        *self.desk.write().unwrap_or_else(PoisonError::into_inner) = desk;
    }

    pub(super) fn desk(&self) -> LocalPid {
        *self.desk.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn covers(&self, target: &str) -> bool {
        self.endpoint.0.covers(target)
    }

    pub(super) fn max_body(&self) -> usize {
        usize::try_from(self.endpoint.0.max_body_bytes()).unwrap_or(usize::MAX)
    }

    pub(super) fn screen(
        &self,
        judged: &Head<'_>,
        head: &RequestHead<'_>,
    ) -> Result<Asked, HttpAnswer> {
        Ok(Asked {
            wanted: screen(&self.endpoint.0, judged)?,
            head: self.hooks.then(|| OwnedHead::of(head)),
        })
    }

    /// Hands the request to the desk; or its answer, where it has come to that.
    pub(super) fn call(&self, asked: &Asked, body: &[u8], call: &mut Call) -> Option<Answer> {
        let Asked { wanted, head } = asked;
        let selection = if wanted.action == Action::Fetch {
            match select(&self.endpoint.0, wanted.form, body) {
                Ok(selection) => Some(selection),
                Err(answer) => return Some(finished(answer)),
            }
        } else {
            None
        };
        let desk = self.desk();
        let exchange = ExchangeResource::open(call);
        ExchangeResource::give(&exchange, desk);
        let sent = send(desk, |env| {
            let head = head.as_ref().and_then(|head| head.fields(env).ok());
            let selection = selection.map(|selection| selection_term(env, &selection));
            let wanted = wanted_term(env, wanted);
            (atoms::mcp_rest(), &exchange, wanted, selection, head).encode(env)
        });
        if sent {
            return None;
        }
        ExchangeResource::take_back(&exchange);
        Some(finished(refuse(&Refusal::Overloaded(RETRY_AFTER))))
    }

    /// The answer to a request whose body cannot be had.
    pub(super) fn refuse(&self, fault: Fault) -> Answer {
        finished(refuse(&match fault {
            Fault::Malformed => Refusal::Malformed,
            Fault::Timeout => Refusal::RequestTimeout,
            Fault::TooLarge => Refusal::PayloadTooLarge(self.endpoint.0.max_body_bytes()),
            Fault::Internal => Refusal::Internal,
            Fault::Overloaded => Refusal::Overloaded(RETRY_AFTER),
        }))
    }
}
