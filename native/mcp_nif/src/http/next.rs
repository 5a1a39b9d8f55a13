//! Judges the bytes received on a connection: incomplete, answered at once, or work for a process.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::time::{SystemTime, UNIX_EPOCH};

use mcp_core::auth::{Denial, TokenDigest, Verdict};
use mcp_core::http::{self, AcceptedHead, Head, HeadAnswer, HttpAnswer, Verb, check_head};
use mcp_core::http1::{Framing, HeadError, Limits, Progress, RequestHead, Version, read_head};
use mcp_core::protocol::{Admission, Answer, Context, SessionContext, admit};
use rustler::{Atom, Binary, Encoder, Env, Error, NifResult, ResourceArc, Term};

use super::response;
use super::rules::{AcceptedHeadResource, PolicyResource, answer_terms, context_term};
use crate::atoms;
use crate::counters::{count, count_http};
use crate::dirty::{Effort, twins};
use crate::guard::GuardResource;
use crate::protocol::admission::{Judged, opening_term, request_fields};
use crate::protocol::{CatalogResource, GivenLimits};
use crate::resources::{INLINE_BYTES, binary_term, report_work};
use crate::schema::Allowance;

/// The server of a socket, and its rules.
pub(crate) struct ServiceResource {
    policy: ResourceArc<PolicyResource>,
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    /// Whether a hook sees each request before its body is read.
    hooks: bool,
    /// The check of tokens, if the endpoint requires them.
    guard: Option<ResourceArc<GuardResource>>,
    /// The paths of the other handlers on this socket.
    routes: Vec<String>,
    head: Limits,
}

#[rustler::resource_impl]
impl rustler::Resource for ServiceResource {}

impl ServiceResource {
    /// The index of the route that contains a target.
    fn route(&self, target: &str) -> Option<usize> {
        let path = target.split('?').next().unwrap_or_default();
        self.routes.iter().position(|route| {
            path.strip_prefix(route.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

#[rustler::nif]
fn http_service(
    env: Env<'_>,
    policy: ResourceArc<PolicyResource>,
    catalog: ResourceArc<CatalogResource>,
    limits: GivenLimits,
    (hooks, guard): (bool, Option<ResourceArc<GuardResource>>),
    routes: Vec<String>,
    (max_head_bytes, max_fields): (usize, usize),
) -> Term<'_> {
    let service = ServiceResource {
        policy,
        catalog,
        limits,
        hooks,
        guard,
        routes,
        head: Limits {
            max_head_bytes,
            max_fields,
        },
    };
    ResourceArc::new(service).encode(env)
}

twins!("http_next": http_next_inline, http_next_dirty(
    service: ResourceArc<ServiceResource>,
    buffer: Binary<'a>,
    scanned: usize,
) => judge(service, buffer, scanned));

fn judge<'a>(
    env: Env<'a>,
    service: ResourceArc<ServiceResource>,
    buffer: Binary<'a>,
    scanned: usize,
    effort: Effort,
) -> NifResult<Term<'a>> {
    let bytes = buffer.as_slice();
    report_work(env, bytes.len().min(INLINE_BYTES));
    let head = match read_head(bytes, scanned, &service.head) {
        Ok(Progress::Complete(head)) => head,
        Ok(Progress::Partial { scanned }) => return Ok((atoms::more(), scanned).encode(env)),
        Err(error) => return unreadable(env, &error, bytes.len()),
    };
    Incoming {
        env,
        service: &service,
        bytes,
        flow: Flow::of(&head),
        head,
        token: None,
    }
    .judge(effort)
}

/// Refuses an unreadable head: the rest of the bytes cannot be read as requests.
fn unreadable<'a>(env: Env<'a>, error: &HeadError, arrived: usize) -> NifResult<Term<'a>> {
    let answer = match error {
        HeadError::TargetTooLong => http::target_too_long(),
        HeadError::TooLarge => http::head_too_large(),
        error => HttpAnswer {
            status: error.status(),
            ..http::malformed()
        },
    };
    count_http(answer.status);
    let response = binary_term(env, response::finished(&answer, true, false)?);
    let rest = (atoms::chunked(), atoms::close());
    Ok((atoms::refuse(), response, arrived, rest.0, rest.1).encode(env))
}

/// The state of the connection after the response.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    KeepAlive,
    Close,
    /// HTTP/1.0: a body without a length ends with the connection.
    UntilClose,
}

impl Flow {
    fn of(head: &RequestHead<'_>) -> Self {
        match (head.version, head.keep_alive) {
            (Version::Http10, _) => Self::UntilClose,
            (Version::Http11, true) => Self::KeepAlive,
            (Version::Http11, false) => Self::Close,
        }
    }

    fn closes(self) -> bool {
        self != Self::KeepAlive
    }

    fn term(self, env: Env<'_>) -> Term<'_> {
        match self {
            Self::KeepAlive => atoms::keep_alive(),
            Self::Close => atoms::close(),
            Self::UntilClose => atoms::until_close(),
        }
        .to_term(env)
    }
}

/// A request with a complete head.
struct Incoming<'g, 'a> {
    env: Env<'a>,
    service: &'g ServiceResource,
    bytes: &'a [u8],
    head: RequestHead<'a>,
    flow: Flow,
    /// The verified token of the request.
    token: Option<TokenDigest>,
}

impl<'a> Incoming<'_, 'a> {
    fn judge(mut self, effort: Effort) -> NifResult<Term<'a>> {
        let (authority, target) = parts(self.head.target);
        if let Some(index) = self.service.route(target) {
            return Ok(self.routed(index));
        }
        let head = Head {
            method: self.head.method,
            target,
            authority,
            headers: &self.head.fields,
        };
        let accepted = match check_head(&self.service.policy.0, &head) {
            Ok(accepted) => accepted,
            Err(refused) if refused.behind_identity => return self.unfit(&head, *refused),
            Err(refused) => return self.refuse(&refused.finished()),
        };
        if let Some(guard) = &self.service.guard {
            match guard.judge(&head, seconds_since_1970()) {
                Verdict::Known(digest) => self.token = Some(digest),
                Verdict::Denied(denial) => return self.deny(guard, denial, accepted.cors_headers),
                Verdict::Open => return self.for_process(accepted),
            }
        }
        if self.is_message(&accepted) {
            return self.message(&accepted, effort);
        }
        match self.of_session(&accepted) {
            Some(request) => Ok(request),
            None => self.for_process(accepted),
        }
    }

    /// The refusal of a head, once its client is identified.
    fn unfit(&self, head: &Head<'_>, refused: HeadAnswer) -> NifResult<Term<'a>> {
        let verdict = self
            .service
            .guard
            .as_ref()
            .map(|guard| (guard, guard.judge(head, seconds_since_1970())));
        match verdict {
            Some((guard, Verdict::Denied(denial))) => {
                self.deny(guard, denial, refused.cors_headers)
            }
            Some((_, Verdict::Known(_))) => self.refuse(&refused.finished()),
            None if !self.service.hooks => self.refuse(&refused.finished()),
            Some((_, Verdict::Open)) | None => Ok((
                atoms::unfit(),
                (answer_terms(self.env, refused.answer), refused.cors_headers),
                self.head.method == "HEAD",
                self.head.bytes,
                self.framing(),
                self.flow.term(self.env),
            )
                .encode(self.env)),
        }
    }

    /// The refusal of a token, with its name for metrics.
    fn deny(
        &self,
        guard: &GuardResource,
        denial: Denial,
        cors_headers: Vec<(&'static str, String)>,
    ) -> NifResult<Term<'a>> {
        let scopes: Vec<&str> = guard.scopes.iter().map(String::as_str).collect();
        let metadata = self.service.policy.0.metadata_url();
        let mut answer = denial.answer(&scopes, metadata);
        answer.headers.extend(cors_headers);
        // The atom cannot come from input: the name is a constant of the core.
        let name = Atom::from_str(self.env, denial.name())?;
        Ok((atoms::denied(), name, self.respond(&answer)?).encode(self.env))
    }

    /// Adds the token to a judged request, and the position of the request's end in case it is
    /// judged again.
    fn identified(&self, judged: impl Encoder, end: usize) -> Term<'a> {
        let Some(digest) = self.token else {
            return judged.encode(self.env);
        };
        let token = binary_term(self.env, digest.to_vec());
        (atoms::known(), token, (self.head.bytes, end), judged).encode(self.env)
    }

    /// Whether the core alone may admit the request.
    fn is_message(&self, accepted: &AcceptedHead) -> bool {
        self.is_open(accepted) && accepted.session_id.is_none()
    }

    fn is_open(&self, accepted: &AcceptedHead) -> bool {
        !self.service.hooks
            && accepted.verb == Verb::Post
            && accepted.cors_headers.is_empty()
            && self.head.framing != Framing::Chunked
    }

    /// Admits a complete request of a session by the revision in its head. Elixir checks later that
    /// the session exists and has this revision. A session's other messages wait for that check.
    fn of_session(&self, accepted: &AcceptedHead) -> Option<Term<'a>> {
        let id = accepted
            .session_id
            .as_deref()
            .filter(|_| self.is_open(accepted))?;
        let revision = accepted.session_revision()?;
        let (body, end) = self.body().filter(|(body, _)| body.len() <= INLINE_BYTES)?;
        let context = Context {
            session: Some(SessionContext { revision }),
            http: Some(accepted),
            anonymous: None,
        };
        let service = self.service;
        let limits = service.limits.get().with_max_bytes(body.len());
        let Admission::Request(request) = admit(&service.catalog.0, context, body, &limits) else {
            return None;
        };
        let allowance = Allowance::of(Effort::Inline);
        match request_fields(self.env, &service.catalog, &request, &allowance) {
            Judged::Fields(fields) => {
                let request = (
                    atoms::session_request(),
                    (id, revision.as_str()),
                    fields,
                    accepted.accepts_events,
                    (self.head.bytes, end),
                    self.flow.term(self.env),
                );
                Some(self.identified(request, end))
            }
            Judged::Refused(_) | Judged::TooLong => None,
        }
    }

    /// The length of the body, if the head states it.
    fn length(&self) -> Option<usize> {
        match self.head.framing {
            Framing::Empty => Some(0),
            Framing::Length(length) => usize::try_from(length).ok(),
            Framing::Chunked => None,
        }
    }

    /// The complete body and the end of the request.
    fn body(&self) -> Option<(&'a [u8], usize)> {
        let end = self.head.bytes.checked_add(self.length()?)?;
        Some((self.bytes.get(self.head.bytes..end)?, end))
    }

    fn refuse(&self, answer: &HttpAnswer) -> NifResult<Term<'a>> {
        count_http(answer.status);
        self.respond(answer)
    }

    fn respond(&self, answer: &HttpAnswer) -> NifResult<Term<'a>> {
        let is_head = self.head.method == "HEAD";
        if let Some((_, end)) = self.body() {
            let response = response::finished(answer, self.flow.closes(), is_head)?;
            return Ok(self.reply(binary_term(self.env, response), end));
        }
        let response = binary_term(self.env, response::finished(answer, true, is_head)?);
        let framing = self.framing();
        let close = atoms::close();
        Ok((atoms::refuse(), response, self.head.bytes, framing, close).encode(self.env))
    }

    fn reply(&self, response: Term<'a>, used: usize) -> Term<'a> {
        (atoms::reply(), response, used, self.flow.term(self.env)).encode(self.env)
    }

    fn framing(&self) -> Term<'a> {
        match self.head.framing {
            Framing::Empty => atoms::empty().to_term(self.env),
            Framing::Length(length) => (atoms::length(), length).encode(self.env),
            Framing::Chunked => atoms::chunked().to_term(self.env),
        }
    }

    fn routed(&self, index: usize) -> Term<'a> {
        (
            atoms::route(),
            index,
            self.head.method == "HEAD",
            self.head.bytes,
            self.framing(),
            self.head.expects_continue,
            self.flow.term(self.env),
        )
            .encode(self.env)
    }

    fn for_process(&self, accepted: AcceptedHead) -> NifResult<Term<'a>> {
        let context = context_term(self.env, &accepted)?;
        let head = (
            atoms::head(),
            ResourceArc::new(AcceptedHeadResource(accepted)),
            context,
            self.head.bytes,
            self.framing(),
            self.head.expects_continue,
            self.flow.term(self.env),
        );
        Ok(self.identified(head, self.head.bytes))
    }

    fn message(&self, accepted: &AcceptedHead, effort: Effort) -> NifResult<Term<'a>> {
        let Some((body, end)) = self.body() else {
            let expects = self.head.expects_continue;
            let wanted = (atoms::body(), self.head.bytes, self.length(), expects);
            return Ok(wanted.encode(self.env));
        };
        if effort == Effort::Inline && body.len() > INLINE_BYTES {
            return Ok(atoms::over_budget().to_term(self.env));
        }
        let service = self.service;
        let context = Context {
            session: None,
            http: Some(accepted),
            anonymous: None,
        };
        let limits = service.limits.get().with_max_bytes(body.len());
        match admit(&service.catalog.0, context, body, &limits) {
            Admission::Answer(answer) => self.answer(&answer, end),
            Admission::Prebuilt {
                answered,
                head,
                tail,
            } => {
                count(answered);
                let head = response::json(200, &head, tail.len(), self.flow.closes())?;
                // The tail lives as long as the catalogue, so the term refers to it without a copy.
                let tail = service
                    .catalog
                    .make_binary(self.env, |_| tail)
                    .to_term(self.env);
                let response = vec![binary_term(self.env, head), tail].encode(self.env);
                Ok(self.reply(response, end))
            }
            Admission::Request(request) => {
                let allowance = Allowance::of(effort);
                match request_fields(self.env, &service.catalog, &request, &allowance) {
                    Judged::Fields(fields) => {
                        let events = accepted.accepts_events;
                        let flow = self.flow.term(self.env);
                        let request = (atoms::request(), fields, events, end, flow);
                        Ok(self.identified(request, end))
                    }
                    Judged::Refused(answer) => self.answer(&answer, end),
                    Judged::TooLong => Ok(atoms::over_budget().to_term(self.env)),
                }
            }
            Admission::Open(opening) => {
                let opened = opening_term(self.env, &opening)?;
                let open = (atoms::open(), opened, end, self.flow.term(self.env));
                Ok(self.identified(open, end))
            }
            // Without a session no process handles these messages.
            Admission::Ignored
            | Admission::Notification(_)
            | Admission::Response { .. }
            | Admission::TokenRequired
            | Admission::Batch(_) => {
                let response = response::accepted(self.flow.closes())?;
                Ok(self.reply(binary_term(self.env, response), end))
            }
        }
    }

    fn answer(&self, answer: &Answer, end: usize) -> NifResult<Term<'a>> {
        count(answer.answered);
        let response = response::json(answer.status, &answer.body, 0, self.flow.closes())?;
        Ok(self.reply(binary_term(self.env, response), end))
    }
}

fn seconds_since_1970() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

/// The authority of an absolute target, and the path with the query.
fn parts(target: &str) -> (Option<&str>, &str) {
    let Some((_, rest)) = target
        .split_once("://")
        .filter(|_| !target.starts_with('/'))
    else {
        return (None, target);
    };
    match rest.find('/') {
        Some(path) => rest
            .split_at_checked(path)
            .map_or((None, target), |(authority, path)| (Some(authority), path)),
        None => (Some(rest.split('?').next().unwrap_or(rest)), "/"),
    }
}

/// The head for hooks and other nodes: `%{method, target, authority, headers}`.
#[rustler::nif]
fn http_head_fields<'a>(env: Env<'a>, head: Binary<'a>) -> NifResult<Term<'a>> {
    let limits = Limits {
        max_head_bytes: usize::MAX,
        max_fields: usize::MAX,
    };
    let Ok(Progress::Complete(head)) = read_head(head.as_slice(), 0, &limits) else {
        return Err(Error::BadArg);
    };
    let (authority, target) = parts(head.target);
    let headers: Vec<(&str, Term<'a>)> = head
        .fields
        .iter()
        .map(|(name, value)| (*name, binary_term(env, value.to_vec())))
        .collect();
    let members = [
        (atoms::method(), head.method.encode(env)),
        (atoms::target(), target.encode(env)),
        (atoms::authority(), authority.encode(env)),
        (atoms::headers(), headers.encode(env)),
    ];
    Term::map_from_pairs(env, &members)
}
