//! A header value, a NUL, and a text: the value is compared with the text as a tool name, and the
//! text is sent as an event.
#![no_main]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use libfuzzer_sys::fuzz_target;
use mcp_core::http::{EventId, Head, Policy, PolicyOptions, check_head, sse};
use mcp_core::json::write_string;
use mcp_core::jsonrpc::HEADER_MISMATCH;
use mcp_core::protocol::{Admission, Context};
use mcp_fuzz::answers::Sent;
use mcp_fuzz::budget::within;
use mcp_fuzz::events::{self, Event, Stream};
use mcp_fuzz::server::{self, admit};

fuzz_target!(|bytes: &[u8]| {
    server::start();
    let policy = Policy::new(PolicyOptions::default()).expect("a policy");
    within(|| {
        let place = bytes
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(bytes.len());
        let (header, text) = bytes.split_at(place);
        let text = text.get(1..).unwrap_or_default();
        event(text);
        comment();
        event_ids(header);
        if let Ok(name) = std::str::from_utf8(text) {
            let says = |message: &[u8]| claim(&policy, header, message);
            named(header, name, says);
        }
    });
});

/// The text arrives unchanged except for its line ends; no part of it becomes a field or another
/// event.
fn event(text: &[u8]) {
    let id = EventId {
        stream: 2,
        index: 7,
    };
    let mut stream = Vec::new();
    sse::write_event(&mut stream, Some(id), text);
    sse::write_event(&mut stream, None, b"next");
    let seen = events::parse(&stream);
    let id = Some(b"2-7".to_vec());
    let events = vec![
        Event {
            id: id.clone(),
            data: with_line_feeds(text),
        },
        Event {
            id,
            data: b"next".to_vec(),
        },
    ];
    assert_eq!(
        seen,
        Stream {
            events,
            ..Stream::default()
        }
    );
}

fn with_line_feeds(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for (place, byte) in text.iter().enumerate() {
        match byte {
            b'\r' => out.push(b'\n'),
            b'\n' if place > 0 && text[place - 1] == b'\r' => {}
            byte => out.push(*byte),
        }
    }
    out
}

fn comment() {
    let mut stream = sse::KEEP_ALIVE.to_vec();
    sse::write_retry(&mut stream, 5);
    sse::write_event(&mut stream, None, b"next");
    let seen = events::parse(&stream);
    assert_eq!(
        (seen.events.len(), seen.retry, seen.strange),
        (1, Some(5), 0)
    );
    assert!(seen.comments > 0);
}

fn event_ids(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if let Some(id) = EventId::parse(text) {
        assert_eq!(id.to_string(), text, "one id has one text");
    }
}

/// The header is accepted exactly if it equals the message.
fn named(header: &[u8], name: &str, says: impl Fn(&[u8]) -> bool) {
    let mut message =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"#.to_vec();
    write_string(&mut message, name);
    message.extend_from_slice(
        br#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    );
    assert_eq!(
        says(&message),
        reads_as(header) == Some(name.as_bytes().to_vec()),
        "{header:?} for {name:?}"
    );
}

fn claim(policy: &Policy, header: &[u8], message: &[u8]) -> bool {
    let headers: [(&str, &[u8]); 5] = [
        ("host", b"localhost"),
        ("content-type", b"application/json"),
        ("mcp-protocol-version", b"2026-07-28"),
        ("mcp-method", b"tools/call"),
        ("Mcp-Name", header),
    ];
    let head = Head {
        method: "POST",
        target: "/mcp",
        authority: None,
        headers: &headers,
    };
    let accepted = check_head(policy, &head).expect("every other header is right");
    let context = Context {
        session: None,
        http: Some(&accepted),
        anonymous: None,
    };
    let admission = admit(context, message);
    Sent::read(message).became(&admission);
    let mismatch = format!("\"code\":{HEADER_MISMATCH},");
    let is_refused = |body: &[u8]| String::from_utf8_lossy(body).contains(&mismatch);
    !matches!(admission, Admission::Answer(answer) if is_refused(&answer.body))
}

/// Decodes a value by the specification: only canonical Base64 counts.
fn reads_as(header: &[u8]) -> Option<Vec<u8>> {
    let is_space = |byte: &u8| matches!(byte, b' ' | b'\t');
    let start = header
        .iter()
        .position(|byte| !is_space(byte))
        .unwrap_or(header.len());
    let end = header
        .iter()
        .rposition(|byte| !is_space(byte))
        .map_or(start, |last| last + 1);
    let value = &header[start..end];
    if !value.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\t')) {
        return None;
    }
    let inner = value
        .strip_prefix(b"=?base64?")
        .and_then(|rest| rest.strip_suffix(b"?="));
    let Some(inner) = inner else {
        return Some(value.to_vec());
    };
    let decoded = STANDARD.decode(inner).ok()?;
    assert_eq!(STANDARD.encode(&decoded).as_bytes(), inner);
    String::from_utf8(decoded).ok().map(String::into_bytes)
}
