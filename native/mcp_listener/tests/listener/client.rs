//! A client that sends exactly the bytes it is given.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use crate::server::PATIENCE;

pub(crate) struct Client {
    pub(crate) stream: TcpStream,
    unread: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let header = self.headers.iter().find(|(known, _)| known == name);
        header.map(|(_, value)| value.as_str())
    }
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            unread: Vec::new(),
        }
    }

    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("to send");
    }

    pub(crate) fn post(&mut self, path: &str, body: &str) {
        let length = body.len();
        self.send(format!(
            "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
    }

    /// One system call's worth of what has come.
    pub(crate) fn read_once(&mut self) -> String {
        let mut buffer = vec![0; 64 * 1024];
        let read = self.stream.read(&mut buffer).expect("to read");
        String::from_utf8_lossy(&buffer[..read]).into_owned()
    }

    fn fill(&mut self) {
        let mut buffer = [0; 16 * 1024];
        let read = self.stream.read(&mut buffer).expect("to read");
        assert!(read > 0, "closed behind {:?}", self.text());
        self.unread.extend_from_slice(&buffer[..read]);
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.unread).into_owned()
    }

    /// So many bytes.
    pub(crate) fn take(&mut self, count: usize) -> String {
        while self.unread.len() < count {
            self.fill();
        }
        let taken: Vec<u8> = self.unread.drain(..count).collect();
        String::from_utf8_lossy(&taken).into_owned()
    }

    fn take_line(&mut self) -> String {
        loop {
            if let Some(end) = self.unread.windows(2).position(|bytes| bytes == b"\r\n") {
                let line = self.take(end + 2);
                return line.trim_end().to_owned();
            }
            self.fill();
        }
    }

    /// Status and headers of the next response.
    pub(crate) fn head(&mut self) -> Response {
        let status = self.take_line();
        let mut headers = Vec::new();
        loop {
            let line = self.take_line();
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':').expect("a header");
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        Response {
            status: status.split(' ').nth(1).unwrap().parse().unwrap(),
            headers,
            body: String::new(),
        }
    }

    /// The next response, whose length has to be declared.
    pub(crate) fn response(&mut self) -> Response {
        let mut response = self.head();
        let length = response.header("content-length").expect("a length");
        let length = length.parse().unwrap();
        response.body = self.take(length);
        response
    }

    /// The next chunk of a stream; the last is empty.
    pub(crate) fn chunk(&mut self) -> String {
        let length = usize::from_str_radix(&self.take_line(), 16).expect("a length");
        let chunk = self.take(length);
        assert_eq!(self.take(2), "\r\n");
        chunk
    }

    /// Reads chunks until so many bytes have come.
    pub(crate) fn chunks(&mut self, bytes: usize) -> String {
        let mut read = String::new();
        while read.len() < bytes {
            read.push_str(&self.chunk());
        }
        read
    }

    /// Everything that comes until the server closes.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        // What was reset was answered before, or not at all.
        let _ = self.stream.read_to_end(&mut rest);
        String::from_utf8_lossy(&rest).into_owned()
    }

    /// Whether the server has closed without another byte.
    pub(crate) fn is_closed(&mut self) -> bool {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(read) => read == 0 && self.unread.is_empty(),
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    pub(crate) fn close_sending(&self) {
        self.stream.shutdown(Shutdown::Write).unwrap();
    }
}
