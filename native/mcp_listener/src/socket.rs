//! The listening socket.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{Domain, Protocol, Socket, Type};

/// Connections that the system keeps until they are accepted; the standard library's 128 make a
/// burst of clients wait a second.
const BACKLOG: i32 = 4096;

/// The address may still be held by a listener that was told to stop a moment ago.
const ATTEMPTS: u32 = 20;
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(25);

pub(crate) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    for _ in 1..ATTEMPTS {
        match try_bind(address) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                std::thread::sleep(BETWEEN_ATTEMPTS);
            }
            bound => return bound,
        }
    }
    try_bind(address)
}

fn try_bind(address: SocketAddr) -> io::Result<TcpListener> {
    let domain = Domain::for_address(address);
    let socket = Socket::new(domain, Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
