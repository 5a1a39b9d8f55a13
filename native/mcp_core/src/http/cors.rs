//! Cross-origin requests: what the pages of the policy's own origins may send, and read of an answer.
//!
//! Loopback and the addressed host itself may send without being named, but only a page of an origin that the policy
//! names reads answers from elsewhere. Credentials that a browser adds by itself are never allowed.

use super::answer::HttpAnswer;
use super::head::{Field, Head, printable};
use super::origin::Origin;
use super::policy::Policy;

const HEADERS: &str = "authorization, content-type, accept, mcp-session-id, mcp-protocol-version, \
                       mcp-method, mcp-name, last-event-id, dpop";
/// How long a browser keeps the answer to a preflight.
const MAX_AGE_SECONDS: &str = "600";

/// The headers of every answer to a page of an origin that the policy names, which of the others its script may read
/// among them; none for others.
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

/// Whether a browser asks what it may send.
pub(crate) fn is_preflight(head: &Head<'_>) -> bool {
    head.method == "OPTIONS" && head.field("access-control-request-method") != Field::Absent
}

/// What it may send, by these methods, beside the headers of every answer.
pub(crate) fn preflight(methods: &str) -> HttpAnswer {
    HttpAnswer {
        status: 204,
        headers: vec![
            ("access-control-allow-methods", methods.to_owned()),
            ("access-control-allow-headers", HEADERS.to_owned()),
            ("access-control-max-age", MAX_AGE_SECONDS.to_owned()),
        ],
        body: Vec::new(),
    }
}
