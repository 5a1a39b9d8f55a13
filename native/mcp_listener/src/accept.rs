//! Connections as they come.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use crate::connection::Connection;
use crate::hub::Hub;
use crate::serve::serve;
use crate::service::{Fault, Service};

/// How long to wait after accepting has failed: as a rule there is no descriptor left, and the
/// connection that waits for one makes the next attempt fail at once, too.
const FIRST_BACKOFF: Duration = Duration::from_millis(5);
const LAST_BACKOFF: Duration = Duration::from_millis(500);

/// Accepts for as long as the listener runs.
pub(crate) async fn accept<S: Service>(hub: Arc<Hub<S>>, listener: TcpListener) {
    let mut backoff = FIRST_BACKOFF;
    loop {
        if let Ok((stream, peer)) = listener.accept().await {
            backoff = FIRST_BACKOFF;
            hub.stats.accepted.add();
            admit(&hub, stream, peer);
        } else {
            hub.stats.accept_errors.add();
            tokio::time::sleep(backoff).await;
            backoff = backoff.saturating_mul(2).min(LAST_BACKOFF);
        }
    }
}

fn admit<S: Service>(hub: &Arc<Hub<S>>, stream: TcpStream, peer: SocketAddr) {
    // Without this a peer waits 40 ms for every second write.
    let _ = stream.set_nodelay(true);
    let (read, write) = stream.into_split();
    let connection = Arc::new(Connection::new(write, peer, hub.clock));
    match hub.register(&connection) {
        Some(registered) => {
            tokio::spawn(serve(Arc::clone(hub), connection, read, registered));
        }
        None => turn_away(hub, &connection),
    }
}

/// One attempt to say why, and no more: a connection too many gets no task.
fn turn_away<S: Service>(hub: &Arc<Hub<S>>, connection: &Connection) {
    hub.stats.turned_away.add();
    let answer = hub.refuse(Fault::Overloaded).into_bytes();
    let _ = connection.socket().try_write(&answer);
    let _ = connection.shut_down();
}
