//! The head of a response.

use super::error::InvalidHeader;
use super::grammar::is_token;
use crate::http::is_header_value;

/// The interim response that tells a waiting client to send the body.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// The body length of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// There is no body and no length header.
    None,
    /// The body has this many bytes.
    Length(usize),
    /// The body is chunked. HTTP/1.0 clients cannot read it.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// The head of a final response.
#[derive(Clone, Copy, Debug)]
pub struct ResponseHead<'h> {
    /// The status, 200 to 599.
    pub status: u16,
    /// The headers in sending order, without those for the body's length.
    pub headers: &'h [(&'h str, &'h str)],
    /// The length of the body.
    pub body: BodyLength,
    /// Whether the connection is closed after the response. [`BodyLength::UntilClose`] implies it.
    pub close: bool,
    /// The value of `date`. This crate has no clock.
    pub date: Option<&'h [u8]>,
}

/// Appends a response's head to `out`: status, `date`, headers, length, `connection: close`.
///
/// A response with status 204 or 304 has no body and no length header.
///
/// # Errors
/// [`InvalidHeader`] when the status or a header is invalid. Nothing is written then.
///
/// # Examples
/// ```
/// use mcp_core::http1::{BodyLength, ResponseHead, write_head};
///
/// let head = ResponseHead {
///     status: 200,
///     headers: &[("content-type", "application/json")],
///     body: BodyLength::Length(2),
///     close: false,
///     date: None,
/// };
/// let mut out = Vec::new();
/// write_head(&mut out, &head)?;
/// assert_eq!(out, b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n");
/// # Ok::<(), mcp_core::http1::InvalidHeader>(())
/// ```
pub fn write_head(out: &mut Vec<u8>, head: &ResponseHead<'_>) -> Result<(), InvalidHeader> {
    check(head)?;
    out.reserve(needed(head));
    write_status(out, head.status);
    if let Some(date) = head.date {
        write_field(out, b"date", date);
    }
    for (name, value) in head.headers {
        write_field(out, name.as_bytes(), value.as_bytes());
    }
    write_length(out, head);
    if head.close || head.body == BodyLength::UntilClose {
        out.extend_from_slice(b"connection: close\r\n");
    }
    out.extend_from_slice(b"\r\n");
    Ok(())
}

fn check(head: &ResponseHead<'_>) -> Result<(), InvalidHeader> {
    if !(200..=599).contains(&head.status) {
        return Err(InvalidHeader::Status);
    }
    let is_empty = matches!(head.body, BodyLength::None | BodyLength::Length(0));
    if has_no_body(head.status) && !is_empty {
        return Err(InvalidHeader::Body);
    }
    let date = head.date.map(std::str::from_utf8);
    if date.is_some_and(|date| !date.is_ok_and(is_header_value)) {
        return Err(InvalidHeader::Value);
    }
    head.headers
        .iter()
        .try_for_each(|header| check_header(*header))
}

fn check_header((name, value): (&str, &str)) -> Result<(), InvalidHeader> {
    if !is_token(name.as_bytes()) {
        Err(InvalidHeader::Name)
    } else if ["content-length", "transfer-encoding"]
        .iter()
        .any(|framing| name.eq_ignore_ascii_case(framing))
    {
        Err(InvalidHeader::Framing)
    } else if is_header_value(value) {
        Ok(())
    } else {
        Err(InvalidHeader::Value)
    }
}

const fn has_no_body(status: u16) -> bool {
    matches!(status, 204 | 304)
}

/// The approximate size of the head in bytes.
fn needed(head: &ResponseHead<'_>) -> usize {
    const FIXED: usize = 160;
    head.headers.iter().fold(FIXED, |bytes, (name, value)| {
        bytes
            .saturating_add(name.len())
            .saturating_add(value.len())
            .saturating_add(4)
    })
}

fn write_status(out: &mut Vec<u8>, status: u16) {
    out.extend_from_slice(b"HTTP/1.1 ");
    out.extend_from_slice(itoa::Buffer::new().format(status).as_bytes());
    out.push(b' ');
    out.extend_from_slice(reason(status).as_bytes());
    out.extend_from_slice(b"\r\n");
}

fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn write_length(out: &mut Vec<u8>, head: &ResponseHead<'_>) {
    match head.body {
        BodyLength::Length(length) if !has_no_body(head.status) => {
            let mut digits = itoa::Buffer::new();
            write_field(out, b"content-length", digits.format(length).as_bytes());
        }
        BodyLength::Chunked => write_field(out, b"transfer-encoding", b"chunked"),
        BodyLength::None | BodyLength::Length(_) | BodyLength::UntilClose => {}
    }
}

/// The reason phrase of a status, for human readers. Clients ignore it.
const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No Content",
        206 => "Partial Content",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        422 => "Unprocessable Content",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}
