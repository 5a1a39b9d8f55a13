//! Connections as they come.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use socket2::SockRef;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;

use crate::connection::Connection;
use crate::hub::Hub;
use crate::serve::serve;
use crate::service::{Fault, Service};

/// How long to wait after accepting has failed: as a rule there is no descriptor left, and the
/// connection that waits for one makes the next attempt fail at once, too.
const FIRST_BACKOFF: Duration = Duration::from_millis(5);
const LAST_BACKOFF: Duration = Duration::from_millis(500);

/// Accepts for as long as the listener runs, and deals the connections out to its threads. Each stays
/// where it is: between threads that take work from each other a call costs more wake-ups.
pub(crate) async fn accept<S: Service>(
    hub: Arc<Hub<S>>,
    listener: TcpListener,
    threads: Vec<Handle>,
) {
    let mut backoff = FIRST_BACKOFF;
    let mut turn = threads.iter().cycle();
    loop {
        if let Ok((stream, peer)) = listener.accept().await {
            backoff = FIRST_BACKOFF;
            hub.stats.accepted.add();
            if let (Ok(stream), Some(thread)) = (stream.into_std(), turn.next()) {
                thread.spawn(admit(Arc::clone(&hub), stream, peer));
            }
        } else {
            hub.stats.accept_errors.add();
            tokio::time::sleep(backoff).await;
            backoff = backoff.saturating_mul(2).min(LAST_BACKOFF);
        }
    }
}

async fn admit<S: Service>(hub: Arc<Hub<S>>, stream: std::net::TcpStream, peer: SocketAddr) {
    let Ok(stream) = TcpStream::from_std(stream) else {
        return;
    };
    // Without this a peer waits 40 ms for every second write.
    let _ = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    let connection = Arc::new(Connection::new(write, peer, hub.clock));
    match hub.register(&connection) {
        Some(registered) => serve(hub, connection, read, registered).await,
        None => turn_away(&hub, &connection),
    }
}

/// One attempt to say why, and no more.
fn turn_away<S: Service>(hub: &Hub<S>, connection: &Connection) {
    hub.stats.turned_away.add();
    let answer = hub.refuse(Fault::Overloaded).into_bytes();
    // Past tokio, which does not know yet that the socket can be written.
    let _ = SockRef::from(connection.socket()).send(&answer);
    let _ = connection.shut_down();
}
