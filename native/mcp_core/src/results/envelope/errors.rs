//! Error codes and types.

/// Whether a failed call may be made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// Not as it is.
    No,
    /// Perhaps: the state has to be looked at first.
    Maybe,
    /// After the time that the envelope says.
    AfterDelay,
    /// Yes, with growing pauses.
    Backoff,
}

/// A category of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorType {
    /// The `error_type`.
    pub name: &'static str,
    /// The HTTP status that says the same.
    pub status: u16,
    /// Whether to try again.
    pub retry: Retry,
    /// The code of an error of which no more is known than its type.
    pub code: &'static str,
    /// What to do about an error of which no more is known than its type.
    pub remediation: &'static str,
}

/// Every type.
pub const ERROR_TYPES: &[ErrorType] = &[
    ErrorType {
        name: "validation",
        status: 400,
        retry: Retry::No,
        code: "VALIDATION_ERROR",
        remediation: "Correct the input, then call again.",
    },
    ErrorType {
        name: "authentication",
        status: 401,
        retry: Retry::No,
        code: "UNAUTHORIZED",
        remediation: "Authenticate again with valid credentials.",
    },
    ErrorType {
        name: "authorization",
        status: 403,
        retry: Retry::No,
        code: "FORBIDDEN",
        remediation: "Ask for the permission that this needs.",
    },
    ErrorType {
        name: "not_found",
        status: 404,
        retry: Retry::No,
        code: "NOT_FOUND",
        remediation: "Verify that what was asked for exists.",
    },
    ErrorType {
        name: "conflict",
        status: 409,
        retry: Retry::Maybe,
        code: "CONFLICT",
        remediation: "Check the current state, then decide whether to call again.",
    },
    ErrorType {
        name: "rate_limit",
        status: 429,
        retry: Retry::AfterDelay,
        code: "RATE_LIMIT_EXCEEDED",
        remediation: "Wait before calling again.",
    },
    ErrorType {
        name: "feature_flag",
        status: 403,
        retry: Retry::No,
        code: "FEATURE_DISABLED",
        remediation: "Check whether the feature is enabled for this client.",
    },
    ErrorType {
        name: "internal",
        status: 500,
        retry: Retry::Backoff,
        code: "INTERNAL_ERROR",
        remediation: "Call again later, with growing pauses.",
    },
    ErrorType {
        name: "unavailable",
        status: 503,
        retry: Retry::Backoff,
        code: "UNAVAILABLE",
        remediation: "Call again later, with growing pauses.",
    },
];

/// The common codes, and the type of each.
pub const ERROR_CODES: &[(&str, &str)] = &[
    ("VALIDATION_ERROR", "validation"),
    ("INVALID_FORMAT", "validation"),
    ("MISSING_REQUIRED", "validation"),
    ("NOT_FOUND", "not_found"),
    ("SPEC_NOT_FOUND", "not_found"),
    ("TASK_NOT_FOUND", "not_found"),
    ("DUPLICATE_ENTRY", "conflict"),
    ("CONFLICT", "conflict"),
    ("UNAUTHORIZED", "authentication"),
    ("FORBIDDEN", "authorization"),
    ("FEATURE_DISABLED", "feature_flag"),
    ("RATE_LIMIT_EXCEEDED", "rate_limit"),
    ("INTERNAL_ERROR", "internal"),
    ("UNAVAILABLE", "unavailable"),
];

/// The code of an error of which nothing is known.
pub const DEFAULT_CODE: &str = "INTERNAL_ERROR";

/// What can go wrong, whichever vocabulary says it, and the code of an envelope that reports it.
pub const SITUATIONS: &[(&str, &str)] = &[
    ("bad_arguments", "VALIDATION_ERROR"),
    ("missing_argument", "MISSING_REQUIRED"),
    ("bad_format", "INVALID_FORMAT"),
    ("not_found", "NOT_FOUND"),
    ("expired", "NOT_FOUND"),
    ("unauthenticated", "UNAUTHORIZED"),
    ("forbidden", "FORBIDDEN"),
    ("failed", "INTERNAL_ERROR"),
    ("store_down", "UNAVAILABLE"),
    ("timeout", "UNAVAILABLE"),
    ("throttled", "RATE_LIMIT_EXCEEDED"),
    ("bug", "INTERNAL_ERROR"),
];

/// The type of that name.
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::error_type;
/// assert_eq!(error_type("conflict").map(|kind| kind.status), Some(409));
/// ```
#[must_use]
pub fn error_type(name: &str) -> Option<&'static ErrorType> {
    ERROR_TYPES.iter().find(|kind| kind.name == name)
}

/// The type of a common code; `None` for a code of somebody's own.
#[must_use]
pub fn type_of_code(code: &str) -> Option<&'static ErrorType> {
    let (_, name) = ERROR_CODES.iter().find(|(known, _)| *known == code)?;
    error_type(name)
}

/// The code of an envelope that reports a situation of [`SITUATIONS`].
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::code_for;
/// assert_eq!(code_for("timeout"), Some("UNAVAILABLE"));
/// ```
#[must_use]
pub fn code_for(situation: &str) -> Option<&'static str> {
    let (_, code) = SITUATIONS.iter().find(|(name, _)| *name == situation)?;
    Some(code)
}

/// The letters of an error code: `SCREAMING_SNAKE_CASE`.
pub(super) const ERROR_CODE_PATTERN: &str = "^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$";

/// Whether a text is written as error codes are: `SCREAMING_SNAKE_CASE`.
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::is_error_code;
/// assert!(is_error_code("OUT_OF_STOCK") && is_error_code("E404"));
/// assert!(!is_error_code("out_of_stock") && !is_error_code("A__B") && !is_error_code("1_A"));
/// ```
#[must_use]
pub fn is_error_code(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    };
    text.starts_with(|first: char| first.is_ascii_uppercase()) && text.split('_').all(part)
}
