//! The life of one connection.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use hyper::service::service_fn;
use tokio::net::tcp::OwnedReadHalf;

use crate::connection::{Connection, Phase};
use crate::handler::handle;
use crate::hub::{Hub, Registered};
use crate::io::Io;
use crate::service::Service;

/// How long, and for how many bytes, a peer that was refused may go on sending before the connection
/// is closed.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 16 * 1024 * 1024;

/// Serves a connection until it ends, for whatever reason.
pub(crate) async fn serve<S: Service>(
    hub: Arc<Hub<S>>,
    connection: Arc<Connection>,
    read: OwnedReadHalf,
    registered: Registered<S>,
) {
    if run(&hub, &connection, read).await {
        let _ = tokio::time::timeout(LINGER, discard(&connection)).await;
    }
    drop(registered);
}

/// Whether something the peer sent was left unread.
async fn run<S: Service>(
    hub: &Arc<Hub<S>>,
    connection: &Arc<Connection>,
    read: OwnedReadHalf,
) -> bool {
    // Boxed, so that nothing of it is kept while a stream is open or the connection idles.
    let service =
        service_fn(|request| Box::pin(handle(Arc::clone(hub), Arc::clone(connection), request)));
    let io = Io::new(read, connection, hub.options.max_head_bytes);
    let mut http = pin!(hub.http().serve_connection(io, service));
    let mut draining = false;
    let ended = poll_fn(|cx| {
        connection.register(cx);
        if connection.is_cut() {
            return Poll::Ready(None);
        }
        if !draining && hub.is_draining() {
            draining = true;
            http.as_mut().graceful_shutdown();
        }
        if let Poll::Ready(ended) = http.as_mut().poll(cx) {
            return Poll::Ready(Some(ended));
        }
        // hyper does not look at the peer while a request is being answered.
        if connection.has_exchange() && connection.poll_peer_closed(cx) {
            hub.stats.cut.add();
            return Poll::Ready(None);
        }
        Poll::Pending
    });
    match ended.await {
        None => false,
        Some(Ok(())) => connection.lingers(),
        Some(Err(error)) => connection.lingers() || error.is_parse(),
    }
}

/// Says that nothing more comes, and takes what still does.
async fn discard(connection: &Connection) -> io::Result<()> {
    connection.enter(Phase::Idle);
    connection.shut_down()?;
    let mut buffer = vec![0; 8 * 1024];
    let mut left = LINGER_BYTES;
    while left > 0 {
        connection.socket().readable().await?;
        match connection.socket().try_read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => left = left.saturating_sub(read),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
