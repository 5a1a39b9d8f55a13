//! What stands between the listener and the processes: the core judges, and what is work goes to a
//! process.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use mcp_core::http::{self, Head, HttpAnswer, Screened, Verb, screen};
use mcp_core::protocol::{self, Admission, Facts, Opening, Request, admit};
use mcp_listener::header::{HeaderName, HeaderValue};
use mcp_listener::{
    Answer, Bytes, Call, Fault, HeaderMap, RequestHead, Service, StatusCode, Verdict,
};
use rustler::env::SavedTerm;
use rustler::{Encoder, LocalPid, OwnedEnv, ResourceArc};

use super::exchange::{ExchangeResource, body_term};
use super::head::OwnedHead;
use super::mailbox::{send, with_env};
use super::rest::{Asked, Rest};
use super::rules::{PolicyResource, ScreenedResource};
use super::served::Served;
use crate::atoms;
use crate::protocol::admission::{Judged, opening_term, request_fields};
use crate::protocol::{CatalogResource, GivenLimits};
use crate::schema::{Allowance, Effort};

/// Who is served, by which rules, and who does the work.
pub(crate) struct Gate {
    policy: ResourceArc<PolicyResource>,
    limits: GivenLimits,
    /// Whether a hook has to see every request before its body is read.
    raw: bool,
    catalog: RwLock<Arc<Served>>,
    workers: RwLock<Arc<[LocalPid]>>,
    next: AtomicUsize,
    /// Where stored results are served too.
    rest: Option<Rest>,
}

/// What is remembered of a head until its body is there.
pub(crate) enum Waiting {
    /// For a message.
    Message {
        screened: Screened,
        /// The head itself, where a process has to see it.
        head: Option<OwnedHead>,
    },
    /// For what is asked of a stored result.
    Result(Asked),
}

/// What became of a body.
enum Admitted {
    /// It has its answer.
    Answered(Box<Answer>),
    /// A worker will answer it.
    Passed,
    /// Looking at its arguments takes longer than a thread that serves other connections can be kept: a
    /// process has to.
    TooLong,
}

impl From<Answer> for Admitted {
    fn from(answer: Answer) -> Self {
        Self::Answered(Box::new(answer))
    }
}

/// Seconds after which a client that met no worker may come back.
const RETRY_AFTER: u32 = 1;

impl Gate {
    pub(super) fn new(
        policy: ResourceArc<PolicyResource>,
        limits: GivenLimits,
        raw: bool,
        catalog: ResourceArc<CatalogResource>,
        rest: Option<Rest>,
    ) -> Self {
        Self {
            policy,
            limits,
            raw,
            catalog: RwLock::new(Arc::new(Served::new(catalog))),
            workers: RwLock::new(Arc::new([])),
            next: AtomicUsize::new(0),
            rest,
        }
    }

    pub(super) fn rest(&self) -> Option<&Rest> {
        self.rest.as_ref()
    }

    pub(super) fn set_catalog(&self, catalog: ResourceArc<CatalogResource>) {
        let served = Arc::new(Served::new(catalog));
        let mut current = self.catalog.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *current, served);
        drop(current);
        drop(before);
    }

    pub(super) fn set_workers(&self, workers: Vec<LocalPid>) {
        *self.workers.write().unwrap_or_else(PoisonError::into_inner) = workers.into();
    }

    fn served(&self) -> Arc<Served> {
        let served = self.catalog.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&served)
    }

    /// The workers, beginning with the one whose turn it is.
    fn turn(&self) -> Turn {
        let workers = self.workers.read().unwrap_or_else(PoisonError::into_inner);
        Turn {
            workers: Arc::clone(&workers),
            next: self.next.fetch_add(1, Ordering::Relaxed),
            left: workers.len(),
        }
    }

    fn max_body(&self) -> usize {
        usize::try_from(self.policy.0.max_body_bytes()).unwrap_or(usize::MAX)
    }

    /// Admits a body that belongs to no session.
    fn admit(&self, screened: &Screened, body: &[u8], call: &mut Call) -> Admitted {
        let served = self.served();
        let facts = Facts {
            session: None,
            http: Some(screened),
        };
        // The listener has counted it.
        let limits = self.limits.get().with_max_bytes(body.len());
        match admit(&served.catalog.0, facts, body, &limits) {
            Admission::Answer(answer) => message(answer).into(),
            Admission::Kept { head, tail } => {
                let body = served.payload(head, tail);
                Answer::json(StatusCode::OK, body).into()
            }
            Admission::Request(request) => self.work(&served, &request, screened, call),
            Admission::Open(opening) => {
                let refused = self.open(&opening, call);
                refused.map_or(Admitted::Passed, Admitted::from)
            }
            // It belongs to no session, so it concerns nobody.
            Admission::Ignored
            | Admission::Notice(_)
            | Admission::Response { .. }
            | Admission::Batch(_) => Answer::empty(StatusCode::ACCEPTED).into(),
        }
    }

    /// Hands a request to a worker.
    fn work(
        &self,
        served: &Served,
        request: &Request<'_>,
        screened: &Screened,
        call: &mut Call,
    ) -> Admitted {
        let mut exchange = None;
        for worker in self.turn() {
            let posted = with_env(|env| match announcement(env, served, request, screened) {
                Ok(announcement) => {
                    let exchange = exchange.get_or_insert_with(|| ExchangeResource::open(call));
                    ExchangeResource::give(exchange, worker);
                    let sent = env.send_and_clear(&worker, |env| {
                        (atoms::mcp_http(), &*exchange, announcement.load(env)).encode(env)
                    });
                    sent.ok().map(|()| Admitted::Passed)
                }
                Err(unsent) => {
                    env.clear();
                    Some(unsent)
                }
            });
            if let Some(admitted) = posted {
                return admitted;
            }
            // The worker is no more.
            exchange.iter().for_each(ExchangeResource::take_back);
        }
        nobody().into()
    }

    /// Has a worker open a session.
    fn open(&self, opening: &Opening<'_>, call: &mut Call) -> Option<Answer> {
        let exchange = ExchangeResource::open(call);
        let sent = self.turn().any(|worker| {
            send(worker, |env| {
                let opening = opening_term(env, opening);
                opening.map_or_else(
                    |_| atoms::nil().to_term(env),
                    |opening| (atoms::mcp_http(), &exchange, opening).encode(env),
                )
            })
        });
        (!sent).then(nobody)
    }

    /// Has a worker look at the head.
    fn hand(
        &self,
        screened: Screened,
        head: &OwnedHead,
        body: Option<&Bytes>,
        call: &mut Call,
    ) -> Option<Answer> {
        let exchange = ExchangeResource::open(call);
        let screened = ResourceArc::new(ScreenedResource(screened));
        let sent = self.turn().any(|worker| {
            send(worker, |env| {
                let body =
                    body.map_or_else(|| atoms::unread().to_term(env), |body| body_term(env, body));
                let message = head.term(env, &screened);
                (atoms::mcp_http(), &exchange, message, body).encode(env)
            })
        });
        (!sent).then(nobody)
    }
}

impl Service for Gate {
    type Head = Waiting;

    fn head(&self, head: &RequestHead<'_>) -> Verdict<Waiting> {
        let headers: Vec<(&str, &[u8])> = head
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let judged = Head {
            method: head.method(),
            target: head.target(),
            authority: head.authority(),
            headers: &headers,
        };
        if let Some(rest) = self.rest.as_ref().filter(|rest| rest.covers(judged.target)) {
            return match rest.screen(&judged, head) {
                Ok(asked) => Verdict::Read {
                    head: Waiting::Result(asked),
                    max_bytes: rest.max_body(),
                },
                Err(answer) => Verdict::Answer(finished(answer)),
            };
        }
        let screened = match screen(&self.policy.0, &judged) {
            Ok(screened) => screened,
            Err(answer) => return Verdict::Answer(finished(answer)),
        };
        let native = !self.raw && screened.verb == Verb::Post && screened.session_id.is_none();
        let waiting = Waiting::Message {
            screened,
            head: (!native).then(|| OwnedHead::of(head)),
        };
        let max_bytes = self.max_body();
        if self.raw {
            return Verdict::Defer {
                head: waiting,
                max_bytes,
            };
        }
        Verdict::Read {
            head: waiting,
            max_bytes,
        }
    }

    fn call(&self, waiting: Waiting, body: Option<Bytes>, call: &mut Call) -> Option<Answer> {
        let (screened, head) = match waiting {
            Waiting::Message { screened, head } => (screened, head),
            Waiting::Result(asked) => {
                let body = body.unwrap_or_default();
                return self.rest.as_ref()?.call(&asked, &body, call);
            }
        };
        if let Some(head) = head {
            return self.hand(screened, &head, body.as_ref(), call);
        }
        let body = body.unwrap_or_default();
        match self.admit(&screened, &body, call) {
            Admitted::Answered(answer) => Some(*answer),
            Admitted::Passed => None,
            // Where there is no hook, nobody asks for the head.
            Admitted::TooLong => self.hand(screened, &OwnedHead::unseen(), Some(&body), call),
        }
    }

    fn refuse_body(&self, waiting: &Waiting, fault: Fault) -> Answer {
        match (waiting, &self.rest) {
            (Waiting::Result(_), Some(rest)) => rest.refuse(fault),
            _ => self.refuse(fault),
        }
    }

    fn refuse(&self, fault: Fault) -> Answer {
        finished(match fault {
            Fault::Malformed => http::malformed(),
            Fault::Timeout => http::request_timeout(),
            Fault::TooLarge => http::payload_too_large(self.policy.0.max_body_bytes()),
            Fault::Internal => http::internal_error(),
            Fault::Overloaded => http::overloaded(RETRY_AFTER),
        })
    }
}

/// `{:request, fields, whether it may be answered with events}`, or why there is nothing to send.
fn announcement(
    env: &OwnedEnv,
    served: &Served,
    request: &Request<'_>,
    screened: &Screened,
) -> Result<SavedTerm, Admitted> {
    env.run(|terms| {
        // No scheduler waits for this thread, but other connections do.
        match request_fields(
            terms,
            &served.catalog.0,
            request,
            &Allowance::of(Effort::Inline),
        ) {
            Judged::Fields(fields) => {
                Ok(env.save((atoms::request(), fields, screened.accepts_events)))
            }
            Judged::Refused(answer) => Err(message(answer).into()),
            Judged::TooLong => Err(Admitted::TooLong),
        }
    })
}

/// The status that a fault is answered with.
pub(super) fn status_of(fault: Fault) -> u16 {
    match fault {
        Fault::Malformed => 400,
        Fault::Timeout => 408,
        Fault::TooLarge => 413,
        Fault::Internal => 500,
        Fault::Overloaded => 503,
    }
}

fn nobody() -> Answer {
    finished(http::overloaded(RETRY_AFTER))
}

/// The core's answer to a message, as the listener writes it.
fn message(answer: protocol::Answer) -> Answer {
    Answer::json(status(answer.status), answer.body)
}

/// The core's answer to a head, as the listener writes it.
pub(super) fn finished(answer: HttpAnswer) -> Answer {
    let mut headers = HeaderMap::with_capacity(answer.headers.len());
    for (name, value) in answer.headers {
        // The core's headers are sound.
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.append(HeaderName::from_static(name), value);
        }
    }
    Answer {
        status: status(answer.status),
        headers,
        body: answer.body.into(),
    }
}

fn status(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

/// Each worker once.
struct Turn {
    workers: Arc<[LocalPid]>,
    next: usize,
    left: usize,
}

impl Iterator for Turn {
    type Item = LocalPid;

    fn next(&mut self) -> Option<LocalPid> {
        self.left = self.left.checked_sub(1)?;
        let place = self.next.checked_rem(self.workers.len())?;
        self.next = self.next.wrapping_add(1);
        self.workers.get(place).copied()
    }
}
