//! Writes the bytes of responses.

#![allow(
    clippy::needless_pass_by_value,
    reason = "rustler decodes arguments into values"
)]

use std::cell::RefCell;
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_core::http::HttpAnswer;
use mcp_core::http1::{BodyLength, CONTINUE, ResponseHead, write_head};
use rustler::{Binary, Encoder, Env, Error, NifResult, Term};

use crate::atoms;
use crate::http::rules::text;
use crate::resources::binary_term;

/// The most bytes of a head without long headers, with room for a small body.
const HEAD_BYTES: usize = 256;

/// `Date` changes once a second, and is in every head.
struct Date {
    second: u64,
    text: [u8; 29],
}

thread_local! {
    static DATE: RefCell<Date> = const {
        RefCell::new(Date { second: u64::MAX, text: [b' '; 29] })
    };
}

fn with_date<R>(write: impl FnOnce(&[u8]) -> R) -> R {
    DATE.with_borrow_mut(|date| {
        let now = SystemTime::now();
        let second = now
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs());
        if date.second != second {
            date.second = second;
            if let Ok(text) = <[u8; 29]>::try_from(httpdate::fmt_http_date(now).as_bytes()) {
                date.text = text;
            }
        }
        write(&date.text)
    })
}

/// Appends a head. The core's headers are valid, so only the application's headers can be refused.
fn put_head(
    out: &mut Vec<u8>,
    status: u16,
    headers: &[(&str, &str)],
    body: BodyLength,
    close: bool,
) -> NifResult<()> {
    with_date(|date| {
        let head = ResponseHead {
            status,
            headers,
            body,
            close,
            date: Some(date),
        };
        write_head(out, &head).map_err(|_| Error::BadArg)
    })
}

/// A response of type `application/json` with the start of its body; `rest` more bytes follow.
pub(super) fn json(status: u16, body: &[u8], rest: usize, close: bool) -> NifResult<Vec<u8>> {
    let mut out = Vec::with_capacity(HEAD_BYTES.saturating_add(body.len()));
    let headers = [("content-type", "application/json")];
    let length = BodyLength::Length(body.len().saturating_add(rest));
    put_head(&mut out, status, &headers, length, close)?;
    out.extend_from_slice(body);
    Ok(out)
}

/// The response without a body for an accepted message.
pub(super) fn accepted(close: bool) -> NifResult<Vec<u8>> {
    let mut out = Vec::with_capacity(HEAD_BYTES);
    put_head(&mut out, 202, &[], BodyLength::Length(0), close)?;
    Ok(out)
}

/// A finished answer of the core. The answer to a HEAD request states only the length of the body.
pub(super) fn finished(answer: &HttpAnswer, close: bool, is_head: bool) -> NifResult<Vec<u8>> {
    let headers: Vec<(&str, &str)> = answer
        .headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
    let values: usize = headers.iter().map(|(_, value)| value.len()).sum();
    let room = HEAD_BYTES.saturating_add(values);
    let mut out = Vec::with_capacity(room.saturating_add(answer.body.len()));
    let length = BodyLength::Length(answer.body.len());
    put_head(&mut out, answer.status, &headers, length, close)?;
    if !is_head {
        out.extend_from_slice(&answer.body);
    }
    Ok(out)
}

/// The head of a response: `length` is a number of bytes, `chunked` or `until_close`.
#[rustler::nif]
fn http_response_head<'a>(
    env: Env<'a>,
    status: u16,
    headers: Vec<(Binary<'a>, Binary<'a>)>,
    length: Term<'a>,
    close: bool,
) -> NifResult<Term<'a>> {
    let headers: Option<Vec<(&str, &str)>> = headers
        .iter()
        .map(|(name, value)| Some((text(name)?, text(value)?)))
        .collect();
    let mut out = Vec::with_capacity(HEAD_BYTES);
    let body = body_length(length)?;
    put_head(
        &mut out,
        status,
        &headers.ok_or(Error::BadArg)?,
        body,
        close,
    )?;
    Ok(binary_term(env, out))
}

fn body_length(length: Term<'_>) -> NifResult<BodyLength> {
    if atoms::chunked() == length {
        Ok(BodyLength::Chunked)
    } else if atoms::until_close() == length {
        Ok(BodyLength::UntilClose)
    } else {
        length.decode().map(BodyLength::Length)
    }
}

/// `100 Continue`: asks the client to send the body.
#[rustler::nif]
fn http_continue(env: Env<'_>) -> Term<'_> {
    binary_term(env, CONTINUE.to_vec()).encode(env)
}
