//! A response that needs no more than to be written.

use std::fmt::Write as _;

use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderMap, HeaderValue};
use hyper::{Response, StatusCode};

use crate::payload::Payload;
use crate::reply::ReplyBody;

/// Status, headers and body. Length and date are added when it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Payload,
}

impl Answer {
    /// An answer without headers and body.
    #[must_use]
    pub fn empty(status: StatusCode) -> Self {
        Self {
            status,
            ..Self::default()
        }
    }

    /// An answer of type `application/json`.
    #[must_use]
    pub fn json(status: StatusCode, body: impl Into<Payload>) -> Self {
        let mut headers = HeaderMap::with_capacity(2);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Self {
            status,
            headers,
            body: body.into(),
        }
    }

    /// Says that no further request will be read.
    pub(crate) fn close(&mut self) {
        let close = HeaderValue::from_static("close");
        self.headers.insert(CONNECTION, close);
    }

    /// The response whose body is made of this one's.
    pub(crate) fn with_body(self, body: impl FnOnce(Payload) -> ReplyBody) -> Response<ReplyBody> {
        let mut response = Response::new(body(self.body));
        *response.status_mut() = self.status;
        *response.headers_mut() = self.headers;
        response
    }

    /// The whole response as it is written to a connection that is not served.
    pub(crate) fn into_bytes(mut self) -> Vec<u8> {
        use bytes::Buf;
        self.close();
        let mut head = format!("HTTP/1.1 {}\r\n", self.status);
        for (name, value) in &self.headers {
            if let Ok(value) = value.to_str() {
                let _ = write!(head, "{name}: {value}\r\n");
            }
        }
        let body = self.body.copy_to_bytes(self.body.remaining());
        let _ = write!(head, "content-length: {}\r\n\r\n", body.len());
        [head.as_bytes(), &body].concat()
    }
}
