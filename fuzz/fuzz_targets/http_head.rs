//! HTTP requests to the endpoint: accepted heads address this machine, and every answer is valid.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcp_core::http::{
    AcceptedHead, HttpAnswer, Policy, PolicyOptions, Verb, check_head, is_header_value,
};
use mcp_core::protocol::{Admission, Context, SessionContext};
use mcp_core::revision::{Era, Revision};
use mcp_fuzz::answers::Sent;
use mcp_fuzz::budget::within;
use mcp_fuzz::http::Message;
use mcp_fuzz::server::{self, admit};
use serde_json::Value;

/// A host name that one of the policies allows besides loopback.
const ALLOWED_HOST: &str = "mcp.example.com";

static POLICIES: LazyLock<[(Policy, &[&str]); 3]> = LazyLock::new(|| {
    let policy = |options| Policy::new(options).expect("a policy");
    let hosts = PolicyOptions {
        allowed_hosts: vec![ALLOWED_HOST.to_owned()],
        allowed_origins: vec!["https://app.example.com".to_owned()],
        max_body_bytes: 1_000,
        ..PolicyOptions::default()
    };
    let stateless = PolicyOptions {
        path: None,
        sessions: false,
        resource_metadata: Some(
            r#"{"resource":"https://mcp.example.com/mcp","authorization_servers":["https://as.example.com"]}"#
                .to_owned(),
        ),
        ..PolicyOptions::default()
    };
    [
        (policy(PolicyOptions::default()), &[]),
        (policy(hosts), &[ALLOWED_HOST]),
        (policy(stateless), &[]),
    ]
});

fuzz_target!(|bytes: &[u8]| {
    server::start();
    within(|| {
        let message = Message::parse(bytes);
        for (policy, hosts) in POLICIES.iter() {
            match check_head(policy, &message.head()) {
                Ok(accepted) => {
                    assert!(message.addresses_this_machine(hosts));
                    assert!(
                        message.comes_from_this_site(&[*hosts, &["app.example.com"][..]].concat())
                    );
                    is_sound(policy, &message, &accepted);
                    body(&message, &accepted);
                }
                Err(refused) => is_answer(&refused.answer),
            }
        }
    });
});

fn is_sound(policy: &Policy, message: &Message<'_>, accepted: &AcceptedHead) {
    let verbs = [
        ("POST", Verb::Post),
        ("GET", Verb::Get),
        ("DELETE", Verb::Delete),
    ];
    assert!(verbs.contains(&(message.method, accepted.verb)));
    assert!(
        accepted
            .content_length
            .is_none_or(|length| length <= policy.max_body_bytes())
    );
    if let Some(id) = &accepted.session_id {
        assert!(!accepted.stateless, "the stateless era has no sessions");
        assert!(id.len() <= 512 && id.bytes().all(|byte| byte.is_ascii_graphic()));
    }
    assert!(policy.sessions() || accepted.stateless);
    if accepted.verb == Verb::Post {
        let is_json = |value: &[u8]| {
            value
                .trim_ascii()
                .to_ascii_lowercase()
                .starts_with(b"application/json")
        };
        assert!(message.values("content-type").any(is_json));
    } else {
        assert!(accepted.session_id.is_some());
    }
    assert!(accepted.last_event_id.is_none() || accepted.verb == Verb::Get);
}

fn body(message: &Message<'_>, accepted: &AcceptedHead) {
    if accepted.verb != Verb::Post {
        return;
    }
    let sent = Sent::read(message.body);
    for session in [
        None,
        Some(Revision::V2025_03_26),
        Some(Revision::V2025_11_25),
    ] {
        let session = session
            .filter(|_| !accepted.stateless)
            .map(|revision| SessionContext { revision });
        let context = Context {
            session,
            http: Some(accepted),
            anonymous: None,
        };
        let admission = admit(context, message.body);
        sent.became(&admission);
        if let Admission::Request(request) = &admission {
            let era = if session.is_some() {
                Era::Session
            } else {
                Era::Stateless
            };
            assert!(request.revision.era() == era || request.revision.era() == Era::Stateless);
            if request.revision.era() == Era::Stateless {
                let says = |name, text: &str| {
                    message.values(name).collect::<Vec<_>>() == [text.as_bytes()]
                };
                assert!(
                    says("mcp-method", request.method.name()),
                    "head and body say the same"
                );
                assert!(says("mcp-protocol-version", request.revision.as_str()));
            }
        }
    }
}

fn is_answer(answer: &HttpAnswer) {
    assert!(
        answer
            .headers
            .iter()
            .all(|(_, value)| is_header_value(value))
    );
    let body: Value = serde_json::from_slice(&answer.body).expect("JSON");
    if answer.status == 200 {
        assert_eq!(body["resource"], "https://mcp.example.com/mcp");
        return;
    }
    assert!(
        (400..500).contains(&answer.status),
        "status {}",
        answer.status
    );
    assert_eq!(body["jsonrpc"], "2.0");
    assert!(body.get("id").is_none() && body["error"]["code"].is_i64());
    assert_eq!(
        answer.headers.iter().any(|(name, _)| *name == "allow"),
        answer.status == 405
    );
}
