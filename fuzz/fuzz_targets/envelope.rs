//! One message in every state of a peer over stdio: the exact answer, or valid work.
#![no_main]

use std::hash::{DefaultHasher, Hash, Hasher};

use libfuzzer_sys::fuzz_target;
use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{
    EnvelopeLimits, INVALID_PARAMS, INVALID_REQUEST, Message, classify, id_of_refused,
};
use mcp_core::protocol::{Context, SessionContext};
use mcp_core::revision::{Era, Revision};
use mcp_fuzz::answers::Sent;
use mcp_fuzz::budget::within;
use mcp_fuzz::server::{self, admit};

fuzz_target!(|bytes: &[u8]| {
    server::start();
    within(|| {
        is_admitted(bytes);
        if let Some(renumbered) = renumbered(bytes) {
            is_admitted(&renumbered);
        }
    });
});

fn is_admitted(bytes: &[u8]) {
    sorted(bytes);
    let sent = Sent::read(bytes);
    for session in sessions() {
        let context = Context {
            session,
            http: None,
            anonymous: None,
        };
        sent.became(&admit(context, bytes));
    }
}

/// The message with another number as its id.
///
/// Every width from 1 to 65 bits is equally frequent: mutations of bytes rarely produce integers
/// near the limits of a type, such as the largest integer that a double represents.
fn renumbered(bytes: &[u8]) -> Option<Vec<u8>> {
    let document = Document::scan(bytes, &Limits::default()).ok()?;
    let id = document.root().get("id")?.raw();
    let start = id.as_ptr() as usize - bytes.as_ptr() as usize;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let random = hasher.finish();
    let width = random % 65;
    let number = (1_u128 << width) | (u128::from(random.rotate_left(7)) & ((1 << width) - 1));
    let sign = if random & 128 == 0 { "" } else { "-" };
    let number = format!("{sign}{number}");
    Some(
        [
            &bytes[..start],
            number.as_bytes(),
            &bytes[start + id.len()..],
        ]
        .concat(),
    )
}

/// No session, and a session of each revision that has sessions.
fn sessions() -> impl Iterator<Item = Option<SessionContext>> {
    let revisions = Revision::ALL
        .into_iter()
        .filter(|revision| revision.era() == Era::Session);
    [None]
        .into_iter()
        .chain(revisions.map(|revision| Some(SessionContext { revision })))
}

/// Checks the message by JSON-RPC alone.
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
            let found = id_of_refused(bytes, &EnvelopeLimits::default());
            assert_eq!(found, Some(id), "refused text has the same id");
        }
        Ok(Message::Notification { .. }) => assert_eq!(sent("id"), None),
        Ok(Message::Response { .. }) => assert_eq!(sent("method"), None),
        Err(refused) => {
            assert!(matches!(refused.code, INVALID_REQUEST | INVALID_PARAMS));
            assert!(refused.id.is_none() || sent("id").is_some());
        }
    }
}
