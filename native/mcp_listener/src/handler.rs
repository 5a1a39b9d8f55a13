//! One request, from its head to its response.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::TRANSFER_ENCODING;
use hyper::http::request::Parts;
use hyper::{Request, Response};

use crate::answer::Answer;
use crate::body::Unread;
use crate::call::{Call, Held};
use crate::connection::{Connection, Phase};
use crate::exchange::News;
use crate::framing::is_unambiguous;
use crate::hub::Hub;
use crate::reply::ReplyBody;
use crate::service::{Fault, RequestHead, Service, Verdict};
use crate::stats::Counted;

/// What the response is made of.
enum Outcome {
    Answer(Answer),
    Stream(Answer, Held),
}

/// What becomes of a request.
pub(crate) async fn handle<S: Service>(
    hub: Arc<Hub<S>>,
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, Infallible> {
    connection.enter(Phase::Open);
    hub.stats.requests.add();
    let (parts, incoming) = request.into_parts();
    let mut body = Unread::new(incoming);
    let handling = Handling {
        hub: &hub,
        connection: &connection,
    };
    let mut outcome = match handling.outcome(&parts, &mut body).await {
        Ok(outcome) => outcome,
        Err(fault) => Outcome::Answer(hub.refuse(fault)),
    };
    let (Outcome::Answer(answer) | Outcome::Stream(answer, _)) = &mut outcome;
    if !body.is_at_end() {
        answer.close();
        connection.linger();
    } else if hub.is_draining() || parts.headers.contains_key(TRANSFER_ENCODING) {
        // Whoever stands in front of us may see the end of chunks elsewhere.
        answer.close();
    }
    Ok(match outcome {
        Outcome::Answer(answer) => {
            connection.enter(Phase::Idle);
            answer.with_body(ReplyBody::full)
        }
        Outcome::Stream(answer, held) => {
            connection.free_head();
            let open = Counted::new(&hub.stats, |stats| &stats.streams);
            answer.with_body(|_| ReplyBody::stream(held, open))
        }
    })
}

struct Handling<'h, S> {
    hub: &'h Arc<Hub<S>>,
    connection: &'h Arc<Connection>,
}

impl<S: Service> Handling<'_, S> {
    async fn outcome(&self, parts: &Parts, body: &mut Unread) -> Result<Outcome, Fault> {
        let received = |received: &[u8]| is_unambiguous(&parts.headers, received);
        if !body.is_at_end() && !self.connection.with_head(received) {
            return Err(Fault::Malformed);
        }
        self.connection.forget_head();
        let head = RequestHead::new(parts, self.connection.peer());
        match self.hub.ask(|service| service.head(&head))? {
            Verdict::Answer(answer) => {
                self.hub.stats.refused.add();
                Ok(Outcome::Answer(answer))
            }
            Verdict::Read { head, max_bytes } => {
                let budget = &self.hub.budget;
                let read = match body.read(self.connection, max_bytes, budget).await {
                    Ok(read) => read,
                    Err(fault) => return Ok(Outcome::Answer(self.hub.refuse_body(&head, fault))),
                };
                let called = self.call(head, Some(read.bytes)).await?;
                drop(read.reservation);
                self.conclude(called, body, max_bytes).await
            }
            Verdict::Defer { head, max_bytes } => {
                let called = self.call(head, None).await?;
                self.conclude(called, body, max_bytes).await
            }
        }
    }

    /// Calls the service, for a large body on a thread where it holds up no other connection.
    async fn call(
        &self,
        head: S::Head,
        body: Option<Bytes>,
    ) -> Result<(Option<Answer>, Option<Held>), Fault> {
        let options = &self.hub.options;
        let mut call = Call::new(self.connection, &self.hub.stats, options.max_queued_bytes);
        let large = options.inline_body_bytes;
        if body.as_ref().is_none_or(|body| body.len() <= large) {
            let answer = self
                .hub
                .ask(|service| service.call(head, body, &mut call))?;
            return Ok((answer, call.into_opened()));
        }
        let hub = Arc::clone(self.hub);
        let called = tokio::task::spawn_blocking(move || {
            let answer = hub.ask(|service| service.call(head, body, &mut call))?;
            Ok((answer, call.into_opened()))
        });
        called.await.unwrap_or(Err(Fault::Internal))
    }

    async fn conclude(
        &self,
        (answer, held): (Option<Answer>, Option<Held>),
        body: &mut Unread,
        max_bytes: usize,
    ) -> Result<Outcome, Fault> {
        match (answer, held) {
            (Some(answer), _) => Ok(Outcome::Answer(answer)),
            (None, Some(held)) => self.wait(held, body, max_bytes).await,
            (None, None) => Err(Fault::Internal),
        }
    }

    /// Waits for whoever has the exchange, and reads the body for him if he asks.
    async fn wait(
        &self,
        held: Held,
        body: &mut Unread,
        max_bytes: usize,
    ) -> Result<Outcome, Fault> {
        let mut news = poll_fn(|cx| held.shared().poll_news(cx)).await;
        while matches!(news, News::WantsBody) {
            let mut reading = pin!(body.read(self.connection, max_bytes, &self.hub.budget));
            let first = poll_fn(|cx| match held.shared().poll_news(cx) {
                Poll::Pending | Poll::Ready(News::WantsBody) => reading.as_mut().poll(cx).map(Err),
                Poll::Ready(news) => Poll::Ready(Ok(news)),
            });
            news = match first.await {
                Ok(news) => news,
                Err(Ok(read)) => {
                    held.shared().events().body(Ok(read.bytes));
                    poll_fn(|cx| held.shared().poll_news(cx)).await
                }
                Err(Err(fault)) => {
                    held.shared().events().body(Err(fault));
                    return Err(fault);
                }
            };
        }
        match news {
            News::Answer(answer) => Ok(Outcome::Answer(answer)),
            News::Stream(answer) => Ok(Outcome::Stream(answer, held)),
            News::Failed(fault) => Err(fault),
            News::WantsBody => Err(Fault::Internal),
        }
    }
}
