//! The head of a request, for a process that has to see it.

use std::net::{IpAddr, SocketAddr};

use mcp_listener::RequestHead;
use mcp_listener::header::{HeaderName, HeaderValue};
use rustler::{Encoder, Env, NifResult, ResourceArc, Term};

use super::exchange::body_term;
use super::rules::{ScreenedResource, facts_term};
use crate::atoms;

pub(super) struct OwnedHead {
    method: String,
    target: String,
    authority: Option<String>,
    headers: Vec<(HeaderName, HeaderValue)>,
    peer: SocketAddr,
}

impl OwnedHead {
    pub(super) fn of(head: &RequestHead<'_>) -> Self {
        Self {
            method: head.method().to_owned(),
            target: head.target().to_owned(),
            authority: head.authority().map(str::to_owned),
            headers: head
                .headers()
                .iter()
                .map(|(name, value)| (name.clone(), value.clone()))
                .collect(),
            peer: head.peer(),
        }
    }

    /// Stands for a head that no hook will look at.
    pub(super) fn unseen() -> Self {
        Self {
            method: "POST".to_owned(),
            target: String::new(),
            authority: None,
            headers: Vec::new(),
            peer: SocketAddr::from(([0, 0, 0, 0], 0)),
        }
    }

    /// `{:head, screened, facts, head}`
    pub(super) fn term<'a>(
        &self,
        env: Env<'a>,
        screened: &ResourceArc<ScreenedResource>,
    ) -> Term<'a> {
        match (facts_term(env, &screened.0), self.fields(env)) {
            (Ok(facts), Ok(head)) => (atoms::head(), screened, facts, head).encode(env),
            _ => atoms::nil().to_term(env),
        }
    }

    /// The head alone, a map.
    pub(super) fn fields<'a>(&self, env: Env<'a>) -> NifResult<Term<'a>> {
        let headers: Vec<(&str, Term<'a>)> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), body_term(env, value.as_bytes())))
            .collect();
        let members = [
            (atoms::method(), self.method.encode(env)),
            (atoms::target(), self.target.encode(env)),
            (atoms::authority(), self.authority.encode(env)),
            (atoms::headers(), headers.encode(env)),
            (atoms::peer(), peer_term(env, self.peer)),
        ];
        Term::map_from_pairs(env, &members)
    }
}

/// `{address, port}` as `:inet` has it.
fn peer_term(env: Env<'_>, peer: SocketAddr) -> Term<'_> {
    let address = match peer.ip().to_canonical() {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            (a, b, c, d).encode(env)
        }
        IpAddr::V6(address) => {
            let parts: Vec<Term<'_>> = address.segments().map(|part| part.encode(env)).to_vec();
            rustler::types::tuple::make_tuple(env, &parts)
        }
    };
    (address, peer.port()).encode(env)
}
