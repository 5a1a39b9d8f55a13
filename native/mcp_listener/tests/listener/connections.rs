//! As many connections as there may be.

use mcp_listener::Options;

use crate::server::Server;

#[test]
fn a_connection_too_many_is_told_so_and_closed() {
    let server = Server::start(Options {
        max_connections: 3,
        ..Options::default()
    });
    let mut clients: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.post("/now", "in");
        assert_eq!(client.response().body, "in");
    }
    let mut fourth = server.connect();
    let response = fourth.response();
    assert_eq!((response.status, &*response.body), (503, "Overloaded"));
    assert_eq!(response.header("connection"), Some("close"));
    assert!(fourth.is_closed());
    assert_eq!(server.listener.stats().turned_away, 1);

    clients.pop();
    server.until(|stats| stats.connections == 2);
    let mut next = server.connect();
    next.post("/now", "in");
    assert_eq!(next.response().body, "in");
}

#[test]
fn a_burst_of_connections_is_served() {
    let server = Server::start(Options::default());
    let mut clients: Vec<_> = (0..400).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.post("/now", "in");
    }
    for client in &mut clients {
        assert_eq!(client.response().body, "in");
    }
    assert_eq!(server.listener.stats().connections, 400);
    drop(clients);
    server.until(|stats| stats.connections == 0);
}
