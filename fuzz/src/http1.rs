//! The server side of a connection: `http1` and hyper read the same bytes in the same pieces.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use mcp_core::http1::{
    ChunkError, ChunkLimits, Chunked, Framing, HeadError, Limits, Progress, RequestHead, read_head,
};

/// hyper allows as many fields, and no input of a target reaches the longest head.
pub const LIMITS: Limits = Limits {
    max_head_bytes: 64 * 1024,
    max_fields: 100,
};

/// Cuts bytes into pieces: the same seed cuts at the same positions.
pub struct Pieces<'a> {
    rest: &'a [u8],
    seed: u64,
}

impl<'a> Pieces<'a> {
    /// Seed 0 does not cut, seed 1 cuts everywhere.
    pub fn new(bytes: &'a [u8], seed: u16) -> Self {
        Self {
            rest: bytes,
            seed: seed.into(),
        }
    }

    fn length(&mut self) -> usize {
        match self.seed {
            0 => self.rest.len(),
            1 => 1,
            _ => {
                // A linear congruential generator: small pieces are as frequent as large ones.
                self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005) | 2;
                let number = usize::try_from(self.seed >> 40).expect("24 bits");
                1 + number % (1 << (number % 11))
            }
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let length = self.length().min(self.rest.len());
        let (piece, rest) = self.rest.split_at(length);
        self.rest = rest;
        Some(piece)
    }
}

/// A completely received request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrived {
    pub method: String,
    pub target: String,
    pub body: Vec<u8>,
}

/// Why reading ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All bytes are read, and a request may follow or continue.
    Waiting,
    /// The last request asked to close the connection.
    Closed,
    Head(HeadError),
    Body(ChunkError),
}

/// The result of `http1` for a connection.
#[derive(Debug, PartialEq, Eq)]
pub struct Connection {
    pub requests: Vec<Arrived>,
    pub end: End,
    /// The end of the last request.
    pub used: usize,
}

enum State {
    Head { scanned: usize },
    Length { request: Arrived, left: u64 },
    Chunks { request: Arrived, chunks: Chunked },
    Ended(End),
}

/// Reads a connection to its end, as the owner of a socket does.
pub fn serve(bytes: &[u8], seed: u16) -> Connection {
    let mut reader = Reader::new();
    for piece in Pieces::new(bytes, seed) {
        reader.push(piece);
    }
    let end = match reader.state {
        State::Ended(end) => end,
        _ => End::Waiting,
    };
    Connection {
        requests: reader.requests,
        end,
        used: reader.used,
    }
}

struct Reader {
    buffer: Vec<u8>,
    state: State,
    keep_alive: bool,
    requests: Vec<Arrived>,
    taken: usize,
    used: usize,
}

const NEXT: State = State::Head { scanned: 0 };

impl Reader {
    fn new() -> Self {
        Self {
            buffer: Vec::new(),
            state: NEXT,
            keep_alive: true,
            requests: Vec::new(),
            taken: 0,
            used: 0,
        }
    }

    fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
        loop {
            let before = (self.buffer.len(), self.requests.len());
            self.state = match std::mem::replace(&mut self.state, State::Ended(End::Waiting)) {
                State::Head { scanned } => self.head(scanned),
                State::Length { request, left } => self.length(request, left),
                State::Chunks { request, chunks } => self.chunks(request, chunks),
                State::Ended(end) => State::Ended(end),
            };
            if before == (self.buffer.len(), self.requests.len()) {
                return;
            }
        }
    }

    fn take(&mut self, count: usize) {
        self.buffer.drain(..count);
        self.taken += count;
    }

    fn head(&mut self, scanned: usize) -> State {
        let (request, framing, keep_alive, bytes) = match read_head(&self.buffer, scanned, &LIMITS)
        {
            Ok(Progress::Partial { scanned }) => {
                assert_eq!(scanned, self.buffer.len());
                return State::Head { scanned };
            }
            Ok(Progress::Complete(head)) => {
                is_sound(&self.buffer, &head);
                let request = Arrived {
                    method: head.method.to_owned(),
                    target: head.target.to_owned(),
                    body: Vec::new(),
                };
                (request, head.framing, head.keep_alive, head.bytes)
            }
            Err(error) => return State::Ended(End::Head(error)),
        };
        self.take(bytes);
        self.keep_alive = keep_alive;
        match framing {
            Framing::Empty => self.finish(request),
            Framing::Length(left) => State::Length { request, left },
            Framing::Chunked => State::Chunks {
                request,
                chunks: Chunked::new(ChunkLimits::default()),
            },
        }
    }

    fn length(&mut self, mut request: Arrived, left: u64) -> State {
        let count = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(self.buffer.len());
        request.body.extend_from_slice(&self.buffer[..count]);
        self.take(count);
        match left - count as u64 {
            0 => self.finish(request),
            left => State::Length { request, left },
        }
    }

    fn chunks(&mut self, mut request: Arrived, mut chunks: Chunked) -> State {
        match chunks.decode(&self.buffer, &mut request.body, usize::MAX) {
            Ok(decoded) => {
                self.take(decoded.used);
                if decoded.done {
                    self.finish(request)
                } else {
                    assert!(self.buffer.is_empty(), "a decoder takes what there is");
                    State::Chunks { request, chunks }
                }
            }
            Err(error) => State::Ended(End::Body(error)),
        }
    }

    fn finish(&mut self, request: Arrived) -> State {
        self.requests.push(request);
        self.used = self.taken;
        if self.keep_alive {
            NEXT
        } else {
            State::Ended(End::Closed)
        }
    }
}

/// Checks an accepted head against a simple parser of its lines.
pub fn is_sound(bytes: &[u8], head: &RequestHead<'_>) {
    let text = &bytes[..head.bytes];
    let start = text
        .iter()
        .position(|byte| !b"\r\n".contains(byte))
        .expect("a line");
    assert!(start <= 8 && start % 2 == 0);
    let lines = lines(&text[start..]);
    let (first, fields) = lines.split_first().expect("a request line");
    let version = format!("{:?}", head.version).replace("Http1", "HTTP/1.");
    assert_eq!(
        String::from_utf8_lossy(first),
        format!("{} {} {version}", head.method, head.target)
    );
    assert_eq!(fields.len(), head.fields.len());
    for (line, (name, value)) in fields.iter().zip(&head.fields) {
        let (before, after) = line.split_at(name.len());
        assert_eq!(before, name.as_bytes());
        assert_eq!(after[0], b':');
        assert_eq!(after[1..].trim_ascii(), *value);
        assert!(
            !name.is_empty()
                && value
                    .iter()
                    .all(|byte| *byte == b'\t' || !byte.is_ascii_control())
        );
    }
    assert!(
        head.target
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'#')
    );
    assert_eq!(head.framing, framing(head));
}

/// The lines of a head, without the empty line at its end.
fn lines(head: &[u8]) -> Vec<&[u8]> {
    let mut rest = head;
    let mut lines = Vec::new();
    loop {
        let end = rest
            .windows(2)
            .position(|pair| pair == b"\r\n")
            .expect("a line's end");
        let line = &rest[..end];
        assert!(!line.iter().any(|byte| b"\r\n\0".contains(byte)));
        rest = &rest[end + 2..];
        if line.is_empty() {
            assert!(rest.is_empty(), "the head ends with its first empty line");
            return lines;
        }
        lines.push(line);
    }
}

/// The only possible framing of an accepted head, from its fields.
fn framing(head: &RequestHead<'_>) -> Framing {
    let values = |wanted: &str| -> Vec<String> {
        let named = head
            .fields
            .iter()
            .filter(|(name, _)| name.to_lowercase() == wanted);
        named
            .map(|(_, value)| String::from_utf8_lossy(value).to_lowercase())
            .collect()
    };
    let (lengths, codings) = (values("content-length"), values("transfer-encoding"));
    match (&lengths[..], &codings[..]) {
        ([], []) => Framing::Empty,
        ([], [coding]) if coding == "chunked" => Framing::Chunked,
        ([digits], []) => match digits.parse().expect("a number") {
            0 => Framing::Empty,
            length => Framing::Length(length),
        },
        _ => panic!("lengths {lengths:?} and codings {codings:?} were taken"),
    }
}

/// Reads a connection with hyper: returns the complete requests, and whether hyper waits for more.
pub fn serve_with_hyper(bytes: &[u8], seed: u16) -> (Vec<(String, hyper::Uri, Vec<u8>)>, bool) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let service = service_fn(|request: hyper::Request<Incoming>| {
        let requests = Arc::clone(&requests);
        async move {
            let (head, body) = request.into_parts();
            if let Some(body) = collect(body).await {
                let request = (head.method.to_string(), head.uri, body);
                requests.lock().expect("no panic").push(request);
            }
            Ok::<_, Infallible>(hyper::Response::new(Nothing))
        }
    });
    let connection =
        http1::Builder::new().serve_connection(Wire(Pieces::new(bytes, seed)), service);
    let waits = run(pin!(connection));
    let requests = requests.lock().expect("no panic").clone();
    (requests, waits)
}

/// Polls until the future ends or nothing wakes it; returns whether it waits.
fn run(mut future: Pin<&mut impl Future>) -> bool {
    let woken = Arc::new(Woken(Mutex::new(false)));
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        *woken.0.lock().expect("no panic") = false;
        if future
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready()
        {
            return false;
        }
        if !*woken.0.lock().expect("no panic") {
            return true;
        }
    }
}

struct Woken(Mutex<bool>);

impl std::task::Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.0.lock().expect("no panic") = true;
    }
}

async fn collect(body: Incoming) -> Option<Vec<u8>> {
    let mut body = pin!(body);
    let mut bytes = Vec::new();
    while let Some(frame) = poll_fn(|context| body.as_mut().poll_frame(context)).await {
        if let Ok(data) = frame.ok()?.into_data() {
            bytes.extend_from_slice(&data);
        }
    }
    Some(bytes)
}

/// A socket: each read returns a piece, and waits after the last piece. Writes are discarded.
struct Wire<'a>(Pieces<'a>);

impl Read for Wire<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        mut buffer: ReadBufCursor<'_>,
    ) -> Poll<std::io::Result<()>> {
        let rest = self.0.rest;
        let Some(piece) = self.0.next() else {
            return Poll::Pending;
        };
        let count = piece.len().min(buffer.remaining());
        buffer.put_slice(&piece[..count]);
        self.0.rest = &rest[count..];
        Poll::Ready(Ok(()))
    }
}

impl Write for Wire<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// The body of an answer.
struct Nothing;

impl Body for Nothing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(0)
    }
}
