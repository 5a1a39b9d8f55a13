//! Peers that take their time. The deadlines are short; nothing is asserted of how long anything took.

use std::time::Duration;

use mcp_listener::{Answer, Ended, Options, StatusCode};

use crate::server::{Event, Server};

const SHORT: Duration = Duration::from_millis(150);

#[test]
fn a_connection_that_never_speaks_is_closed() {
    let server = Server::start(Options {
        head_timeout: SHORT,
        ..Options::default()
    });
    assert!(server.connect().is_closed());
    assert_eq!(server.listener.stats().cut, 1);
}

#[test]
fn a_head_that_does_not_end_is_given_up() {
    let server = Server::start(Options {
        head_timeout: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.post("/now", "first");
    assert_eq!(client.response().body, "first");
    client.send("POST /now HTTP/1.1\r\nHost:");
    assert!(client.is_closed());
}

#[test]
fn a_head_that_drips_is_given_up_all_the_same() {
    let server = Server::start(Options {
        head_timeout: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.send("GET / HTTP/1.1\r\nX: ");
    let mut dripped = 0;
    while std::io::Write::write_all(&mut client.stream, b"x").is_ok() {
        dripped += 1;
        assert!(dripped < 1000);
        std::thread::sleep(Duration::from_millis(10));
    }
    server.until(|stats| stats.connections == 0);
}

#[test]
fn a_connection_may_idle_longer_than_a_head_may_take() {
    let server = Server::start(Options {
        head_timeout: Duration::from_millis(50),
        ..Options::default()
    });
    let mut client = server.connect();
    client.post("/now", "first");
    assert_eq!(client.response().body, "first");
    std::thread::sleep(Duration::from_millis(200));
    client.post("/now", "second");
    assert_eq!(client.response().body, "second");
}

#[test]
fn an_idle_connection_is_closed() {
    let server = Server::start(Options {
        idle_timeout: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.post("/now", "first");
    assert_eq!(client.response().body, "first");
    assert!(client.is_closed());
    assert_eq!(server.listener.stats().cut, 0);
}

#[test]
fn a_connection_whose_request_is_being_answered_is_not_idle() {
    let server = Server::start(Options {
        idle_timeout: Duration::from_millis(40),
        head_timeout: Duration::from_millis(40),
        ..Options::default()
    });
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        taken
            .exchange
            .reply(Answer::json(StatusCode::OK, "at last"))
    );
    assert_eq!(client.response().body, "at last");
}

#[test]
fn a_body_that_is_too_slow_is_a_408() {
    let server = Server::start(Options {
        body_grace: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    let response = client.response();
    assert_eq!((response.status, &*response.body), (408, "Timeout"));
    assert_eq!(response.header("connection"), Some("close"));
}

#[test]
fn a_body_that_keeps_its_rate_is_given_up_at_the_total() {
    let server = Server::start(Options {
        body_grace: Duration::from_millis(100),
        body_timeout: Duration::from_millis(400),
        body_min_rate: 1,
        ..Options::default()
    });
    let mut client = server.connect();
    client.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n");
    client.send("x".repeat(50_000));
    assert_eq!(client.response().status, 408);
}

#[test]
fn a_deferred_body_has_the_same_deadline() {
    let server = Server::start(Options {
        body_grace: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.send("POST /deferred HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\nabc");
    let taken = server.taken();
    taken.exchange.read_body();
    assert_eq!(
        taken.event(),
        Event::Body(Err(mcp_listener::Fault::Timeout))
    );
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert_eq!(client.response().status, 408);
}

#[test]
fn a_peer_that_never_reads_its_reply_is_cut() {
    let server = Server::start(Options {
        stall_timeout: SHORT,
        ..Options::default()
    });
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    let body = vec![b'x'; 32 << 20];
    assert!(taken.exchange.reply(Answer::json(StatusCode::OK, body)));
    server.until(|stats| stats.connections == 0 && stats.cut == 1);
    drop(client);
}
