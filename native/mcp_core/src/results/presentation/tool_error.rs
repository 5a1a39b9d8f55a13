//! Failures as data: `toolError:v1`.

/// The kind.
pub const KIND: &str = "toolError:v1";

/// What it looks like, as a JSON Schema. The order of the properties is the one they are written in.
pub const SCHEMA: &str = r#"{
  "type": "object",
  "properties": {
    "kind": {"const": "toolError:v1"},
    "code": {
      "enum": ["NETWORK_ERROR", "SERVER_ERROR", "CLIENT_ERROR", "NOT_FOUND", "AUTHENTICATION_ERROR", "UNKNOWN_ERROR"]
    },
    "message": {"type": "string"},
    "retryable": {"type": "boolean"},
    "details": {"type": "object"}
  },
  "required": ["kind", "code", "message"],
  "additionalProperties": false
}"#;

/// What went wrong, in one of six words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// What is asked could not be reached.
    Network,
    /// What is asked failed.
    Server,
    /// The call is at fault.
    Client,
    /// There is no such thing.
    NotFound,
    /// Who calls is unknown, or may not.
    Authentication,
    /// Nothing is known.
    Unknown,
}

impl Code {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Network,
        Self::Server,
        Self::Client,
        Self::NotFound,
        Self::Authentication,
        Self::Unknown,
    ];

    /// As it is written.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Network => "NETWORK_ERROR",
            Self::Server => "SERVER_ERROR",
            Self::Client => "CLIENT_ERROR",
            Self::NotFound => "NOT_FOUND",
            Self::Authentication => "AUTHENTICATION_ERROR",
            Self::Unknown => "UNKNOWN_ERROR",
        }
    }

    /// The code that is written so.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }
}

/// A code, and whether the same call may succeed later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Classified {
    /// What went wrong.
    pub code: Code,
    /// Whether to try again.
    pub retryable: bool,
}

const fn classified(code: Code, retryable: bool) -> Classified {
    Classified { code, retryable }
}

/// What an HTTP status means.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::tool_error::{Code, of_status};
/// assert_eq!((of_status(503).code, of_status(503).retryable), (Code::Server, true));
/// assert_eq!((of_status(404).code, of_status(404).retryable), (Code::NotFound, false));
/// ```
#[must_use]
pub const fn of_status(status: u16) -> Classified {
    match status {
        500.. => classified(Code::Server, true),
        404 => classified(Code::NotFound, false),
        401 | 403 => classified(Code::Authentication, false),
        // Throttled: the only fault of the call is its time.
        429 => classified(Code::Client, true),
        400..500 => classified(Code::Client, false),
        _ => classified(Code::Unknown, false),
    }
}

/// What a failure means that has a name: the situations of
/// [`envelope`](crate::results::envelope::SITUATIONS), the codes of dual responses, and what sockets and
/// TLS say. A name that is not known means nothing.
///
/// # Examples
/// ```
/// use mcp_core::results::presentation::tool_error::{Code, of_reason};
/// assert_eq!(of_reason("econnrefused").code, Code::Network);
/// assert_eq!(of_reason("another").code, Code::Unknown);
/// ```
#[must_use]
pub fn of_reason(reason: &str) -> Classified {
    match reason {
        "timeout" | "etimedout" | "connect_timeout" | "econnrefused" | "connection_refused"
        | "econnreset" | "econnaborted" | "closed" | "enetunreach" | "ehostunreach"
        | "nxdomain" | "dns" => classified(Code::Network, true),
        "tls" | "tls_alert" | "ssl" => classified(Code::Network, false),
        "bad_arguments" | "missing_argument" | "bad_format" => classified(Code::Client, false),
        "throttled" => classified(Code::Client, true),
        "not_found" | "expired" | "resource_not_found" | "resource_expired" => {
            classified(Code::NotFound, false)
        }
        "unauthenticated" | "forbidden" => classified(Code::Authentication, false),
        "failed" | "query_execution_failed" | "count_execution_failed" | "too_large" => {
            classified(Code::Server, false)
        }
        "store_down" | "storage_error" => classified(Code::Server, true),
        _ => classified(Code::Unknown, false),
    }
}
