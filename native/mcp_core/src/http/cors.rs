//! Cross-origin requests: the headers that let pages of allowed origins send requests and read
//! responses.
//!
//! Pages from loopback and from the addressed host may send without being listed. Only pages of
//! origins that the policy lists may read cross-origin responses. Credentials that the browser
//! adds, such as cookies, are never allowed.

use super::answer::HttpAnswer;
use super::head::{Field, Head, is_token, printable};
use super::mirrored_headers::PARAMETER_PREFIX;
use super::origin::Origin;
use super::policy::Policy;

const HEADERS: &str = "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, \
                       mcp-method, mcp-name, last-event-id, dpop";
/// How long a browser caches the response to a preflight.
const MAX_AGE_SECONDS: &str = "600";

/// The CORS headers of every response to a page of a listed origin; empty for other clients.
/// `exposed` lists the headers that its scripts may read.
pub(crate) fn headers(
    policy: &Policy,
    head: &Head<'_>,
    exposed: &str,
) -> Vec<(&'static str, String)> {
    let Some(origin) = named_origin(policy, head) else {
        return Vec::new();
    };
    vec![
        ("access-control-allow-origin", origin.to_owned()),
        ("vary", "Origin".to_owned()),
        ("access-control-expose-headers", exposed.to_owned()),
    ]
}

fn named_origin<'h>(policy: &Policy, head: &Head<'h>) -> Option<&'h str> {
    let Field::One(value) = head.field("origin") else {
        return None;
    };
    let text = printable(value)?;
    Origin::parse(text)
        .is_some_and(|origin| policy.names_origin(&origin))
        .then_some(text)
}

/// Whether the request is a CORS preflight.
pub(crate) fn is_preflight(head: &Head<'_>) -> bool {
    head.method == "OPTIONS" && head.field("access-control-request-method") != Field::Absent
}

/// The response to a preflight. `headers` adds the origin.
pub(crate) fn preflight(head: &Head<'_>, methods: &str) -> HttpAnswer {
    let mut allowed = HEADERS.to_owned();
    for parameter in requested_parameters(head) {
        allowed.push_str(", ");
        allowed.push_str(&parameter);
    }
    HttpAnswer {
        status: 204,
        headers: vec![
            ("access-control-allow-methods", methods.to_owned()),
            ("access-control-allow-headers", allowed),
            ("access-control-max-age", MAX_AGE_SECONDS.to_owned()),
        ],
        body: Vec::new(),
    }
}

/// The `Mcp-Param-*` headers that the page wants to send. A list cannot name them all, because tools
/// choose their names. The head of the request limits their number and length.
fn requested_parameters<'h>(head: &Head<'h>) -> impl Iterator<Item = String> + use<'h> {
    let requested: &'h [u8] = match head.field("access-control-request-headers") {
        Field::One(value) => value,
        Field::Absent | Field::Repeated => b"",
    };
    let names = printable(requested).unwrap_or_default().split(',');
    names
        .map(|name| name.trim().to_ascii_lowercase())
        .filter(|name| name.strip_prefix(PARAMETER_PREFIX).is_some_and(is_token))
}
