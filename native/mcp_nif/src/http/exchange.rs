//! Exchanges as Elixir holds them: one HTTP request each, which waits for its response.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_listener::header::{HeaderName, HeaderValue};
use mcp_listener::{Answer, Bytes, Call, Ended, Events, Exchange, Fault, HeaderMap, StatusCode};
use rustler::{
    Atom, Binary, Encoder, Env, Error, ListIterator, LocalPid, Monitor, NewBinary, NifResult,
    Resource, ResourceArc, Term,
};

use super::gate::status_of;
use super::mailbox::send;
use crate::atoms;
use crate::resources::report_work;

/// One request that waits for its response. Dropped without an owner it is answered 500.
pub(crate) struct ExchangeResource {
    exchange: Exchange,
    told: Arc<Told>,
}

#[rustler::resource_impl]
impl Resource for ExchangeResource {
    const IMPLEMENTS_DOWN: bool = true;

    /// The owner died: nobody will answer, or finish what was begun.
    fn down<'a>(&'a self, _env: Env<'a>, pid: LocalPid, _monitor: Monitor) {
        if self.told.is_owned_by(pid) {
            self.exchange.fail();
        }
    }
}

impl ExchangeResource {
    /// One that nobody waits for.
    pub(crate) fn over() -> Self {
        let told = Arc::new(Told::default());
        let events: Arc<dyn Events> = Arc::clone(&told) as Arc<dyn Events>;
        Self {
            exchange: Exchange::over(events),
            told,
        }
    }

    /// The exchange of a call.
    pub(super) fn open(call: &mut Call) -> ResourceArc<Self> {
        let told = Arc::new(Told::default());
        let events: Arc<dyn Events> = Arc::clone(&told) as Arc<dyn Events>;
        ResourceArc::new(Self {
            exchange: call.open(events),
            told,
        })
    }

    /// Makes a worker the owner. The listener watches its workers, so nobody watches this one.
    pub(super) fn give(exchange: &ResourceArc<Self>, worker: LocalPid) {
        let owner = Listener {
            pid: worker,
            exchange: exchange.clone(),
        };
        exchange.told.lock().owner = Some((owner, None));
    }

    /// Takes the exchange back from a worker that could not be told of it.
    pub(super) fn take_back(exchange: &ResourceArc<Self>) {
        let owner = exchange.told.lock().owner.take();
        drop(owner);
    }
}

/// Who is told of an exchange. While somebody is, the exchange is kept for its messages; before, the
/// garbage collector decides how long it lives.
#[derive(Default)]
pub(super) struct Told(Mutex<Listeners>);

#[derive(Default)]
struct Listeners {
    owner: Option<(Listener, Option<Monitor>)>,
    reader: Option<Listener>,
    over: bool,
}

#[derive(Clone)]
struct Listener {
    pid: LocalPid,
    exchange: ResourceArc<ExchangeResource>,
}

impl Told {
    fn lock(&self) -> MutexGuard<'_, Listeners> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_owned_by(&self, pid: LocalPid) -> bool {
        let listeners = self.lock();
        let owner = listeners.owner.as_ref();
        owner.is_some_and(|(owner, _)| owner.pid == pid)
    }
}

impl Events for Told {
    fn sent(&self, bytes: usize) {
        let owner = self.lock().owner.as_ref().map(|(owner, _)| owner.clone());
        if let Some(owner) = owner {
            tell(&owner, |env| (atoms::sent(), bytes).encode(env));
        }
    }

    fn body(&self, body: Result<Bytes, Fault>) {
        let reader = self.lock().reader.take();
        if let Some(reader) = reader {
            tell_body(&reader, body);
        }
    }

    fn ended(&self, how: Ended) {
        let mut listeners = self.lock();
        listeners.over = true;
        let owner = listeners.owner.take();
        let reader = listeners.reader.take();
        drop(listeners);
        if let Some((owner, _)) = owner.filter(|_| how == Ended::Closed) {
            tell(&owner, |env| atoms::closed().to_term(env));
        }
        if let Some(reader) = reader {
            tell_body(&reader, Err(Fault::Timeout));
        }
    }
}

/// `{:mcp_exchange, exchange, what}`
fn tell<'a>(to: &Listener, what: impl FnOnce(Env<'a>) -> Term<'a>) {
    send(to.pid, |env: Env<'a>| {
        (atoms::mcp_exchange(), &to.exchange, what(env)).encode(env)
    });
}

/// `{:mcp_http_body, exchange, {:ok, body} | {:error, status}}`
fn tell_body(to: &Listener, body: Result<Bytes, Fault>) {
    send(to.pid, |env| {
        let body = match body {
            Ok(bytes) => (atoms::ok(), body_term(env, &bytes)).encode(env),
            Err(fault) => env.error_tuple(status_of(fault)),
        };
        (atoms::mcp_http_body(), &to.exchange, body).encode(env)
    });
}

pub(super) fn body_term<'a>(env: Env<'a>, bytes: &[u8]) -> Term<'a> {
    NewBinary::from_slice(env, bytes).into()
}

/// From now on the calling process answers, and is told what becomes of the exchange.
#[rustler::nif]
fn http_own(env: Env<'_>, exchange: ResourceArc<ExchangeResource>) -> Atom {
    owned_by(env, &exchange, env.pid())
}

/// From now on that process does; `gone` where it is no more.
#[rustler::nif]
fn http_give(env: Env<'_>, exchange: ResourceArc<ExchangeResource>, pid: LocalPid) -> Atom {
    owned_by(env, &exchange, pid)
}

fn owned_by(env: Env<'_>, exchange: &ResourceArc<ExchangeResource>, pid: LocalPid) -> Atom {
    if exchange.told.is_owned_by(pid) {
        return atoms::ok();
    }
    let Some(monitor) = env.monitor(exchange, &pid) else {
        return atoms::gone();
    };
    let owner = Listener {
        pid,
        exchange: exchange.clone(),
    };
    let mut listeners = exchange.told.lock();
    if listeners.over {
        return atoms::closed();
    }
    let before = listeners.owner.replace((owner, Some(monitor)));
    drop(listeners);
    if let Some((_, Some(monitor))) = before {
        env.demonitor(exchange, &monitor);
    }
    atoms::ok()
}

/// Has the body read; the calling process is told when it is there.
#[rustler::nif]
fn http_read_body(env: Env<'_>, exchange: ResourceArc<ExchangeResource>) -> Atom {
    let reader = Listener {
        pid: env.pid(),
        exchange: exchange.clone(),
    };
    let mut listeners = exchange.told.lock();
    let over = listeners.over;
    if !over {
        listeners.reader = Some(reader);
    }
    drop(listeners);
    if over {
        let error = env.error_tuple(status_of(Fault::Timeout));
        let message = (atoms::mcp_http_body(), &exchange, error).encode(env);
        let _ = env.send(&env.pid(), message);
    } else {
        exchange.exchange.read_body();
    }
    atoms::ok()
}

/// The whole response.
#[rustler::nif]
fn http_reply<'a>(
    env: Env<'a>,
    exchange: ResourceArc<ExchangeResource>,
    status: u16,
    headers: Vec<(Binary<'a>, Binary<'a>)>,
    body: Term<'a>,
) -> NifResult<Atom> {
    let answer = answer(env, status, &headers, body)?;
    Ok(outcome(exchange.exchange.reply(answer)))
}

/// Head and first bytes of a response that stays open.
#[rustler::nif]
fn http_stream<'a>(
    env: Env<'a>,
    exchange: ResourceArc<ExchangeResource>,
    status: u16,
    headers: Vec<(Binary<'a>, Binary<'a>)>,
    first: Term<'a>,
) -> NifResult<Atom> {
    let head = answer(env, status, &headers, first)?;
    Ok(outcome(exchange.exchange.stream(head)))
}

/// More bytes of it.
#[rustler::nif]
fn http_chunk<'a>(
    env: Env<'a>,
    exchange: ResourceArc<ExchangeResource>,
    chunk: Term<'a>,
) -> NifResult<Atom> {
    let bytes = bytes(env, chunk)?;
    Ok(outcome(exchange.exchange.chunk(bytes)))
}

/// The end of it.
#[rustler::nif]
fn http_finish(exchange: ResourceArc<ExchangeResource>) -> Atom {
    exchange.exchange.finish();
    atoms::ok()
}

/// Cuts the connection.
#[rustler::nif]
fn http_abort(exchange: ResourceArc<ExchangeResource>) -> Atom {
    exchange.exchange.abort();
    atoms::ok()
}

fn outcome(taken: bool) -> Atom {
    if taken { atoms::ok() } else { atoms::closed() }
}

/// Status, headers and body as the listener writes them. A header that could end early, and so begin
/// another, is a mistake of the caller's.
fn answer<'a>(
    env: Env<'a>,
    status: u16,
    headers: &[(Binary<'a>, Binary<'a>)],
    body: Term<'a>,
) -> NifResult<Answer> {
    let mut map = HeaderMap::with_capacity(headers.len());
    for (name, value) in headers {
        let name = HeaderName::from_bytes(name).map_err(|_| Error::BadArg)?;
        map.append(name, header_value(value)?);
    }
    Ok(Answer {
        status: StatusCode::from_u16(status).map_err(|_| Error::BadArg)?,
        headers: map,
        body: bytes(env, body)?.into(),
    })
}

fn header_value(value: &[u8]) -> NifResult<HeaderValue> {
    // The one that nearly every answer has.
    const JSON: &str = "application/json";
    if value == JSON.as_bytes() {
        return Ok(HeaderValue::from_static(JSON));
    }
    HeaderValue::from_bytes(value).map_err(|_| Error::BadArg)
}

/// The bytes of an iolist, copied once where it is a binary or a list of binaries.
fn bytes<'a>(env: Env<'a>, data: Term<'a>) -> NifResult<Bytes> {
    let copied = if data.is_binary() {
        Bytes::copy_from_slice(&Binary::from_term(data)?)
    } else if let Some(joined) = joined(data) {
        Bytes::from(joined)
    } else {
        Bytes::copy_from_slice(&Binary::from_iolist(data)?)
    };
    report_work(env, copied.len() / 16);
    Ok(copied)
}

/// A list of binaries as one; `None` for any other term.
fn joined(data: Term<'_>) -> Option<Vec<u8>> {
    let pieces = data.decode::<ListIterator<'_>>().ok()?;
    let pieces: Vec<Binary<'_>> = pieces
        .map(|piece| Binary::from_term(piece).ok())
        .collect::<Option<_>>()?;
    let length = pieces.iter().map(|piece| piece.len()).sum();
    let mut joined = Vec::with_capacity(length);
    for piece in &pieces {
        joined.extend_from_slice(piece);
    }
    Some(joined)
}
