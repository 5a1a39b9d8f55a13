//! Where results are served, and within which limits.

use crate::http::{Policy, PolicyError, PolicyOptions};

/// What an endpoint's owner decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndpointOptions {
    /// The path below which resources lie; empty where something else has already routed.
    pub prefix: String,
    /// As [`PolicyOptions::allowed_hosts`].
    pub allowed_hosts: Vec<String>,
    /// As [`PolicyOptions::allowed_origins`].
    pub allowed_origins: Vec<String>,
    /// The longest body of a `POST`.
    pub max_body_bytes: u64,
    /// How many rows a page has where the request does not say.
    pub default_limit: u64,
    /// How many rows a page has at most; a request for more gets this many.
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

/// Why options are no endpoint.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// Another path than an absolute one, or one that ends with a slash.
    #[error(
        "path {0:?} must begin with / and have no / at its end, no query, space or control character"
    )]
    Prefix(String),
    /// Hosts, origins or a size that cannot be kept.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// No page could have a row, or the default would never be kept.
    #[error("default_limit must be at least 1 and at most max_limit")]
    Limit,
}

/// Checked options.
#[derive(Clone, Debug)]
pub struct Endpoint {
    prefix: String,
    policy: Policy,
    default_limit: u64,
    max_limit: u64,
}

impl Endpoint {
    /// Checks the options.
    ///
    /// # Errors
    /// [`EndpointError`] naming the option that cannot be kept.
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

    /// The longest body that is read.
    #[must_use]
    pub const fn max_body_bytes(&self) -> u64 {
        self.policy.max_body_bytes()
    }

    /// The path behind the prefix, empty or beginning with a slash.
    pub(super) fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        path.strip_prefix(self.prefix.as_str())
            .filter(|rest| rest.is_empty() || rest.starts_with(['/', '?']))
    }

    pub(super) const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// How many rows a page gets for what the request says.
    pub(super) fn limit(&self, asked: Option<u64>) -> u64 {
        asked.unwrap_or(self.default_limit).min(self.max_limit)
    }
}

fn is_prefix(prefix: &str) -> bool {
    let is_text = |byte: u8| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#');
    prefix.is_empty()
        || (prefix.starts_with('/') && !prefix.ends_with('/') && prefix.bytes().all(is_text))
}
