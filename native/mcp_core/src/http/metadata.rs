//! Protected resource metadata (RFC 9728): its URL and the paths that serve it.

use super::answer::{HttpAnswer, method_not_allowed};
use crate::json::{Document, Limits, View};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The URL of the metadata of `resource`. The well-known path goes between host and path.
///
/// # Examples
/// ```
/// use mcp_core::http::metadata_url;
/// assert_eq!(
///     metadata_url("https://mcp.example/api?v=1").as_deref(),
///     Some("https://mcp.example/.well-known/oauth-protected-resource/api?v=1")
/// );
/// assert_eq!(metadata_url("mcp.example"), None);
/// ```
#[must_use]
pub fn metadata_url(resource: &str) -> Option<String> {
    let (scheme, rest) = resource.split_once("://")?;
    let is_sound = resource
        .bytes()
        .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    let is_http = ["https", "http"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name));
    if !is_http || !is_sound || rest.contains('#') {
        return None;
    }
    let host_ends = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(host_ends)?;
    // A bare `/` is dropped.
    let path = if path == "/" { "" } else { path };
    (!host.is_empty()).then(|| format!("{scheme}://{host}{WELL_KNOWN}{path}"))
}

/// A path without the one slash that it may have at its end.
pub(super) fn without_slash(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Whether `list` is a list of one or more URLs.
fn names_urls(list: &[u8]) -> bool {
    let is_url = |view: View<'_, '_>| view.text().is_some_and(|url| metadata_url(&url).is_some());
    Document::scan(list, &Limits::default()).is_ok_and(|list| {
        let mut servers = list.root().elements().peekable();
        servers.peek().is_some() && servers.all(is_url)
    })
}

/// A checked document and the paths that serve it. One path comes from the resource's URL, because
/// a proxy may change the endpoint's path. If `root` is set, the bare well-known path serves it
/// too.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    document: Vec<u8>,
    url: String,
    /// The path of the resource, which follows the well-known path.
    suffix: String,
    root: bool,
}

impl Metadata {
    /// `None` if the document names no resource, or no authorization server.
    pub(super) fn new(document: Vec<u8>, root: bool) -> Option<Self> {
        let read = Document::scan(&document, &Limits::default()).ok()?;
        let object = read.root();
        let resource = object
            .get("resource")
            .and_then(|resource| resource.text())?;
        let url = metadata_url(&resource)?;
        let servers = object.get("authorization_servers")?;
        names_urls(servers.raw()).then_some(())?;
        let (_, suffix) = url.split_once(WELL_KNOWN)?;
        let suffix = suffix.split('?').next().unwrap_or_default().to_owned();
        Some(Self {
            document,
            url,
            suffix,
            root,
        })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Whether it is served at `path`, with or without a slash at its end.
    pub(super) fn is_at(&self, path: &str) -> bool {
        let bare = |path| without_slash(path);
        path.strip_prefix(WELL_KNOWN).is_some_and(|rest| {
            bare(rest) == bare(&self.suffix) || (self.root && bare(rest).is_empty())
        })
    }

    /// The response with the document.
    pub(super) fn serve(&self, method: &str) -> HttpAnswer {
        if !matches!(method, "GET" | "HEAD") {
            return method_not_allowed("GET, HEAD");
        }
        HttpAnswer {
            status: 200,
            headers: vec![
                ("content-type", "application/json".to_owned()),
                ("cache-control", "public, max-age=3600".to_owned()),
            ],
            body: self.document.clone(),
        }
    }
}
