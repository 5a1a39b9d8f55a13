//! Checks a head before the body is read.

use super::accept::Accepts;
use super::answer::{self, HttpAnswer};
use super::cors;
use super::event_id::{EventId, LastEventId};
use super::head::{Field, Head, printable};
use super::host_and_origin::{self, Foreign};
use super::media::{check_content, declared_length};
use super::metadata::Metadata;
use super::mirrored_headers::{MirroredHeader, MirroredHeaders};
use super::policy::Policy;
use crate::revision::{Era, Revision};

/// The longest session id. Some ids contain the sealed session.
const MAX_SESSION_ID_BYTES: usize = 512;

/// The methods that a page of another origin may use, and the response headers it may read.
const METHODS: &str = "POST, GET, DELETE";
const EXPOSED: &str = "WWW-Authenticate, Mcp-Session-Id, Retry-After, DPoP-Nonce";

/// The action of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Send a message.
    Post,
    /// Open or resume a stream of the session.
    Get,
    /// End the session.
    Delete,
}

/// A head that passed the checks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AcceptedHead {
    /// The action.
    pub verb: Verb,
    /// `Mcp-Session-Id` of the session era. The empty string stands for all malformed ids: the
    /// look-up finds no session for it, as for an unknown id.
    pub session_id: Option<String>,
    /// `Last-Event-ID` of a GET.
    pub last_event_id: Option<LastEventId>,
    /// Whether the client accepts `application/json`.
    pub accepts_json: bool,
    /// Whether the client accepts `text/event-stream`.
    pub accepts_events: bool,
    /// The declared length of the body, within the policy's limit.
    pub content_length: Option<u64>,
    /// Whether the head alone puts the message into the stateless era.
    pub stateless: bool,
    /// The revisions of the endpoint, oldest first.
    pub revisions: &'static [Revision],
    /// The CORS headers of every response to a page of an allowed origin; empty for other clients.
    pub cors_headers: Vec<(&'static str, String)>,
    pub(crate) mirrored: MirroredHeaders,
}

impl AcceptedHead {
    /// The session-era revision that the head names. The session may have negotiated another one.
    #[must_use]
    pub fn session_revision(&self) -> Option<Revision> {
        match &self.mirrored.version {
            MirroredHeader::Says(name) => {
                Revision::parse(name).filter(|revision| revision.era() == Era::Session)
            }
            _ => None,
        }
    }
}

/// The response to a head that was not accepted: a refusal, the response to a browser's preflight,
/// or the requested protected resource metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadAnswer {
    /// The response without CORS headers.
    pub answer: HttpAnswer,
    /// The CORS headers of every response to a page of an allowed origin; empty for other clients.
    pub cors_headers: Vec<(&'static str, String)>,
    /// Whether only an identified client gets it. A client without credentials must learn where to
    /// get them, whatever else is wrong with its request (RFC 6750 section 3).
    pub behind_identity: bool,
}

impl HeadAnswer {
    /// The response with all headers.
    #[must_use]
    pub fn finished(self) -> HttpAnswer {
        let mut answer = self.answer;
        answer.headers.extend(self.cors_headers);
        answer
    }
}

/// Checks the head in this order: Host and Origin (403), path (404), method (405), content type
/// (415), `Accept` (406), declared size (413), version of a GET or DELETE (400), session (400).
///
/// # Errors
/// The finished response.
pub fn check_head(policy: &Policy, head: &Head<'_>) -> Result<AcceptedHead, Box<HeadAnswer>> {
    if let Some(metadata) = policy.metadata_at(head.path()) {
        return Err(Box::new(HeadAnswer {
            answer: public(policy, head, metadata),
            cors_headers: Vec::new(),
            behind_identity: false,
        }));
    }
    let cors_headers = cors::headers(policy, head, EXPOSED);
    let place = check_place(policy, head, !cors_headers.is_empty());
    let judged = place
        .map_err(|answer| (answer, false))
        .and_then(|()| judge(policy, head).map_err(|answer| (answer, true)));
    match judged {
        Ok(accepted) => Ok(AcceptedHead {
            cors_headers,
            ..accepted
        }),
        Err((answer, behind_identity)) => Err(Box::new(HeadAnswer {
            answer,
            cors_headers,
            behind_identity,
        })),
    }
}

/// The metadata document. It is public: pages of every origin read it before they have a token.
fn public(policy: &Policy, head: &Head<'_>, metadata: &Metadata) -> HttpAnswer {
    let answer = match host_and_origin::check_host(policy, head) {
        Err(why) => foreign(why),
        Ok(_) if cors::is_preflight(head) => cors::preflight(head, "GET"),
        Ok(_) => metadata.serve(head.method),
    };
    answer.with("access-control-allow-origin", "*")
}

/// Checks that the request is for the endpoint, and may be sent to it by the page that sends it.
fn check_place(policy: &Policy, head: &Head<'_>, is_page: bool) -> Result<(), HttpAnswer> {
    host_and_origin::check(policy, head).map_err(foreign)?;
    if !policy.serves(head.path()) {
        return Err(answer::no_such_path());
    }
    if is_page && cors::is_preflight(head) {
        return Err(cors::preflight(head, METHODS));
    }
    Ok(())
}

/// Checks a request to the endpoint.
fn judge(policy: &Policy, head: &Head<'_>) -> Result<AcceptedHead, HttpAnswer> {
    let mirrored = MirroredHeaders::read(head);
    let stateless = mirrored.is_stateless() || !policy.sessions();
    let verb = verb(head.method, stateless, policy.sessions())?;
    let accepts = Accepts::read(head);
    if verb == Verb::Post {
        check_content(head)?;
    }
    check_accepts(verb, accepts)?;
    let content_length = check_length(policy, head)?;
    // The version of a POST is checked with its body, which may name another era.
    if verb != Verb::Post {
        mirrored
            .check_session_version()
            .map_err(answer::faulty_version)?;
    }
    // The stateless era has no sessions, so the header is ignored.
    let session_id = if stateless { None } else { session_id(head)? };
    if verb != Verb::Post && session_id.is_none() {
        return Err(answer::bad_request("Mcp-Session-Id is missing"));
    }
    Ok(AcceptedHead {
        verb,
        session_id,
        last_event_id: (verb == Verb::Get).then(|| last_event_id(head)).flatten(),
        accepts_json: accepts.json,
        accepts_events: accepts.events,
        content_length,
        stateless,
        revisions: if policy.sessions() {
            &Revision::ALL
        } else {
            &Revision::STATELESS
        },
        cors_headers: Vec::new(),
        mirrored,
    })
}

fn foreign(why: Foreign) -> HttpAnswer {
    match why {
        Foreign::NoHost | Foreign::ManyHosts | Foreign::NotAHost => answer::bad_request(why.text()),
        Foreign::Host | Foreign::Origin => answer::foreign(why.text()),
    }
}

fn verb(method: &str, stateless: bool, sessions: bool) -> Result<Verb, HttpAnswer> {
    match method {
        "POST" => Ok(Verb::Post),
        "GET" if !stateless => Ok(Verb::Get),
        "DELETE" if !stateless => Ok(Verb::Delete),
        "GET" | "DELETE" => Err(answer::method_not_allowed("POST")),
        _ if sessions => Err(answer::method_not_allowed("POST, GET, DELETE")),
        _ => Err(answer::method_not_allowed("POST")),
    }
}

/// Checks that `Accept` allows the response type of the verb. Only the body shows whether a POST
/// needs a stream.
fn check_accepts(verb: Verb, accepts: Accepts) -> Result<(), HttpAnswer> {
    match verb {
        Verb::Post if !accepts.json => {
            Err(answer::not_acceptable("Accept must allow application/json"))
        }
        Verb::Get if !accepts.events => Err(answer::not_acceptable(
            "Accept must allow text/event-stream",
        )),
        _ => Ok(()),
    }
}

fn check_length(policy: &Policy, head: &Head<'_>) -> Result<Option<u64>, HttpAnswer> {
    let length = declared_length(head).map_err(answer::bad_request)?;
    let max_bytes = policy.max_body_bytes();
    if length.is_some_and(|length| length > max_bytes) {
        return Err(answer::payload_too_large(max_bytes));
    }
    Ok(length)
}

fn session_id(head: &Head<'_>) -> Result<Option<String>, HttpAnswer> {
    match head.field("mcp-session-id") {
        Field::Absent => Ok(None),
        Field::One(value) => Ok(Some(sound_session_id(value).unwrap_or_default().to_owned())),
        Field::Repeated => Err(answer::bad_request("Mcp-Session-Id must stand once")),
    }
}

fn sound_session_id(value: &[u8]) -> Option<&str> {
    let sound = value.len() <= MAX_SESSION_ID_BYTES && value.iter().all(u8::is_ascii_graphic);
    sound.then(|| std::str::from_utf8(value).ok()).flatten()
}

fn last_event_id(head: &Head<'_>) -> Option<LastEventId> {
    let id = match head.field("last-event-id") {
        Field::Absent => return None,
        Field::One(value) => printable(value).and_then(EventId::parse),
        Field::Repeated => None,
    };
    Some(id.map_or(LastEventId::Malformed, LastEventId::Event))
}
