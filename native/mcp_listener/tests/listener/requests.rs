//! HTTP/1.1 as it is spoken.

use mcp_listener::Options;

use crate::server::Server;

#[test]
fn an_answer_says_its_length_and_its_date_and_nothing_of_the_server() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/now", "hello");
    let response = client.response();
    assert_eq!((response.status, &*response.body), (200, "hello"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("content-length"), Some("5"));
    assert!(response.header("date").is_some());
    assert_eq!(response.header("server"), None);
    assert_eq!(response.header("transfer-encoding"), None);
}

#[test]
fn head_and_body_leave_in_one_write() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    for _ in 0..50 {
        client.post("/kept", "");
        let text = client.read_once();
        assert!(
            text.ends_with("\r\n\r\nhead, a tail that is kept"),
            "{text}"
        );
    }
}

#[test]
fn a_connection_serves_one_request_after_the_other() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    for number in 0..100 {
        let body = number.to_string();
        client.post("/now", &body);
        assert_eq!(client.response().body, body);
    }
    let stats = server.listener.stats();
    assert_eq!((stats.accepted, stats.requests), (1, 100));
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    let head = "POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n";
    let requests: Vec<String> = (0..64).map(|number| format!("{head}{number:02}")).collect();
    client.send(requests.concat());
    for number in 0..64 {
        assert_eq!(client.response().body, format!("{number:02}"));
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    for byte in b"POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc" {
        client.send([*byte]);
    }
    assert_eq!(client.response().body, "abc");
}

#[test]
fn a_chunked_body_is_read_and_its_connection_closed() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /now HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, &*response.body), (200, "abcde"));
    assert_eq!(response.header("connection"), Some("close"));
    assert!(client.is_closed());
}

#[test]
fn a_client_that_waits_for_100_gets_it_only_when_its_body_is_wanted() {
    let server = Server::start(Options::default());
    let head = "Host: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";

    let mut client = server.connect();
    client.send(format!("POST /now HTTP/1.1\r\n{head}"));
    assert_eq!(client.head().status, 100);
    client.send("ok");
    assert_eq!(client.response().body, "ok");

    let mut client = server.connect();
    client.send(format!("POST /refused HTTP/1.1\r\n{head}"));
    assert_eq!(client.response().status, 403);
}

#[test]
fn two_lengths_or_two_kinds_of_length_are_refused() {
    let server = Server::start(Options::default());
    for lengths in [
        "Content-Length: 2\r\nContent-Length: 3",
        "Content-Length: 2\r\nContent-Length: 2",
        "Content-Length: 2\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 2",
        "Transfer-Encoding: gzip",
        "Content-Length: -1",
        "Content-Length: 2, 2",
        "Content-Length: 99999999999999999999",
    ] {
        let mut client = server.connect();
        client.send(format!(
            "POST /now HTTP/1.1\r\nHost: a\r\n{lengths}\r\n\r\n"
        ));
        assert_eq!(client.head().status, 400, "{lengths}");
    }
    assert_eq!(server.listener.stats().panics, 0);
}

#[test]
fn what_is_not_http_is_refused() {
    let server = Server::start(Options::default());
    for bytes in [
        &b"nonsense\r\n\r\n"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /a b HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nName : value\r\n\r\n",
        b"GET / HTTP/1.1\r\nName: a\rb\r\n\r\n",
        b"GET / HTTP/1.1\r\nName: a\0b\r\n\r\n",
        b"GET / HTTP/1.1\r\n folded\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    ] {
        let mut client = server.connect();
        client.send(bytes);
        client.close_sending();
        assert_eq!(client.head().status, 400, "{bytes:?}");
    }
    assert_eq!(server.listener.stats().requests, 0);
}

#[test]
fn the_connection_of_a_refused_request_with_a_body_is_closed_after_the_answer_was_read() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n");
    // More than the sockets hold: without somebody who reads it the answer would be lost.
    let body = vec![b'x'; 3_000_000];
    client.send(body);
    let response = client.response();
    assert_eq!(response.status, 403);
    assert_eq!(response.header("connection"), Some("close"));
    client.close_sending();
    assert!(client.is_closed());
}

#[test]
fn a_client_that_has_closed_its_side_gets_what_can_be_answered_at_once() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.post("/now", "first");
    client.post("/now", "second");
    client.close_sending();
    assert_eq!(client.response().body, "first");
    assert_eq!(client.response().body, "second");
    assert!(client.is_closed());
}

#[test]
fn http_1_0_is_answered_and_closed() {
    let server = Server::start(Options::default());
    let mut client = server.connect();
    client.send("POST /now HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi");
    assert_eq!(client.response().body, "hi");
    assert!(client.is_closed());
}

#[test]
fn a_request_that_is_cut_or_changed_at_any_byte_harms_nobody() {
    let server = Server::start(Options::default());
    let request = b"POST /now HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nX: y\r\n\r\n2\r\nhi\r\n0\r\n\r\n";
    for place in 0..request.len() {
        for change in [None, Some(0), Some(b'\n'), Some(0xff)] {
            let mut bytes = request.to_vec();
            match change {
                Some(byte) => bytes[place] = byte,
                None => bytes.truncate(place),
            }
            let mut client = server.connect();
            client.send(&bytes);
            client.close_sending();
            let answer = client.rest();
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 "),
                "{answer}"
            );
        }
    }
    server.until(|stats| stats.connections == 0 && stats.body_bytes == 0);
    assert_eq!(server.listener.stats().panics, 0);
}
