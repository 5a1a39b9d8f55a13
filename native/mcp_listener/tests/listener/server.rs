//! A service whose paths are what it does.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_listener::{
    Answer, Bytes, Call, Ended, Events, Exchange, Fault, Listener, Options, Payload, RequestHead,
    Service, StatusCode, Verdict,
};

use crate::client::Client;

/// The longest body that is read.
pub(crate) const MAX_BODY: usize = 100_000;

/// How long anything may take that has to happen.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Toy {
    taken: Sender<Taken>,
    resume: Mutex<Receiver<()>>,
}

/// A request that waits for its answer, and what its exchange was told.
pub(crate) struct Taken {
    pub(crate) exchange: Exchange,
    pub(crate) body: Option<Bytes>,
    pub(crate) events: Receiver<Event>,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Sent(usize),
    Body(Result<Bytes, Fault>),
    Ended(Ended),
}

struct Told(Sender<Event>);

impl Events for Told {
    fn sent(&self, bytes: usize) {
        let _ = self.0.send(Event::Sent(bytes));
    }

    fn body(&self, body: Result<Bytes, Fault>) {
        let _ = self.0.send(Event::Body(body));
    }

    fn ended(&self, how: Ended) {
        let _ = self.0.send(Event::Ended(how));
    }
}

impl Taken {
    pub(crate) fn event(&self) -> Event {
        self.events.recv_timeout(PATIENCE).expect("an event")
    }

    /// How it ended, whatever was told before.
    pub(crate) fn ended(&self) -> Ended {
        loop {
            if let Event::Ended(how) = self.event() {
                return how;
            }
        }
    }

    /// Nothing else was told, and nothing will be.
    pub(crate) fn is_over(&self) -> bool {
        self.events.try_recv().is_err()
    }
}

impl Toy {
    /// Opens an exchange, and tells the test of it.
    fn open(&self, body: Option<Bytes>, call: &mut Call) {
        let (told, events) = channel();
        let exchange = call.open(Arc::new(Told(told)));
        let _ = self.taken.send(Taken {
            exchange,
            body,
            events,
        });
    }
}

impl Service for Toy {
    type Head = String;

    fn head(&self, head: &RequestHead<'_>) -> Verdict<String> {
        let path = head.target().to_owned();
        match path.as_str() {
            "/refused" => Verdict::Answer(Answer::json(StatusCode::FORBIDDEN, "no")),
            "/panics-early" => panic!("on purpose"),
            "/deferred" => Verdict::Defer {
                head: path,
                max_bytes: MAX_BODY,
            },
            _ => Verdict::Read {
                head: path,
                max_bytes: MAX_BODY,
            },
        }
    }

    fn call(&self, path: String, body: Option<Bytes>, call: &mut Call) -> Option<Answer> {
        match path.as_str() {
            "/panics" => panic!("on purpose"),
            "/forgotten" => None,
            "/kept" => {
                let tail = Bytes::from_static(b"a tail that is kept");
                let body = Payload::pair(Bytes::from_static(b"head, "), tail);
                Some(Answer::json(StatusCode::OK, body))
            }
            "/later" | "/deferred" => {
                self.open(body, call);
                None
            }
            "/held-up" => {
                self.open(body, call);
                let resume = self.resume.lock().expect("no panic");
                let _ = resume.recv_timeout(PATIENCE);
                None
            }
            "/panics-later" => {
                self.open(body, call);
                panic!("on purpose")
            }
            "/twice" => {
                self.open(body.clone(), call);
                self.open(body, call);
                None
            }
            _ => Some(Answer::json(StatusCode::OK, body.unwrap_or_default())),
        }
    }

    fn refuse(&self, fault: Fault) -> Answer {
        let status = match fault {
            Fault::Malformed => StatusCode::BAD_REQUEST,
            Fault::Timeout => StatusCode::REQUEST_TIMEOUT,
            Fault::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Fault::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Fault::Overloaded => StatusCode::SERVICE_UNAVAILABLE,
        };
        Answer::json(status, format!("{fault:?}").into_bytes())
    }
}

pub(crate) struct Server {
    pub(crate) listener: Listener<Toy>,
    taken: Receiver<Taken>,
    resume: Sender<()>,
}

impl Server {
    pub(crate) fn start(options: Options) -> Self {
        Self::start_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), options)
    }

    pub(crate) fn start_at(address: SocketAddr, options: Options) -> Self {
        let (sender, taken) = channel();
        let (resume, resumed) = channel();
        let toy = Toy {
            taken: sender,
            resume: Mutex::new(resumed),
        };
        Self {
            listener: Listener::start(address, options, toy).expect("a listener"),
            taken,
            resume,
        }
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.listener.address())
    }

    /// The next request that waits for its answer.
    pub(crate) fn taken(&self) -> Taken {
        self.taken.recv_timeout(PATIENCE).expect("a request")
    }

    /// Lets one service that is held up return.
    pub(crate) fn resume(&self) {
        self.resume.send(()).expect("a service");
    }

    pub(crate) fn has_taken_nothing(&self) -> bool {
        self.taken.try_recv().is_err()
    }

    /// Waits until what was counted is as wanted.
    pub(crate) fn until(&self, wanted: impl Fn(&mcp_listener::Snapshot) -> bool) {
        let start = std::time::Instant::now();
        while !wanted(&self.listener.stats()) {
            assert!(start.elapsed() < PATIENCE, "{:?}", self.listener.stats());
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.listener.stop();
        assert!(self.listener.wait(PATIENCE), "the listener stops");
    }
}
