//! Validates a head before the body is read.

use super::endpoint::Endpoint;
use super::refusal::{Refusal, refuse};
use super::signature::Capability;
use super::{id, refusal};
use crate::http::{Foreign, Head, HttpAnswer, check_site, cors, declared_length, weigh};

/// The requested action on a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Return its metadata.
    Metadata,
    /// Return its rows.
    Fetch,
    /// Keep it without expiry.
    Pin,
    /// Delete it.
    Delete,
}

/// The format of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One JSON object with a page of rows.
    Page,
    /// All rows, one JSON text per line.
    Ndjson,
    /// All rows as comma-separated values.
    Csv,
}

/// A valid head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The requested action.
    pub action: Action,
    /// The id of the resource.
    pub id: String,
    /// The format of the rows; [`Form::Page`] for actions without rows.
    pub form: Form,
    /// The permission in the URL.
    pub capability: Capability,
    /// The CORS headers of every response; empty if no page of another origin asks.
    pub cors_headers: Vec<(&'static str, String)>,
}

/// The supported methods, as in `Allow`.
const ALLOW: &str = "GET, HEAD, POST, PUT, DELETE";

/// The methods that a page of another origin may use, and the response headers that it may read.
const METHODS: &str = "GET, POST, PUT, DELETE";
const EXPOSED: &str = "WWW-Authenticate, Retry-After, X-Total-Count, DPoP-Nonce";

/// Validates a head: Host and Origin (400, 403), the id (404), the method (405), the accepted types
/// (406), and the declared size (400, 413).
///
/// # Errors
/// The complete response: the refusal, or the answer to a browser's preflight. An impossible id
/// gets the same refusal as an unknown one.
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
    // Regardless of the path: a preflight must not reveal which ids exist.
    if is_page && cors::is_preflight(head) {
        return Err(cors::preflight(head, METHODS));
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
        Foreign::NoHost | Foreign::ManyHosts | Foreign::NotAHost => {
            refusal::invalid_request(why.text())
        }
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

/// One JSON object, unless the client prefers another format.
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
        // The response has no body.
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
