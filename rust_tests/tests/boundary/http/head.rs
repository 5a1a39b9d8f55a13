//! Heads that tests change: a POST that every rule lets through.

use mcp_core::http::{
    AcceptedHead, Head, HeadAnswer, HttpAnswer, Policy, PolicyOptions, check_head,
};
use serde_json::Value;

#[derive(Clone)]
pub(super) struct TestHead {
    pub(super) method: &'static str,
    pub(super) target: String,
    pub(super) authority: Option<String>,
    pub(super) headers: Vec<(String, Vec<u8>)>,
}

pub(super) fn post() -> TestHead {
    TestHead {
        method: "POST",
        target: "/mcp".to_owned(),
        authority: None,
        headers: vec![
            ("host".to_owned(), b"127.0.0.1:4040".to_vec()),
            ("content-type".to_owned(), b"application/json".to_vec()),
            (
                "accept".to_owned(),
                b"application/json, text/event-stream".to_vec(),
            ),
        ],
    }
}

/// A GET or DELETE of a session.
pub(super) fn in_session(method: &'static str) -> TestHead {
    TestHead { method, ..post() }
        .without("content-type")
        .with("mcp-session-id", "s1")
}

/// A POST with the headers of the stateless era.
pub(super) fn stateless(method: &str) -> TestHead {
    post()
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", method)
}

impl TestHead {
    /// One more header.
    pub(super) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers
            .push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(super) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(found, _)| found != name);
        self
    }

    /// The header with another value.
    pub(super) fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    pub(super) fn at(mut self, target: &str) -> Self {
        self.target = target.to_owned();
        self
    }

    /// What is wrong with the head, if anything is.
    pub(super) fn refused(&self, policy: &Policy) -> Option<HeadAnswer> {
        self.judge(policy).err().map(|refused| *refused)
    }

    pub(super) fn check_head(&self, policy: &Policy) -> Result<AcceptedHead, HttpAnswer> {
        self.judge(policy).map_err(|refused| refused.finished())
    }

    fn judge(&self, policy: &Policy) -> Result<AcceptedHead, Box<HeadAnswer>> {
        let headers: Vec<(&str, &[u8])> = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_slice()))
            .collect();
        let head = Head {
            method: self.method,
            target: &self.target,
            authority: self.authority.as_deref(),
            headers: &headers,
        };
        check_head(policy, &head)
    }

    pub(super) fn accepted(&self) -> AcceptedHead {
        self.check_head(&policy(|_| {}))
            .expect("the head is let through")
    }
}

pub(super) fn policy(change: impl FnOnce(&mut PolicyOptions)) -> Policy {
    let mut options = PolicyOptions::default();
    change(&mut options);
    Policy::new(options).expect("a policy")
}

/// The status that the default policy answers with; 0 where it lets the head through.
pub(super) fn status(head: &TestHead) -> u16 {
    status_under(&policy(|_| {}), head)
}

#[track_caller]
pub(super) fn status_under(policy: &Policy, head: &TestHead) -> u16 {
    match head.check_head(policy) {
        Ok(_) => 0,
        Err(answer) => {
            let body: Value = serde_json::from_slice(&answer.body).expect("the body is JSON");
            assert_eq!(body["jsonrpc"], "2.0");
            assert_eq!(body.get("id"), None);
            assert!(body["error"]["code"].is_i64());
            answer.status
        }
    }
}

pub(super) fn header<'a>(answer: &'a HttpAnswer, name: &str) -> Option<&'a str> {
    answer
        .headers
        .iter()
        .find(|(found, _)| *found == name)
        .map(|(_, value)| value.as_str())
}
