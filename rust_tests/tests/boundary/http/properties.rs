//! No head and no body makes a rule panic, and every answer has a status that says whose fault it is.

use mcp_core::http::{Head, Policy, PolicyOptions, check_head};
use mcp_core::protocol::{Admission, Context, MessageLimits, SessionContext, admit};
use mcp_core::revision::Revision;
use proptest::prelude::*;

use crate::generated::config;
use crate::protocol::server_once;

const NAMES: [&str; 16] = [
    "host",
    "Host",
    "origin",
    "accept",
    "content-type",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "mcp-session-id",
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
    "mcp-param-region",
    "mcp-param-",
    "last-event-id",
    "x",
];

const VALUES: [&str; 18] = [
    "localhost",
    "[::1]:80",
    "http://localhost:3000",
    "null",
    "application/json",
    "application/json;charset=\"utf-8",
    "text/event-stream;q=0.5, */*;q=\"",
    "identity",
    "17",
    "17, 18",
    "2026-07-28",
    "2025-11-25",
    "tools/call",
    "add",
    "=?base64?YWRk?=",
    "=?base64?=",
    "3-14",
    "",
];

fn value() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => prop::sample::select(&VALUES[..]).prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..24),
        1 => "[ -~]{0,24}".prop_map(String::into_bytes),
    ]
}

fn headers() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    prop::collection::vec((prop::sample::select(&NAMES[..]), value()), 0..12)
}

/// Mostly good heads, so that bodies are reached.
fn likely() -> impl Strategy<Value = Vec<(&'static str, Vec<u8>)>> {
    let good = |name: &'static str, text: &str| (name, text.as_bytes().to_vec());
    let base = vec![
        good("host", "localhost"),
        good("content-type", "application/json"),
    ];
    headers().prop_map(move |extra| {
        let extra = extra
            .into_iter()
            .filter(|(name, _)| name.starts_with("mcp-"));
        base.clone().into_iter().chain(extra).collect()
    })
}

fn policies() -> [Policy; 2] {
    [
        Policy::new(PolicyOptions::default()).expect("a policy"),
        Policy::new(PolicyOptions {
            path: None,
            sessions: false,
            resource_metadata: Some(
                r#"{"resource":"https://a.example","authorization_servers":["https://as.example"]}"#
                    .to_owned(),
            ),
            ..PolicyOptions::default()
        })
        .expect("a policy"),
    ]
}

fn check(method: &str, target: &str, headers: &[(&'static str, Vec<u8>)], body: &[u8]) {
    let headers: Vec<(&str, &[u8])> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_slice()))
        .collect();
    let head = Head {
        method,
        target,
        authority: None,
        headers: &headers,
    };
    for policy in policies() {
        match check_head(&policy, &head) {
            Err(refused) => {
                let status = refused.finished().status;
                assert!(status == 200 || (400..500).contains(&status));
            }
            Ok(accepted) => {
                for session in [
                    None,
                    Some(Revision::V2025_03_26),
                    Some(Revision::V2025_11_25),
                ] {
                    let context = Context {
                        session: session.map(|revision| SessionContext { revision }),
                        http: Some(&accepted),
                        anonymous: None,
                    };
                    let admission = admit(server_once(), context, body, &MessageLimits::default());
                    if let Admission::Answer(answer) = admission {
                        assert!(answer.status == 200 || (400..500).contains(&answer.status));
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(256))]

    // req: SEC-10
    #[test]
    fn no_head_makes_screening_panic(
        method in "POST|GET|DELETE|[A-Z]{0,6}",
        target in "/mcp|/[ -~]{0,12}|[a-z]{0,5}://[ -~]{0,12}|\\*",
        headers in headers(),
    ) {
        check(&method, &target, &headers, b"{}");
    }

    // req: SEC-10
    #[test]
    fn no_body_behind_a_head_makes_admission_panic(
        headers in likely(),
        body in prop::collection::vec(any::<u8>(), 0..64),
    ) {
        check("POST", "/mcp", &headers, &body);
    }

    // req: SEC-10
    #[test]
    fn no_message_behind_a_head_makes_admission_panic(
        headers in likely(),
        method in "tools/call|tools/list|resources/read|ping|initialize|subscriptions/listen|notifications/x",
        id in "\"id\":1,|\"id\":null,|",
        params in "[\\[{\"a-z:,0-9\\]}]{0,24}|\\{\"name\":\"add\",\"arguments\":\\{\"a\":1\\}\\}",
    ) {
        let body = format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{params}}}"#);
        check("POST", "/mcp", &headers, body.as_bytes());
        let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let body = format!(
            r#"{{"jsonrpc":"2.0",{id}"method":"{method}","params":{{{meta},"name":"add","uri":"x:y"}}}}"#
        );
        check("POST", "/mcp", &headers, body.as_bytes());
    }
}
