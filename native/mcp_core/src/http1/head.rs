//! The head of a request: finds its end and parses it.

use httparse::{EMPTY_HEADER, Error, Header, Request, Status};
use memchr::{memchr, memchr_iter};

use super::error::HeadError;
use super::framing::{self, Framing, Version};
use super::grammar::is_token_byte;
use super::target;

/// Some clients send an empty line after a body. More empty lines are useless bytes.
const MAX_EMPTY_LINES: usize = 4;

/// Far longer than any registered method.
const MAX_METHOD_BYTES: usize = 32;

/// The limits of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a head, including its empty lines.
    pub max_head_bytes: usize,
    /// Fields of a head.
    pub max_fields: usize,
}

impl Default for Limits {
    /// 32 KiB and 100 fields.
    fn default() -> Self {
        Self {
            max_head_bytes: 32 * 1024,
            max_fields: 100,
        }
    }
}

/// A request's head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestHead<'b> {
    /// The method, as sent; methods are case-sensitive.
    pub method: &'b str,
    /// The target: a path with an optional query, an `http` or `https` URI, or `*` for OPTIONS.
    pub target: &'b str,
    /// The version.
    pub version: Version,
    /// The fields in their order: names as sent, values without the white space around them.
    pub fields: Vec<(&'b str, &'b [u8])>,
    /// The length of the head in bytes, including the empty lines before it and the one that ends
    /// it.
    pub bytes: usize,
    /// The body after the head.
    pub framing: Framing,
    /// Whether the client wants to reuse the connection.
    pub keep_alive: bool,
    /// Whether the client waits for [`CONTINUE`](super::CONTINUE) before it sends the body.
    pub expects_continue: bool,
}

/// How much of a head has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress<'b> {
    /// The end of the head has not arrived.
    Partial {
        /// How many bytes were searched. The next call continues there.
        scanned: usize,
    },
    /// The whole head.
    Complete(RequestHead<'b>),
}

/// Reads the request head at the start of `bytes`.
///
/// `scanned` is 0 at first, then the number that the call on the previous prefix returned. Parsing
/// starts only when the head is complete.
///
/// # Errors
/// [`HeadError`] when the head is refused. More bytes do not change the result.
pub fn read_head<'b>(
    bytes: &'b [u8],
    scanned: usize,
    limits: &Limits,
) -> Result<Progress<'b>, HeadError> {
    // What is beyond the limit must not matter: a head that arrives in pieces is refused before it.
    let allowed = bytes.get(..limits.max_head_bytes).unwrap_or(bytes);
    let start = skip_empty_lines(allowed)?;
    match find_end(allowed, scanned.max(start))? {
        Some(end) => parse(allowed, start, end, limits).map(Progress::Complete),
        None if bytes.len() >= limits.max_head_bytes => Err(too_large(allowed, start)),
        None => Ok(Progress::Partial {
            scanned: bytes.len(),
        }),
    }
}

/// The refusal of a head without an end: its target is too long if not even its first line ends.
fn too_large(allowed: &[u8], start: usize) -> HeadError {
    let line = allowed.get(start..).unwrap_or_default();
    match memchr(b'\n', line) {
        None => HeadError::TargetTooLong,
        Some(_) => HeadError::TooLarge,
    }
}

/// The start of the request line. A first byte that no method has is refused at once, because a
/// client of another protocol, such as TLS, may never send a line end.
fn skip_empty_lines(bytes: &[u8]) -> Result<usize, HeadError> {
    let mut rest = bytes;
    let mut empty_lines = 0_usize;
    while let [b'\r', b'\n', behind @ ..] = rest {
        empty_lines = empty_lines.saturating_add(1);
        if empty_lines > MAX_EMPTY_LINES {
            return Err(HeadError::Malformed("Too many empty lines"));
        }
        rest = behind;
    }
    match rest {
        [] | [b'\r'] => {}
        [first, ..] if is_token_byte(*first) => {}
        _ => return Err(HeadError::Malformed("A request must begin with its method")),
    }
    Ok(bytes.len().saturating_sub(rest.len()))
}

/// The offset after the empty line. Every line up to it must end with CRLF.
fn find_end(bytes: &[u8], from: usize) -> Result<Option<usize>, HeadError> {
    let unseen = bytes.get(from..).unwrap_or_default();
    for place in memchr_iter(b'\n', unseen) {
        let line_feed = from.saturating_add(place);
        match bytes.get(..line_feed).unwrap_or_default() {
            [.., b'\n', b'\r'] => return Ok(Some(line_feed.saturating_add(1))),
            [.., b'\r'] => {}
            _ => return Err(HeadError::Malformed("A line must end with CRLF")),
        }
    }
    Ok(None)
}

fn parse<'b>(
    bytes: &'b [u8],
    start: usize,
    end: usize,
    limits: &Limits,
) -> Result<RequestHead<'b>, HeadError> {
    let head = bytes.get(start..end).unwrap_or_default();
    // All lines except the request line and the empty line are fields.
    let count = memchr_iter(b'\n', head).count().saturating_sub(2);
    if count > limits.max_fields {
        return Err(HeadError::TooLarge);
    }
    let mut headers = vec![EMPTY_HEADER; count];
    let (method, target, version) = parse_lines(head, &mut headers)?;
    if method.len() > MAX_METHOD_BYTES {
        return Err(HeadError::Malformed("The method is too long"));
    }
    // Both types hold the same slices, so the conversion reuses the allocation.
    let fields: Vec<_> = headers
        .into_iter()
        .map(|header| (header.name, header.value))
        .collect();
    let form = target::check(method, target)?;
    let message = framing::interpret(&fields, version, form)?;
    Ok(RequestHead {
        method,
        target,
        version,
        fields,
        bytes: end,
        framing: message.framing,
        keep_alive: message.keep_alive,
        expects_continue: message.expects_continue,
    })
}

fn parse_lines<'b>(
    head: &'b [u8],
    headers: &mut [Header<'b>],
) -> Result<(&'b str, &'b str, Version), HeadError> {
    const INCOMPLETE: HeadError = HeadError::Malformed("The head is malformed");
    let count = headers.len();
    let mut request = Request::new(headers);
    let status = request.parse(head).map_err(|error| refusal(error, head))?;
    if status != Status::Complete(head.len()) || request.headers.len() != count {
        return Err(INCOMPLETE);
    }
    let version = match request.version {
        Some(0) => Version::Http10,
        Some(1) => Version::Http11,
        _ => return Err(INCOMPLETE),
    };
    match (request.method, request.path) {
        (Some(method), Some(target)) => Ok((method, target, version)),
        _ => Err(INCOMPLETE),
    }
}

fn refusal(error: Error, head: &[u8]) -> HeadError {
    match error {
        Error::HeaderName => HeadError::Malformed("A field's name must be a token before a colon"),
        Error::HeaderValue => HeadError::Malformed("A field's value holds a control character"),
        Error::TooManyHeaders => HeadError::TooLarge,
        Error::Version if names_another_version(head) => HeadError::UnsupportedVersion,
        _ => HeadError::Malformed("The request line is malformed"),
    }
}

/// Whether the request line is complete and its version is not HTTP/1.
fn names_another_version(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let version = line.splitn(3, |byte| *byte == b' ').nth(2);
    let Some([b'H', b'T', b'T', b'P', b'/', major, b'.', minor]) = version else {
        return false;
    };
    major.is_ascii_digit() && minor.is_ascii_digit()
}
