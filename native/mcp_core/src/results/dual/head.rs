//! Judging a head before the body is read.

use super::endpoint::Endpoint;
use super::refusal::{Refusal, refuse};
use super::signature::Capability;
use super::{id, refusal};
use crate::http::{Foreign, Head, HttpAnswer, check_site, cors, declared_length, weigh};

/// What a request wants of a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// To know about it.
    Metadata,
    /// Its rows.
    Fetch,
    /// That it does not expire.
    Pin,
    /// That it is gone.
    Delete,
}

/// How rows are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object with some of them.
    Page,
    /// All of them, a JSON text a line.
    Ndjson,
    /// All of them, as comma-separated values.
    Csv,
}

/// A head that was let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// What is wanted.
    pub action: Action,
    /// Of which resource.
    pub id: String,
    /// How the rows are to be sent; [`Form::Page`] where none are.
    pub form: Form,
    /// What the URL itself allows.
    pub capability: Capability,
    /// The headers that every answer has so that the page which asks can read it; none for others.
    pub cors_headers: Vec<(&'static str, String)>,
}

/// The methods that there are, as `Allow` has them.
const ALLOW: &str = "GET, HEAD, POST, PUT, DELETE";

/// What a page of another origin may send, and read of an answer.
const METHODS: &str = "GET, POST, PUT, DELETE";
const EXPOSED: &str = "WWW-Authenticate, Retry-After, X-Total-Count, DPoP-Nonce";

/// Judges a head: Host and Origin (403), the id (404), method (405), what is accepted (406), declared
/// size (413).
///
/// # Errors
/// The finished answer: the refusal, or what a browser's preflight asks for. Of an id that no resource can have the
/// refusal is the same as of one that none has.
pub fn check_head(endpoint: &Endpoint, head: &Head<'_>) -> Result<Wanted, HttpAnswer> {
    let cors_headers = cors::headers(endpoint.policy(), head, EXPOSED);
    match judge(endpoint, head, !cors_headers.is_empty()) {
        Ok(wanted) => Ok(Wanted {
            cors_headers,
            ..wanted
        }),
        Err(mut answer) => {
            answer.headers.extend(cors_headers);
            Err(answer)
        }
    }
}

fn judge(endpoint: &Endpoint, head: &Head<'_>, is_page: bool) -> Result<Wanted, HttpAnswer> {
    check_site(endpoint.policy(), head).map_err(foreign)?;
    // Whatever the path: a preflight must tell no id from another.
    if is_page && cors::is_preflight(head) {
        return Err(cors::preflight(METHODS));
    }
    let (path, query) = head.target.split_once('?').unwrap_or((head.target, ""));
    let id = endpoint.below(path).and_then(id::in_path);
    let id = id.ok_or_else(|| refuse(&Refusal::NotFound))?;
    let action = action(head.method)?;
    let form = form(action, head)?;
    let length = declared_length(head).map_err(refusal::invalid_request)?;
    let max_bytes = endpoint.max_body_bytes();
    if length.is_some_and(|length| length > max_bytes) {
        return Err(refuse(&Refusal::PayloadTooLarge(max_bytes)));
    }
    Ok(Wanted {
        action,
        id: id.to_owned(),
        form,
        capability: Capability::in_query(query),
        cors_headers: Vec::new(),
    })
}

fn foreign(why: Foreign) -> HttpAnswer {
    match why {
        Foreign::NoHost | Foreign::ManyHosts => refusal::invalid_request(why.text()),
        Foreign::Host | Foreign::Origin => refusal::forbidden(why.text()),
    }
}

fn action(method: &str) -> Result<Action, HttpAnswer> {
    match method {
        "GET" | "HEAD" => Ok(Action::Metadata),
        "POST" => Ok(Action::Fetch),
        "PUT" => Ok(Action::Pin),
        "DELETE" => Ok(Action::Delete),
        _ => Err(refusal::method_not_allowed(ALLOW)),
    }
}

/// One JSON object, unless the client would rather have something else.
fn form(action: Action, head: &Head<'_>) -> Result<Form, HttpAnswer> {
    let [page, ndjson, csv] = weigh(
        head,
        [
            ("application", "json"),
            ("application", "x-ndjson"),
            ("text", "csv"),
        ],
    );
    let choices: &[_] = match action {
        Action::Fetch => &[(Form::Page, page), (Form::Ndjson, ndjson), (Form::Csv, csv)],
        Action::Metadata | Action::Pin => &[(Form::Page, page)],
        // There is nothing to send.
        Action::Delete => return Ok(Form::Page),
    };
    let mut best = None;
    for (form, weight) in choices.iter().filter(|(_, weight)| weight.is_acceptable()) {
        if best.is_none_or(|(_, found)| found < *weight) {
            best = Some((*form, *weight));
        }
    }
    best.map(|(form, _)| form)
        .ok_or_else(|| refusal::not_acceptable(action == Action::Fetch))
}
