//! Starting, draining and stopping.

use std::any::Any;
use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::watch;

use crate::accept::accept;
use crate::hub::Hub;
use crate::options::Options;
use crate::service::Service;
use crate::socket::bind;
use crate::stats::Snapshot;
use crate::watch::watch;

/// What the listener's thread is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Run,
    Drain(Duration),
    Stop,
}

/// How long connections may take to go once their exchanges were ended.
const PARTING: Duration = Duration::from_secs(1);
/// How long the threads may take to end; only a service that blocks makes them take any time.
const SHUTDOWN: Duration = Duration::from_secs(5);
/// How often it is looked whether the last connection has gone.
const DRAIN_TICK: Duration = Duration::from_millis(10);

/// A listener that runs on threads of its own until it is stopped or dropped.
pub struct Listener<S: Service> {
    address: SocketAddr,
    hub: Arc<Hub<S>>,
    orders: watch::Sender<Order>,
    ended: Arc<Ended>,
}

impl<S: Service> Listener<S> {
    /// Binds the address and serves it. Port 0 lets the system choose.
    ///
    /// # Errors
    /// When the address cannot be bound or a thread cannot be started.
    pub fn start(address: SocketAddr, options: Options, service: S) -> io::Result<Self> {
        let socket = bind(address)?;
        let address = socket.local_addr()?;
        let first = runtime()?;
        let mut threads = vec![first.handle().clone()];
        let mut helpers = Vec::new();
        // Dropped when the first thread has done, or is never started.
        let (serving, served) = watch::channel(());
        for _ in 1..options.threads {
            let runtime = runtime()?;
            threads.push(runtime.handle().clone());
            helpers.push(helper(runtime, served.clone())?);
        }
        let (orders, received) = watch::channel(Order::Run);
        let hub = Arc::new(Hub::new(service, options));
        let ended = Arc::new(Ended::default());
        let thread = Running {
            runtime: first,
            threads,
            helpers,
            serving,
            socket,
            hub: Arc::clone(&hub),
            orders: received,
            ended: Arc::clone(&ended),
        };
        std::thread::Builder::new()
            .name("mcp_http".to_owned())
            .spawn(move || thread.run())?;
        Ok(Self {
            address,
            hub,
            orders,
            ended,
        })
    }

    /// The address that is served, with the port that was chosen.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Whoever answers.
    #[must_use]
    pub fn service(&self) -> &S {
        &self.hub.service
    }

    /// Stops accepting, lets calls finish, ends what is still open after `grace`, then stops. Does not
    /// wait.
    pub fn drain(&self, grace: Duration) {
        self.orders.send_if_modified(|order| {
            let running = *order == Order::Run;
            if running {
                *order = Order::Drain(grace);
            }
            running
        });
    }

    /// Stops now. Does not wait.
    pub fn stop(&self) {
        self.orders.send_replace(Order::Stop);
    }

    /// Waits until the listener has stopped; `false` when that takes longer than `timeout`.
    #[must_use]
    pub fn wait(&self, timeout: Duration) -> bool {
        self.ended.wait(timeout)
    }

    /// Gives up every open exchange whose events, as they were given to
    /// [`Call::open`](crate::Call::open), are of that kind: whoever was to answer is no more.
    pub fn fail_where(&self, concerns: impl Fn(&dyn Any) -> bool) {
        self.hub.fail_where(concerns);
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&self) -> Snapshot {
        self.hub.snapshot()
    }
}

impl<S: Service> Drop for Listener<S> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<S: Service> fmt::Debug for Listener<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}

/// What one thread serves its connections with.
fn runtime() -> io::Result<Runtime> {
    Builder::new_current_thread()
        .max_blocking_threads(1)
        .thread_name("mcp_large")
        .enable_io()
        .enable_time()
        .build()
}

/// What the listener's first thread works with.
struct Running<S: Service> {
    runtime: Runtime,
    /// All threads, this one included.
    threads: Vec<Handle>,
    helpers: Vec<JoinHandle<()>>,
    serving: watch::Sender<()>,
    socket: TcpListener,
    hub: Arc<Hub<S>>,
    orders: watch::Receiver<Order>,
    ended: Arc<Ended>,
}

impl<S: Service> Running<S> {
    /// Accepts, watches and serves; the helpers only serve, until this thread has done.
    fn run(self) {
        let serving = serve(&self.hub, self.socket, self.threads, self.orders);
        // The runtime has its driver and the socket its descriptor: registering one with the other
        // fails only where nothing works any more.
        let _ = self.runtime.block_on(serving);
        self.runtime.shutdown_timeout(SHUTDOWN);
        drop(self.serving);
        for helper in self.helpers {
            let _ = helper.join();
        }
        self.ended.set();
    }
}

/// A thread that serves the connections it is given as long as the first one does.
fn helper(runtime: Runtime, mut served: watch::Receiver<()>) -> io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("mcp_http".to_owned());
    thread.spawn(move || {
        let _ = runtime.block_on(served.changed());
        runtime.shutdown_timeout(SHUTDOWN);
    })
}

async fn serve<S: Service>(
    hub: &Arc<Hub<S>>,
    socket: TcpListener,
    threads: Vec<Handle>,
    mut orders: watch::Receiver<Order>,
) -> io::Result<()> {
    let socket = tokio::net::TcpListener::from_std(socket)?;
    let accepting = tokio::spawn(accept(Arc::clone(hub), socket, threads));
    tokio::spawn(watch(Arc::clone(hub)));
    let order = orders.wait_for(|order| *order != Order::Run).await;
    let order = order.map_or(Order::Stop, |order| *order);
    accepting.abort();
    let _ = accepting.await;
    if let Order::Drain(grace) = order {
        hub.drain();
        let stopped = orders.wait_for(|order| *order == Order::Stop);
        let drained = async {
            let _ = tokio::time::timeout(grace, empty(hub)).await;
            hub.end_exchanges();
            let _ = tokio::time::timeout(PARTING, empty(hub)).await;
        };
        first(stopped, drained).await;
    }
    hub.cut_all();
    Ok(())
}

async fn empty<S: Service>(hub: &Hub<S>) {
    while !hub.is_empty() {
        tokio::time::sleep(DRAIN_TICK).await;
    }
}

/// Waits for whichever is ready first.
async fn first(one: impl Future, other: impl Future) {
    let mut one = std::pin::pin!(one);
    let mut other = std::pin::pin!(other);
    std::future::poll_fn(|cx| {
        let ready = one.as_mut().poll(cx).is_ready() || other.as_mut().poll(cx).is_ready();
        if ready {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
}

/// Set once, when the threads are gone.
#[derive(Default)]
struct Ended {
    done: Mutex<bool>,
    changed: Condvar,
}

impl Ended {
    fn lock(&self) -> MutexGuard<'_, bool> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self) {
        *self.lock() = true;
        self.changed.notify_all();
    }

    fn wait(&self, timeout: Duration) -> bool {
        let waited = self
            .changed
            .wait_timeout_while(self.lock(), timeout, |done| !*done);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
