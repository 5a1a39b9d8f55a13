//! The path and the limits of an endpoint for results.

use crate::http::{Policy, PolicyError, PolicyOptions};

/// The options of an endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointOptions {
    /// The path prefix of resources; empty if a router has removed it.
    pub prefix: String,
    /// As [`PolicyOptions::allowed_hosts`].
    pub allowed_hosts: Vec<String>,
    /// As [`PolicyOptions::allowed_origins`].
    pub allowed_origins: Vec<String>,
    /// The longest body of a `POST`, in bytes.
    pub max_body_bytes: u64,
    /// The number of rows of a page without a requested limit.
    pub default_limit: u64,
    /// The maximum number of rows of a page; larger requests get this many.
    pub max_limit: u64,
}

impl Default for EndpointOptions {
    fn default() -> Self {
        Self {
            prefix: "/resources".to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 64 * 1024,
            default_limit: 100,
            max_limit: 1000,
        }
    }
}

/// The reason for refusing options.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// The path is not absolute, ends with a slash, or has an invalid character.
    #[error(
        "path {0:?} must begin with / and have no / at its end, no query, space or control character"
    )]
    Prefix(String),
    /// Invalid hosts, origins or size.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// A page could have no row, or the default exceeds the maximum.
    #[error("default_limit must be at least 1 and at most max_limit")]
    Limit,
}

/// Valid options.
#[derive(Clone, Debug)]
pub struct Endpoint {
    prefix: String,
    policy: Policy,
    default_limit: u64,
    max_limit: u64,
}

impl Endpoint {
    /// Validates the options.
    ///
    /// # Errors
    /// [`EndpointError`] with the invalid option.
    pub fn new(options: EndpointOptions) -> Result<Self, EndpointError> {
        if !is_prefix(&options.prefix) {
            return Err(EndpointError::Prefix(options.prefix));
        }
        if options.default_limit == 0 || options.default_limit > options.max_limit {
            return Err(EndpointError::Limit);
        }
        let policy = Policy::new(PolicyOptions {
            path: None,
            allowed_hosts: options.allowed_hosts,
            allowed_origins: options.allowed_origins,
            max_body_bytes: options.max_body_bytes,
            ..PolicyOptions::default()
        })?;
        Ok(Self {
            prefix: options.prefix,
            policy,
            default_limit: options.default_limit,
            max_limit: options.max_limit,
        })
    }

    /// The longest accepted body, in bytes.
    #[must_use]
    pub const fn max_body_bytes(&self) -> u64 {
        self.policy.max_body_bytes()
    }

    /// The path after the prefix; empty or with a leading slash.
    pub(super) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.prefix.as_str())
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    pub(super) const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// The number of rows of a page for the requested limit.
    pub(super) fn limit(&self, asked: Option<u64>) -> u64 {
        asked.unwrap_or(self.default_limit).min(self.max_limit)
    }
}

fn is_prefix(prefix: &str) -> bool {
    let is_text = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#');
    prefix.is_empty()
        || (prefix.starts_with('/') && !prefix.ends_with('/') && prefix.bytes().all(is_text))
}
