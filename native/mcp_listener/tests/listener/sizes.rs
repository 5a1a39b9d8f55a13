//! Both sides of every size.

use mcp_listener::{Answer, Bytes, Options, StatusCode};

use crate::server::{MAX_BODY, Server};

fn small() -> Options {
    Options {
        max_head_bytes: 8 * 1024,
        ..Options::default()
    }
}

/// A request whose head has exactly so many bytes.
fn request_of(head_bytes: usize) -> String {
    let start = "POST /now HTTP/1.1\r\nHost: a\r\nX: ";
    let end = "\r\nContent-Length: 0\r\n\r\n";
    let filler = "x".repeat(head_bytes - start.len() - end.len());
    format!("{start}{filler}{end}")
}

#[test]
fn a_head_may_be_as_long_as_the_limit() {
    let server = Server::start(small());
    let mut client = server.connect();
    client.send(request_of(8 * 1024));
    assert_eq!(client.response().status, 200);
    client.send(request_of(8 * 1024 + 1));
    assert_eq!(client.head().status, 431);
}

#[test]
fn an_endless_head_is_refused_without_being_kept() {
    let server = Server::start(small());
    let mut client = server.connect();
    client.send("GET / HTTP/1.1\r\nX: ");
    client.send(vec![b'x'; 1_000_000]);
    assert_eq!(client.head().status, 431);
}

#[test]
fn a_head_may_have_as_many_headers_as_the_limit() {
    let server = Server::start(Options::default());
    for (headers, status) in [(100, 200), (101, 431), (1000, 431)] {
        let lines = "X: y\r\n".repeat(headers);
        let mut client = server.connect();
        client.send(format!("GET /now HTTP/1.1\r\n{lines}\r\n"));
        assert_eq!(client.head().status, status, "{headers}");
    }
}

#[test]
fn a_body_may_be_as_long_as_the_limit() {
    let server = Server::start(Options::default());
    let body = "x".repeat(MAX_BODY);
    let mut client = server.connect();
    client.post("/now", &body);
    assert_eq!(client.response().body.len(), MAX_BODY);
    let chunk = format!("{MAX_BODY:x}\r\n{body}\r\n0\r\n\r\n");
    client.send("POST /now HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(chunk);
    assert_eq!(client.response().body.len(), MAX_BODY);
}

#[test]
fn a_declared_length_over_the_limit_is_refused_before_the_body_comes() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    let length = MAX_BODY + 1;
    client.send(format!(
        "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
    ));
    let response = client.response();
    assert_eq!(response.status, 413);
    assert_eq!(response.header("connection"), Some("close"));
}

#[test]
fn a_chunked_body_over_the_limit_is_refused_where_it_passes_it() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /now HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(format!(
        "{MAX_BODY:x}\r\n{}\r\n1\r\nx\r\n",
        "x".repeat(MAX_BODY)
    ));
    assert_eq!(client.response().status, 413);
}

#[test]
fn bodies_together_may_take_the_budget_and_give_it_back() {
    let server = Server::start(Options {
        max_body_bytes_in_flight: 1000,
        ..Options::default()
    });
    let mut first = server.connect();
    first.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 901\r\n\r\n");
    first.send("x".repeat(900));
    server.until(|stats| stats.body_bytes == 900);

    let mut second = server.connect();
    second.post("/now", &"y".repeat(101));
    assert_eq!(second.response().status, 503);
    let mut third = server.connect();
    third.post("/now", &"z".repeat(99));
    assert_eq!(third.response().status, 200);

    first.send("x");
    assert_eq!(first.response().body.len(), 901);
    assert_eq!(server.listener.stats().body_bytes, 0);
}

#[test]
fn a_declared_length_takes_nothing_of_the_budget() {
    let server = Server::start(Options {
        max_body_bytes_in_flight: 1000,
        ..Options::default()
    });
    let mut slow = server.connect();
    slow.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    server.until(|stats| stats.requests == 1);
    let mut other = server.connect();
    other.post("/now", &"y".repeat(1000));
    assert_eq!(other.response().status, 200);
}

#[test]
fn a_large_body_is_judged_elsewhere_with_the_same_outcome() {
    let server = Server::start(Options {
        inline_body_bytes: 10,
        ..Options::default()
    });
    let mut client = server.connect();
    for length in [10, 11, 5000] {
        let body = "x".repeat(length);
        client.post("/now", &body);
        assert_eq!(client.response().body, body);
        client.post("/panics", &body);
        assert_eq!(client.response().status, 500);
        client.post("/later", &body);
        let taken = server.taken();
        assert_eq!(taken.body.as_ref().map(Bytes::len), Some(length));
        assert!(taken.exchange.reply(Answer::empty(StatusCode::ACCEPTED)));
        assert_eq!(client.response().status, 202);
    }
}
