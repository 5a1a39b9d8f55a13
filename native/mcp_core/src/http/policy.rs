//! The requests that an endpoint accepts. Options are checked once, when the policy is made.

use super::authority::Authority;
use super::metadata::{Metadata, without_slash};
use super::origin::Origin;

/// The options of an endpoint's policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyOptions {
    /// The path of the endpoint; `None` if a router in front has already matched it.
    pub path: Option<String>,
    /// Allowed hosts in addition to loopback: `name` for any port, or `name:port`.
    pub allowed_hosts: Vec<String>,
    /// Allowed origins in addition to loopback and the addressed host: `scheme://name[:port]`.
    pub allowed_origins: Vec<String>,
    /// The longest body that is read, in bytes.
    pub max_body_bytes: u64,
    /// Whether the session era is served: `initialize`, GET and DELETE.
    pub sessions: bool,
    /// The protected resource metadata document (RFC 9728), as JSON text.
    pub resource_metadata: Option<String>,
    /// Whether the bare well-known path serves the document too.
    pub metadata_at_root: bool,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        Self {
            path: Some("/mcp".to_owned()),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body_bytes: 4 * 1024 * 1024,
            sessions: true,
            resource_metadata: None,
            metadata_at_root: true,
        }
    }
}

/// Why options are invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// The path is not absolute.
    #[error("path {0:?} must begin with / and have no query, space or control character")]
    Path(String),
    /// A host that no `Host` header can match.
    #[error("allowed_hosts: {0:?} must be a host name or address, with or without a port")]
    Host(String),
    /// An origin that no `Origin` header can match.
    #[error("allowed_origins: {0:?} must be an origin such as https://app.example.com")]
    Origin(String),
    /// The limit on the body allows no body.
    #[error("max_body_bytes must be at least 1")]
    Body,
    /// The document is not protected resource metadata.
    #[error(
        "resource_metadata must be a JSON object whose resource is an http or https URL, and whose \
         authorization_servers are a list of one or more such URLs"
    )]
    Metadata,
}

/// Checked options.
#[derive(Clone, Debug)]
pub struct Policy {
    path: Option<String>,
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
    max_body_bytes: u64,
    sessions: bool,
    metadata: Option<Metadata>,
}

impl Policy {
    /// Checks the options.
    ///
    /// # Errors
    /// [`PolicyError`] naming the invalid option.
    pub fn new(options: PolicyOptions) -> Result<Self, PolicyError> {
        let path = options.path;
        if let Some(path) = path.as_ref().filter(|path| !is_path(path)) {
            return Err(PolicyError::Path(path.clone()));
        }
        if options.max_body_bytes == 0 {
            return Err(PolicyError::Body);
        }
        Ok(Self {
            path,
            hosts: all(options.allowed_hosts, Authority::parse, PolicyError::Host)?,
            origins: all(options.allowed_origins, Origin::parse, PolicyError::Origin)?,
            max_body_bytes: options.max_body_bytes,
            sessions: options.sessions,
            metadata: options
                .resource_metadata
                .map(|document| {
                    Metadata::new(document.into_bytes(), options.metadata_at_root)
                        .ok_or(PolicyError::Metadata)
                })
                .transpose()?,
        })
    }

    /// The longest body that is read, in bytes.
    #[must_use]
    pub const fn max_body_bytes(&self) -> u64 {
        self.max_body_bytes
    }

    /// Whether the session era is served.
    #[must_use]
    pub const fn sessions(&self) -> bool {
        self.sessions
    }

    /// The URL of the protected resource metadata.
    #[must_use]
    pub fn metadata_url(&self) -> Option<&str> {
        self.metadata.as_ref().map(Metadata::url)
    }

    /// Whether the endpoint has the path, with or without a slash at its end.
    pub(super) fn serves(&self, path: Option<&str>) -> bool {
        self.path
            .as_deref()
            .is_none_or(|own| path.map(without_slash) == Some(without_slash(own)))
    }

    /// Whether the metadata document is served at `path`.
    #[must_use]
    pub fn is_metadata_path(&self, path: &str) -> bool {
        self.metadata
            .as_ref()
            .is_some_and(|metadata| metadata.is_at(path))
    }

    /// The metadata document, if it is served at `path`.
    pub(super) fn metadata_at(&self, path: Option<&str>) -> Option<&Metadata> {
        let path = path?;
        self.metadata
            .as_ref()
            .filter(|metadata| metadata.is_at(path))
    }

    pub(super) fn allows_host(&self, host: &Authority) -> bool {
        host.is_loopback() || self.hosts.iter().any(|allowed| allowed.covers(host))
    }

    /// Whether the policy lists the origin.
    pub(super) fn names_origin(&self, origin: &Origin) -> bool {
        self.origins.contains(origin)
    }

    pub(super) fn allows_origin(&self, origin: &Origin, host: &Authority) -> bool {
        origin.is_loopback() || origin.is_same_site(host) || self.names_origin(origin)
    }
}

fn is_path(path: &str) -> bool {
    path.starts_with('/')
        && path
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && byte != b'?' && byte != b'#')
}

fn all<T>(
    texts: Vec<String>,
    parse: impl Fn(&str) -> Option<T>,
    refuse: impl Fn(String) -> PolicyError,
) -> Result<Vec<T>, PolicyError> {
    texts
        .into_iter()
        .map(|text| parse(&text).ok_or_else(|| refuse(text)))
        .collect()
}
