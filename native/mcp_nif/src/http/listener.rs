//! The listener as Elixir holds it: it lives as long as its owner.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_listener::{Listener, Options};
use rustler::types::tuple::get_tuple;
use rustler::{
    Atom, Decoder, Encoder, Env, Error, LocalPid, MapIterator, Monitor, NifResult, Resource,
    ResourceArc, Term,
};

use super::exchange::Told;
use super::gate::Gate;
use super::rest::Rest;
use super::rules::PolicyResource;
use crate::atoms;
use crate::protocol::{CatalogResource, GivenLimits};

/// A running listener. When its owner dies it closes everything.
pub(crate) struct ListenerResource {
    listener: Listener<Gate>,
    owner: LocalPid,
    /// The workers that are watched.
    watched: Mutex<Vec<LocalPid>>,
}

#[rustler::resource_impl]
impl Resource for ListenerResource {
    const IMPLEMENTS_DOWN: bool = true;

    /// With a worker its exchanges end, with the owner everything.
    fn down<'a>(&'a self, _env: Env<'a>, pid: LocalPid, _monitor: Monitor) {
        if pid == self.owner {
            self.listener.stop();
            return;
        }
        self.watched().retain(|worker| *worker != pid);
        self.listener.fail_where(|events| {
            let told = events.downcast_ref::<Told>();
            told.is_some_and(|told| told.is_owned_by(pid))
        });
    }
}

impl ListenerResource {
    fn watched(&self) -> MutexGuard<'_, Vec<LocalPid>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Watches workers that are not watched yet; one that is dead already is passed over anyway.
fn watch(env: Env<'_>, listener: &ResourceArc<ListenerResource>, workers: &[LocalPid]) {
    for worker in workers {
        let known = listener.watched().contains(worker);
        if !known && *worker != listener.owner && env.monitor(listener, worker).is_some() {
            listener.watched().push(*worker);
        }
    }
}

/// How long to wait for the threads to end: nothing of theirs takes any time.
const ENDING: Duration = Duration::from_secs(2);

/// Where to listen, and within which limits; times are milliseconds. What is left out is the
/// listener's own default.
struct Settings {
    address: SocketAddr,
    options: Options,
    limits: GivenLimits,
    rest: Option<Rest>,
}

impl<'a> Decoder<'a> for Settings {
    fn decode(given: Term<'a>) -> NifResult<Self> {
        let mut settings = Self {
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            options: Options::default(),
            limits: GivenLimits::default(),
            rest: None,
        };
        for (name, value) in MapIterator::new(given).ok_or(Error::BadArg)? {
            settings.set(&name.atom_to_string()?, value)?;
        }
        Ok(settings)
    }
}

impl Settings {
    fn set(&mut self, name: &str, value: Term<'_>) -> NifResult<()> {
        let options = &mut self.options;
        match name {
            "ip" => self.address.set_ip(address(value)?),
            "port" => self.address.set_port(value.decode()?),
            "threads" => options.threads = value.decode()?,
            "max_connections" => options.max_connections = value.decode()?,
            "max_head_bytes" => options.max_head_bytes = value.decode()?,
            "max_headers" => options.max_headers = value.decode()?,
            "max_queued_bytes" => options.max_queued_bytes = value.decode()?,
            "max_body_bytes_in_flight" => options.max_body_bytes_in_flight = value.decode()?,
            "head_timeout" => options.head_timeout = milliseconds(value)?,
            "body_timeout" => options.body_timeout = milliseconds(value)?,
            "body_grace" => options.body_grace = milliseconds(value)?,
            "body_min_rate" => options.body_min_rate = value.decode()?,
            "connection_timeout" => options.idle_timeout = milliseconds(value)?,
            "stall_timeout" => options.stall_timeout = milliseconds(value)?,
            "message_limits" => self.limits = value.decode()?,
            "rest" => self.rest = Some(Rest::decode(value)?),
            // The policy's, which the listener asks.
            "max_body_bytes" => {}
            _ => return Err(Error::BadArg),
        }
        Ok(())
    }
}

fn address(text: Term<'_>) -> NifResult<IpAddr> {
    let text: &str = text.decode()?;
    text.parse().map_err(|_| Error::BadArg)
}

fn milliseconds(value: Term<'_>) -> NifResult<Duration> {
    value.decode().map(Duration::from_millis)
}

/// Binds and serves: `{:ok, listener, port}` or `{:error, reason}`. Binding may have to wait for an
/// earlier listener to let go of the address.
#[rustler::nif(schedule = "DirtyIo")]
fn http_listen<'a>(
    env: Env<'a>,
    owner: LocalPid,
    workers: Term<'a>,
    catalog: ResourceArc<CatalogResource>,
    policy: ResourceArc<PolicyResource>,
    raw: bool,
    settings: Settings,
) -> NifResult<Term<'a>> {
    let workers = pids(workers)?;
    let desk = settings.rest.as_ref().map(Rest::desk);
    let gate = Gate::new(policy, settings.limits, raw, catalog, settings.rest);
    let listener = match Listener::start(settings.address, settings.options, gate) {
        Ok(listener) => listener,
        Err(error) => return Ok(env.error_tuple(reason(&error))),
    };
    let listener = ResourceArc::new(ListenerResource {
        listener,
        owner,
        watched: Mutex::default(),
    });
    if env.monitor(&listener, &owner).is_none() {
        listener.listener.stop();
        return Ok(env.error_tuple(atoms::noproc()));
    }
    watch(env, &listener, desk.as_slice());
    watch(env, &listener, &workers);
    listener.listener.service().set_workers(workers);
    let port = listener.listener.address().port();
    Ok((atoms::ok(), listener, port).encode(env))
}

fn pids(workers: Term<'_>) -> NifResult<Vec<LocalPid>> {
    get_tuple(workers)?.into_iter().map(Term::decode).collect()
}

/// The name of a system error, for those that binding can meet.
fn reason(error: &io::Error) -> Atom {
    match error.kind() {
        io::ErrorKind::AddrInUse => atoms::eaddrinuse(),
        io::ErrorKind::AddrNotAvailable => atoms::eaddrnotavail(),
        io::ErrorKind::PermissionDenied => atoms::eacces(),
        io::ErrorKind::InvalidInput => atoms::einval(),
        io::ErrorKind::WouldBlock | io::ErrorKind::OutOfMemory => atoms::system_limit(),
        _ if error.raw_os_error() == Some(rustix::io::Errno::MFILE.raw_os_error()) => {
            atoms::emfile()
        }
        _ => atoms::unknown(),
    }
}

/// Admits with this catalogue from now on.
#[rustler::nif]
fn http_set_catalog(
    listener: ResourceArc<ListenerResource>,
    catalog: ResourceArc<CatalogResource>,
) -> Atom {
    listener.listener.service().set_catalog(catalog);
    atoms::ok()
}

/// Hands work to these processes from now on.
#[rustler::nif]
fn http_set_workers<'a>(
    env: Env<'a>,
    listener: ResourceArc<ListenerResource>,
    workers: Term<'a>,
) -> NifResult<Atom> {
    let workers = pids(workers)?;
    watch(env, &listener, &workers);
    listener.listener.service().set_workers(workers);
    Ok(atoms::ok())
}

/// Hands requests for stored results to this process from now on.
#[rustler::nif]
fn http_set_desk(env: Env<'_>, listener: ResourceArc<ListenerResource>, desk: LocalPid) -> Atom {
    watch(env, &listener, &[desk]);
    if let Some(rest) = listener.listener.service().rest() {
        rest.set_desk(desk);
    }
    atoms::ok()
}

/// Accepts nothing more; what is open has `grace_ms` to end.
#[rustler::nif]
fn http_drain(listener: ResourceArc<ListenerResource>, grace_ms: u64) -> Atom {
    listener.listener.drain(Duration::from_millis(grace_ms));
    atoms::ok()
}

/// Closes everything, and returns when that is done.
#[rustler::nif(schedule = "DirtyIo")]
fn http_stop(listener: ResourceArc<ListenerResource>) -> Atom {
    listener.listener.stop();
    if listener.listener.wait(ENDING) {
        atoms::ok()
    } else {
        atoms::busy()
    }
}

/// What the listener has counted.
#[rustler::nif]
fn http_stats(env: Env<'_>, listener: ResourceArc<ListenerResource>) -> NifResult<Term<'_>> {
    let stats = listener.listener.stats();
    let members = [
        (atoms::connections(), stats.connections),
        (atoms::accepted(), stats.accepted),
        (atoms::accept_errors(), stats.accept_errors),
        (atoms::turned_away(), stats.turned_away),
        (atoms::requests(), stats.requests),
        (atoms::refused(), stats.refused),
        (atoms::exchanges(), stats.exchanges),
        (atoms::streams(), stats.streams),
        (atoms::cut(), stats.cut),
        (atoms::body_bytes(), stats.body_bytes),
        (atoms::panics(), stats.panics),
    ];
    Term::map_from_pairs(env, &members).map_err(|_| Error::BadArg)
}
