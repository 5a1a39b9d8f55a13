//! A process without descriptors. It has a test binary to itself, because the limit is the process's.

#![allow(clippy::unwrap_used, reason = "a test that fails panics")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use mcp_listener::{
    Answer, Bytes, Call, Fault, Listener, Options, RequestHead, Service, StatusCode, Verdict,
};
use rustix::process::{Resource, getrlimit, setrlimit};

struct Echo;

impl Service for Echo {
    type Head = ();

    fn head(&self, _head: &RequestHead<'_>) -> Verdict<()> {
        Verdict::Read {
            head: (),
            max_bytes: 100,
        }
    }

    fn call(&self, (): (), body: Option<Bytes>, _call: &mut Call) -> Option<Answer> {
        Some(Answer::json(StatusCode::OK, body.unwrap_or_default()))
    }

    fn refuse(&self, _fault: Fault) -> Answer {
        Answer::empty(StatusCode::SERVICE_UNAVAILABLE)
    }
}

/// Row Y5: accepting fails, is not tried in a busy loop, and goes on when descriptors are free.
#[test]
fn y5_a_listener_without_descriptors_waits_and_recovers() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = Some(256);
    setrlimit(Resource::Nofile, limit).unwrap();
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = Listener::start(address, Options::default(), Echo).unwrap();

    // Both ends of each connection are ours, so half of the limit is enough to use it up.
    let mut clients: Vec<TcpStream> = Vec::new();
    while let Ok(client) = TcpStream::connect(listener.address()) {
        clients.push(client);
    }
    while listener.stats().accept_errors < 3 {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    let attempts = listener.stats().accept_errors;
    assert!(attempts < 20, "{attempts} attempts are a busy loop");

    clients.clear();
    let mut client = TcpStream::connect(listener.address()).unwrap();
    client
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    client
        .write_all(b"POST / HTTP/1.1\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi")
        .unwrap();
    let mut answer = String::new();
    client.read_to_string(&mut answer).unwrap();
    assert!(answer.ends_with("\r\n\r\nhi"), "{answer}");
}
