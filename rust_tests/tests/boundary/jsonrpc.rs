//! `mcp_core::jsonrpc`: sorting messages, ids, error responses.

mod refused;
mod rules;
mod vectors;

use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{EnvelopeLimits, Id, Message, Outcome, PARSE_ERROR, classify};

/// A message as a value that can be compared.
#[derive(Clone, Debug, PartialEq)]
enum Sorted {
    Request {
        id: Id,
        method: String,
        params: Option<String>,
    },
    Notification {
        method: String,
        params: Option<String>,
    },
    Result {
        id: Id,
        result: String,
    },
    Error {
        id: Id,
        error: String,
    },
    Refused {
        code: i32,
        id: Option<Id>,
        answerable: bool,
    },
}

/// What one message is, or each message of a batch.
fn sort(bytes: &[u8]) -> Vec<Sorted> {
    let document = match Document::scan(bytes, &Limits::default()) {
        Ok(document) => document,
        Err(_) => {
            return vec![Sorted::Refused {
                code: PARSE_ERROR,
                id: None,
                answerable: true,
            }];
        }
    };
    let root = document.root();
    if root.elements().next().is_none() {
        return vec![sorted(classify(
            root,
            root.has_duplicate(),
            &EnvelopeLimits::default(),
        ))];
    }
    root.elements()
        .map(|view| {
            sorted(classify(
                view,
                view.has_duplicate(),
                &EnvelopeLimits::default(),
            ))
        })
        .collect()
}

fn sorted(message: Result<Message<'_, '_>, mcp_core::jsonrpc::InvalidMessage>) -> Sorted {
    let raw = |view: mcp_core::json::View<'_, '_>| String::from_utf8(view.raw().to_vec()).unwrap();
    match message {
        Ok(Message::Request { id, method, params }) => Sorted::Request {
            id,
            method: method.into_owned(),
            params: params.map(raw),
        },
        Ok(Message::Notification { method, params }) => Sorted::Notification {
            method: method.into_owned(),
            params: params.map(raw),
        },
        Ok(Message::Response {
            id,
            outcome: Outcome::Result(view),
        }) => Sorted::Result {
            id,
            result: raw(view),
        },
        Ok(Message::Response {
            id,
            outcome: Outcome::Error(view),
        }) => Sorted::Error {
            id,
            error: raw(view),
        },
        Err(invalid) => Sorted::Refused {
            code: invalid.code,
            id: invalid.id,
            answerable: invalid.answerable,
        },
    }
}

/// A refusal that is to be answered.
fn refused(code: i32, id: Option<Id>) -> Sorted {
    Sorted::Refused {
        code,
        id,
        answerable: true,
    }
}

/// A message that is no batch.
#[track_caller]
fn sort_one(text: impl AsRef<[u8]>) -> Sorted {
    let mut messages = sort(text.as_ref());
    assert_eq!(messages.len(), 1);
    messages.remove(0)
}
