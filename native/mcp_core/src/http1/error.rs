//! Why bytes are refused. The texts are fixed and contain no received value, so they are safe to
//! send.

/// Why a request's head is refused. The connection cannot be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HeadError {
    /// The head is not HTTP/1.1, or is ambiguous.
    #[error("{0}")]
    Malformed(&'static str),
    /// The request line is longer than a head may be.
    #[error("The request's target is too long")]
    TargetTooLong,
    /// The head has more bytes or fields than the limits allow.
    #[error("The request's head is too large")]
    TooLarge,
    /// The version is neither 1.0 nor 1.1.
    #[error("The HTTP version is not supported")]
    UnsupportedVersion,
    /// `Transfer-Encoding` is not `chunked`.
    #[error("The transfer coding is not supported")]
    UnsupportedCoding,
    /// `Expect` is not `100-continue`.
    #[error("The expectation cannot be met")]
    ExpectationFailed,
}

impl HeadError {
    /// The status of the response.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::TargetTooLong => 414,
            Self::TooLarge => 431,
            Self::UnsupportedVersion => 505,
            Self::UnsupportedCoding => 501,
            Self::ExpectationFailed => 417,
        }
    }
}

/// Why a chunked body is refused. The connection cannot be reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChunkError {
    /// The body is not a sequence of chunks, or its framing is longer than the limits allow.
    #[error("{0}")]
    Malformed(&'static str),
    /// The decoded body exceeds its size limit.
    #[error("The body is too large")]
    TooLarge,
}

impl ChunkError {
    /// The status of the response.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::TooLarge => 413,
        }
    }
}

/// Why a response's head cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidHeader {
    /// The status is not that of a final response, 200 to 599.
    #[error("the status is not between 200 and 599")]
    Status,
    /// A name is not a token.
    #[error("a header's name is not a token")]
    Name,
    /// A value has bytes other than visible ASCII characters, spaces and tabs.
    #[error("a header's value holds a control character or is not ASCII")]
    Value,
    /// A header is `content-length` or `transfer-encoding`, which only the body determines.
    #[error("the body's framing is given as a header")]
    Framing,
    /// The status is 204 or 304, which have no body.
    #[error("the status forbids a body")]
    Body,
}
