//! Answers that stay open.

use std::time::Duration;

use mcp_listener::{Answer, Bytes, Ended, Options, StatusCode};

use crate::client::Client;
use crate::server::{Event, Server, Taken};

fn opened(server: &Server, first: &'static str) -> (Client, Taken) {
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    assert!(taken.exchange.stream(Answer::json(StatusCode::OK, first)));
    (client, taken)
}

#[test]
fn head_and_first_piece_leave_in_one_write() {
    let server = Server::start(Options::default());
    for _ in 0..50 {
        let (mut client, taken) = opened(&server, "first");
        let text = client.read_once();
        assert!(text.ends_with("\r\n\r\n5\r\nfirst\r\n"), "{text}");
        assert_eq!(taken.event(), Event::Sent(5));
    }
}

#[test]
fn pieces_arrive_as_they_are_given_and_are_credited_once() {
    let server = Server::start(Options::default());
    let (mut client, taken) = opened(&server, "");
    assert_eq!(client.head().header("transfer-encoding"), Some("chunked"));
    for piece in ["one", "three", "seven"] {
        assert!(taken.exchange.chunk(Bytes::from(piece)));
        assert_eq!(client.chunk(), piece);
        assert_eq!(taken.event(), Event::Sent(piece.len()));
    }
    server.until(|stats| stats.streams == 1);
    taken.exchange.finish();
    assert_eq!(client.chunk(), "");
    assert_eq!(taken.event(), Event::Ended(Ended::Answered));
    assert!(!taken.exchange.chunk(Bytes::from("late")));
    server.until(|stats| stats.streams == 0);

    client.post("/now", "next");
    assert_eq!(client.response().body, "next");
}

#[test]
fn what_was_given_before_the_end_is_written_before_the_end() {
    let server = Server::start(Options::default());
    let (mut client, taken) = opened(&server, "");
    client.head();
    for piece in ["a", "b", "c"] {
        assert!(taken.exchange.chunk(Bytes::from(piece)));
    }
    taken.exchange.finish();
    assert_eq!(client.chunks(3), "abc");
    assert_eq!(client.chunk(), "");
}

#[test]
fn a_stream_finished_before_it_was_begun_is_a_reply() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    let taken = server.taken();
    assert!(taken.exchange.stream(Answer::json(StatusCode::OK, "all")));
    taken.exchange.finish();
    // Whether the connection has taken its head by then decides how its end is said.
    let head = client.head();
    let body = match head.header("content-length") {
        Some(_) => client.take(3),
        None => client.chunks(3),
    };
    assert_eq!((head.status, &*body), (200, "all"));
    assert_eq!(taken.ended(), Ended::Answered);
}

#[test]
fn a_dropped_stream_breaks_off() {
    let server = Server::start(Options::default());
    let (mut client, taken) = opened(&server, "first");
    client.head();
    assert_eq!(client.chunk(), "first");
    let Taken {
        exchange, events, ..
    } = taken;
    drop(exchange);
    assert!(client.is_closed());
    assert_eq!(events.iter().last(), Some(Event::Ended(Ended::Closed)));
}

#[test]
fn a_client_that_leaves_an_idle_stream_is_noticed() {
    let server = Server::start(Options::default());
    let (client, taken) = opened(&server, "first");
    assert_eq!(taken.event(), Event::Sent(5));
    drop(client);
    assert_eq!(taken.event(), Event::Ended(Ended::Closed));
    assert!(!taken.exchange.chunk(Bytes::from("late")));
    server.until(|stats| stats.streams == 0 && stats.connections == 0);
}

#[test]
fn a_request_behind_a_stream_neither_stops_it_nor_hides_its_end() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/later", "");
    client.post("/now", "behind");
    let taken = server.taken();
    assert!(taken.exchange.stream(Answer::json(StatusCode::OK, "first")));
    client.head();
    assert_eq!(client.chunk(), "first");
    assert!(taken.exchange.chunk(Bytes::from("second")));
    assert_eq!(client.chunk(), "second");
    drop(client);
    assert_eq!(taken.ended(), Ended::Closed);
}

/// Pieces until the peer's and our own socket are full, and then up to the limit of the queue.
fn fill(taken: &Taken, piece: &Bytes) -> usize {
    let mut given = 0;
    while given < 64 << 20 && taken.exchange.chunk(piece.clone()) {
        given += piece.len();
    }
    given
}

#[test]
fn a_stream_with_too_much_waiting_is_cut() {
    let server = Server::start(Options {
        max_queued_bytes: 100_000,
        ..Options::default()
    });
    let (client, taken) = opened(&server, "first");
    let given = fill(&taken, &Bytes::from(vec![b'x'; 10_000]));
    assert!(given < 64 << 20);
    assert_eq!(taken.ended(), Ended::Closed);
    server.until(|stats| stats.connections == 0);
    drop(client);
}

#[test]
fn one_piece_may_be_longer_than_what_may_wait() {
    let server = Server::start(Options {
        max_queued_bytes: 1000,
        ..Options::default()
    });
    let (mut client, taken) = opened(&server, "");
    client.head();
    assert!(taken.exchange.chunk(Bytes::from(vec![b'x'; 3_000_000])));
    assert_eq!(client.chunks(3_000_000).len(), 3_000_000);
    assert_eq!(taken.event(), Event::Sent(3_000_000));
    taken.exchange.finish();
    assert_eq!(client.chunk(), "");
}

#[test]
fn a_peer_that_reads_nothing_is_cut_and_what_left_is_all_that_is_credited() {
    let server = Server::start(Options {
        stall_timeout: Duration::from_millis(300),
        max_queued_bytes: 64 << 20,
        ..Options::default()
    });
    let (client, taken) = opened(&server, "first");
    let piece = Bytes::from(vec![b'x'; 100_000]);
    let mut given = 5;
    while given < 32 << 20 {
        assert!(taken.exchange.chunk(piece.clone()));
        given += piece.len();
    }
    let mut credited = 0;
    loop {
        match taken.event() {
            Event::Sent(bytes) => credited += bytes,
            Event::Ended(how) => {
                assert_eq!(how, Ended::Closed);
                break;
            }
            Event::Body(_) => panic!("nobody asked for a body"),
        }
    }
    assert!(credited < given, "{credited} of {given}");
    drop(client);
}

#[test]
fn many_streams_are_open_at_once_and_all_end() {
    let server = Server::start(Options::default());
    let mut open: Vec<_> = (0..300).map(|_| opened(&server, "first")).collect();
    server.until(|stats| stats.streams == 300);
    for (client, taken) in &mut open {
        assert!(taken.exchange.chunk(Bytes::from("event")));
        client.head();
        assert_eq!(client.chunks(10), "firstevent");
    }
    let (clients, taken): (Vec<_>, Vec<_>) = open.into_iter().unzip();
    drop(clients);
    for taken in &taken {
        assert_eq!(taken.ended(), Ended::Closed);
    }
    server.until(|stats| stats.streams == 0 && stats.connections == 0);
}
