//! Heads and bodies of the endpoints of stored results (document 001).
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::http::{HttpAnswer, is_header_value};
use mcp_core::results::dual::{
    Action, Capability, Endpoint, EndpointOptions, Form, Page, check_head, select, write_csv_text,
};
use mcp_fuzz::budget::within;
use mcp_fuzz::http::Message;
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    let endpoint = Endpoint::new(EndpointOptions::default()).expect("an endpoint");
    within(|| {
        let message = Message::parse(bytes);
        let form = match check_head(&endpoint, &message.head()) {
            Ok(wanted) => {
                assert!(message.addresses_this_machine(&[]));
                is_sound_id(&wanted.id);
                assert!(
                    message.target.contains(&wanted.id) && message.target.starts_with("/resources")
                );
                assert!(wanted.form == Form::Page || wanted.action == Action::Fetch);
                is_bounded(&wanted.capability);
                wanted.form
            }
            Err(answer) => {
                is_refusal(&answer);
                Form::Page
            }
        };
        rows(&endpoint, form, message.body);
        cell(message.body);
    });
});

fn is_sound_id(id: &str) {
    let is_sound = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    assert!((1..=128).contains(&id.len()) && id.bytes().all(is_sound) && id != "." && id != "..");
}

/// A signature's length is bounded.
fn is_bounded(capability: &Capability) {
    if let Capability::Signed {
        expires_at,
        signature,
    } = capability
    {
        assert!(*expires_at < 10_000_000_000_000_000 && (1..=128).contains(&signature.len()));
    }
}

fn rows(endpoint: &Endpoint, form: Form, body: &[u8]) {
    match select(endpoint, form, body) {
        Ok(selection) => {
            assert!(i64::try_from(selection.offset).is_ok());
            assert!(
                selection
                    .limit
                    .is_none_or(|limit| limit >= 1 && i64::try_from(limit).is_ok())
            );
            if form == Form::Page {
                assert!(selection.limit.is_some_and(|limit| limit <= 1_000));
            }
            assert!(selection.sort.len() <= 8);
            for key in &selection.sort {
                assert!(key.field.len() <= 256);
            }
            // Another JSON parser reads the same values.
            if !body.is_empty() {
                let same: Value = serde_json::from_slice(body).expect("what is selected is JSON");
                // serde_json reads `-0` as a float.
                let offset = same.get("offset").map_or(Some(0), |offset| {
                    offset
                        .as_u64()
                        .or((offset.as_f64() == Some(0.0)).then_some(0))
                });
                assert_eq!(offset, Some(selection.offset));
            }
            let (offset, returned) = (selection.offset, selection.limit.unwrap_or(0));
            let page = Page {
                offset,
                returned,
                total: 847,
            };
            assert_eq!(page.has_next(), page.next_offset().is_some());
            assert!(
                page.next_offset()
                    .is_none_or(|next| next >= offset && next < 847)
            );
        }
        Err(answer) => is_refusal(&answer),
    }
}

fn is_refusal(answer: &HttpAnswer) {
    assert!(
        (400..500).contains(&answer.status),
        "status {}",
        answer.status
    );
    let body: Value = serde_json::from_slice(&answer.body).expect("a refusal is JSON");
    let keys: Vec<&String> = body.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["error", "message"]);
    assert!(answer.body.len() <= 512);
    assert!(
        answer
            .headers
            .iter()
            .all(|(_, value)| is_header_value(value))
    );
}

/// The characters at which programs may split cells, and the first characters of formulas.
const SEPARATORS: [char; 5] = [';', '\t', '|', '\r', '\n'];
const OPERATORS: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Whether a cell equals its text without the apostrophes at its start and after separators.
fn is_text_with_apostrophes(cell: &str, text: &str) -> bool {
    let mut text = text.chars().peekable();
    let mut may_begin = true;
    for character in cell.chars() {
        if text.peek() == Some(&character) {
            text.next();
            may_begin = SEPARATORS.contains(&character);
        } else if may_begin && character == '\'' {
            may_begin = false;
        } else {
            return false;
        }
    }
    text.next().is_none()
}

/// A written cell is one cell and no formula.
fn cell(text: &[u8]) {
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    let mut out = Vec::new();
    write_csv_text(&mut out, text);
    let cell = match out.strip_prefix(b"\"") {
        Some(quoted) => {
            let inner = quoted.strip_suffix(b"\"").expect("closed");
            let inner = String::from_utf8(inner.to_vec()).expect("text");
            assert!(!inner.replace("\"\"", "").contains('"'), "{inner:?}");
            inner.replace("\"\"", "\"")
        }
        None => {
            assert!(!out.iter().any(|byte| b",\"\r\n".contains(byte)));
            String::from_utf8(out.clone()).expect("text")
        }
    };
    assert!(is_text_with_apostrophes(&cell, text), "{cell:?}");
    assert!(!cell.starts_with(['\t', '\r', '\n']), "{cell:?}");
    for (place, part) in cell.split(SEPARATORS).enumerate() {
        let part = if place == 0 {
            part
        } else {
            part.trim_start_matches('"')
        };
        assert!(!part.starts_with(OPERATORS), "{cell:?}");
    }
}
