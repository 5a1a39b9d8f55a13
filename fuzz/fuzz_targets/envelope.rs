//! One message into every state a peer over stdio can be in: the exact answer, or sound work.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{EnvelopeLimits, INVALID_PARAMS, INVALID_REQUEST, Message, classify};
use mcp_core::protocol::{Facts, SessionFacts};
use mcp_core::revision::{Era, Revision};
use mcp_fuzz::answers::Sent;
use mcp_fuzz::budget::within;
use mcp_fuzz::server::{self, admit};

fuzz_target!(|bytes: &[u8]| {
    server::start();
    within(|| {
        sorted(bytes);
        let sent = Sent::read(bytes);
        for session in sessions() {
            let facts = Facts {
                session,
                http: None,
            };
            sent.became(&admit(facts, bytes));
        }
    });
});

/// No session, and one of each revision that has them.
fn sessions() -> impl Iterator<Item = Option<SessionFacts>> {
    let revisions = Revision::ALL
        .into_iter()
        .filter(|revision| revision.era() == Era::Session);
    [None]
        .into_iter()
        .chain(revisions.map(|revision| Some(SessionFacts { revision })))
}

/// What JSON-RPC alone says of it.
fn sorted(bytes: &[u8]) {
    let Ok(document) = Document::scan(bytes, &Limits::default()) else {
        return;
    };
    let root = document.root();
    let sent = |name: &str| root.get(name).map(|view| view.raw());
    let id_text =
        |raw: Option<&[u8]>| String::from_utf8(raw.expect("an id").to_vec()).expect("JSON is text");
    match classify(root, root.has_duplicate(), &EnvelopeLimits::default()) {
        Ok(Message::Request { id, method, .. }) => {
            let text = id_text(sent("id"));
            if !text.starts_with('"') {
                let shown = if text == "-0" { "0" } else { &text };
                assert_eq!(id.to_string(), shown, "an id is never rounded");
            }
            assert!(method.len() <= 256);
        }
        Ok(Message::Notification { .. }) => assert_eq!(sent("id"), None),
        Ok(Message::Response { .. }) => assert_eq!(sent("method"), None),
        Err(refused) => {
            assert!(matches!(refused.code, INVALID_REQUEST | INVALID_PARAMS));
            assert!(refused.id.is_none() || sent("id").is_some());
        }
    }
}
