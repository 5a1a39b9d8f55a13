//! Starting, draining, stopping.

use std::time::Duration;

use mcp_listener::{Answer, Bytes, Ended, Options, StatusCode};

use crate::server::{Event, PATIENCE, Server};

#[test]
fn stopping_closes_everything_at_once() {
    let server = Server::start(Options::default());
    let mut idle = server.connect();
    idle.post("/now", "in");
    assert_eq!(idle.response().body, "in");
    let mut waiting = server.connect();
    waiting.post("/later", "");
    let taken = server.taken();
    server.listener.stop();
    assert!(server.listener.wait(PATIENCE));
    assert!(idle.is_closed());
    assert!(waiting.is_closed());
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert!(!taken.exchange.reply(Answer::empty(StatusCode::OK)));
    assert_eq!(server.listener.stats().connections, 0);
}

#[test]
fn dropping_a_listener_stops_it() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/now", "in");
    assert_eq!(client.response().body, "in");
    drop(server);
    assert!(client.is_closed());
}

#[test]
fn an_address_is_free_again_for_the_next_listener() {
    let first = Server::start(Options::default());
    let address = first.listener.address();
    let mut client = first.connect();
    client.post("/now", "in");
    assert_eq!(client.response().body, "in");
    first.listener.stop();
    let second = Server::start_at(address, Options::default());
    let mut client = second.connect();
    client.post("/now", "again");
    assert_eq!(client.response().body, "again");
}

#[test]
fn an_address_in_use_is_an_error() {
    let server = Server::start(Options::default());
    let other = std::panic::catch_unwind(|| {
        Server::start_at(server.listener.address(), Options::default())
    });
    assert!(other.is_err());
}

#[test]
fn draining_finishes_calls_and_closes_idle_connections() {
    let server = Server::start(Options::default());
    let mut idle = server.connect();
    idle.post("/now", "in");
    assert_eq!(idle.response().body, "in");
    let mut waiting = server.connect();
    waiting.post("/later", "");
    let taken = server.taken();

    server.listener.drain(PATIENCE);
    assert!(idle.is_closed());
    assert!(
        taken
            .exchange
            .reply(Answer::json(StatusCode::OK, "finished"))
    );
    let response = waiting.response();
    assert_eq!(response.body, "finished");
    assert_eq!(response.header("connection"), Some("close"));
    assert!(waiting.is_closed());
    assert!(server.listener.wait(PATIENCE));
}

#[test]
fn draining_ends_streams_and_answers_calls_after_its_grace() {
    let server = Server::start(Options::default());
    let mut streaming = server.connect();
    streaming.post("/later", "");
    let stream = server.taken();
    assert!(
        stream
            .exchange
            .stream(Answer::json(StatusCode::OK, "first"))
    );
    streaming.head();
    assert_eq!(streaming.chunk(), "first");
    let mut waiting = server.connect();
    waiting.post("/later", "");
    let call = server.taken();

    server.listener.drain(Duration::from_millis(200));
    assert!(stream.exchange.chunk(Bytes::from("still open")));
    assert_eq!(streaming.chunk(), "still open");
    assert_eq!(streaming.chunk(), "");
    assert_eq!(waiting.response().status, 503);
    assert!(server.listener.wait(PATIENCE));
    assert_eq!(stream.ended(), Ended::Closed);
    assert_eq!(call.event(), Event::Ended(Ended::Closed));
}

#[test]
fn stopping_cuts_a_drain_short() {
    let server = Server::start(Options::default());
    let mut waiting = server.connect();
    waiting.post("/later", "");
    let _taken = server.taken();
    server.listener.drain(Duration::from_secs(3600));
    server.listener.stop();
    assert!(server.listener.wait(PATIENCE));
    assert!(waiting.is_closed());
}
