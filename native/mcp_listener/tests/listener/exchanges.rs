//! Answers that come later.

use mcp_listener::{Answer, Bytes, Ended, Fault, Options, StatusCode};

use crate::server::{Event, MAX_BODY, Server};

fn ok(body: &'static str) -> Answer {
    Answer::json(StatusCode::OK, body)
}

#[test]
fn a_reply_is_written_once() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "ask");
    let taken = server.taken();
    assert_eq!(taken.body, Some(Bytes::from("ask")));
    server.until(|stats| stats.exchanges == 1);
    assert!(taken.exchange.reply(ok("answer")));
    assert!(!taken.exchange.reply(ok("again")));
    assert!(!taken.exchange.stream(ok("again")));
    assert!(!taken.exchange.chunk(Bytes::from("again")));
    assert_eq!(client.response().body, "answer");
    assert_eq!(taken.event(), Event::Ended(Ended::Answered));
    assert!(taken.is_over());
    server.until(|stats| stats.exchanges == 0);

    client.post("/now", "next");
    assert_eq!(client.response().body, "next");
}

#[test]
fn an_exchange_that_is_kept_keeps_no_connection() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /later HTTP/1.1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    let taken = server.taken();
    assert!(taken.exchange.reply(ok("answer")));
    assert_eq!(client.response().body, "answer");
    assert!(client.is_closed());
    drop(taken);
}

#[test]
fn a_dropped_exchange_is_a_500() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    drop(taken.exchange);
    let response = client.response();
    assert_eq!((response.status, &*response.body), (500, "Internal"));
    assert_eq!(taken.events.recv().unwrap(), Event::Ended(Ended::Closed));

    client.post("/forgotten", "");
    assert_eq!(client.response().status, 500);
}

#[test]
fn a_panic_is_a_500_and_is_counted() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    for (path, panics) in [("/panics", 1), ("/panics-early", 2)] {
        client.post(path, "");
        assert_eq!(client.response().status, 500);
        assert_eq!(server.listener.stats().panics, panics);
    }
    client.post("/now", "still here");
    assert_eq!(client.response().body, "still here");
}

#[test]
fn a_client_that_goes_away_is_noticed_while_nothing_was_answered() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    drop(client);
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert!(!taken.exchange.reply(ok("too late")));
    server.until(|stats| stats.connections == 0 && stats.exchanges == 0);
}

#[test]
fn a_client_that_goes_away_is_noticed_behind_what_it_had_sent_already() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    client.post("/later", "never reached");
    client.send("GET / HT");
    let taken = server.taken();
    drop(client);
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    server.until(|stats| stats.connections == 0);
    assert!(server.has_taken_nothing());
}

#[test]
fn a_deferred_request_has_its_body_read_when_somebody_asks() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/deferred", "the body");
    let taken = server.taken();
    assert_eq!(taken.body, None);
    taken.exchange.read_body();
    assert_eq!(taken.event(), Event::Body(Ok(Bytes::from("the body"))));
    assert!(taken.exchange.reply(ok("read")));
    let response = client.response();
    assert_eq!(
        (&*response.body, response.header("connection")),
        ("read", None)
    );

    client.send("GET /deferred HTTP/1.1\r\nHost: a\r\n\r\n");
    let taken = server.taken();
    taken.exchange.read_body();
    assert_eq!(taken.event(), Event::Body(Ok(Bytes::new())));
    assert!(taken.exchange.reply(ok("nothing to read")));
    assert_eq!(client.response().status, 200);
}

#[test]
fn a_deferred_request_may_be_answered_without_its_body() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /deferred HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n");
    let taken = server.taken();
    assert!(
        taken
            .exchange
            .reply(Answer::empty(StatusCode::UNAUTHORIZED))
    );
    let response = client.response();
    assert_eq!(response.status, 401);
    assert_eq!(response.header("connection"), Some("close"));
}

#[test]
fn a_deferred_request_may_be_answered_while_its_body_is_read() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /deferred HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
    let taken = server.taken();
    taken.exchange.read_body();
    server.until(|stats| stats.body_bytes == 3);
    drop(taken.exchange);
    assert_eq!(client.response().status, 500);
    assert_eq!(server.listener.stats().body_bytes, 0);
}

#[test]
fn a_deferred_body_that_is_too_long_is_answered_for_whoever_asked() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    let length = MAX_BODY + 1;
    client.send(format!(
        "POST /deferred HTTP/1.1\r\nHost: a\r\nContent-Length: {length}\r\n\r\n"
    ));
    let taken = server.taken();
    taken.exchange.read_body();
    assert_eq!(taken.event(), Event::Body(Err(Fault::TooLarge)));
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert_eq!(client.response().status, 413);
    assert!(!taken.exchange.reply(ok("too late")));
}

#[test]
fn a_client_that_goes_away_within_its_body_is_noticed() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /deferred HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nabc");
    let taken = server.taken();
    drop(client);
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
}

/// Longer than what is judged where it was read.
const LARGE: usize = 40_000;

#[test]
fn a_client_that_goes_away_while_the_service_runs_ends_the_exchange() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/held-up", &"x".repeat(LARGE));
    let taken = server.taken();
    assert_eq!(server.listener.stats().exchanges, 1);
    drop(client);
    server.until(|stats| stats.connections == 0);
    server.resume();
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert!(taken.is_over());
    assert!(!taken.exchange.reply(ok("too late")));
    server.until(|stats| stats.exchanges == 0);
}

#[test]
fn a_service_that_panics_behind_an_exchange_ends_it() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    for length in [0, LARGE] {
        client.post("/panics-later", &"x".repeat(length));
        let taken = server.taken();
        assert_eq!(taken.event(), Event::Ended(Ended::Closed));
        assert!(taken.is_over());
        assert_eq!(client.response().status, 500);
        server.until(|stats| stats.exchanges == 0);
    }
}

#[test]
fn a_second_exchange_has_ended_from_the_start() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/twice", "");
    let (first, second) = (server.taken(), server.taken());
    assert_eq!(second.event(), Event::Ended(Ended::Closed));
    assert!(!second.exchange.reply(ok("second")));
    assert!(first.exchange.reply(ok("first")));
    assert_eq!(client.response().body, "first");
    assert_eq!(first.event(), Event::Ended(Ended::Answered));
    server.until(|stats| stats.exchanges == 0);
}

#[test]
fn an_exchange_counts_until_its_stream_has_ended() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    assert!(taken.exchange.stream(ok("first")));
    assert_eq!(client.head().status, 200);
    assert_eq!(client.chunk(), "first");
    let stats = server.listener.stats();
    assert_eq!((stats.exchanges, stats.streams), (1, 1));
    taken.exchange.finish();
    assert_eq!(client.chunk(), "");
    server.until(|stats| stats.exchanges == 0 && stats.streams == 0);
}
