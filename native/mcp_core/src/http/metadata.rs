//! Protected resource metadata (RFC 9728): where it is served, and what it is called.

use super::answer::{HttpAnswer, method_not_allowed};

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// The URL of the metadata of `resource`: the well-known path stands between its host and its path.
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
    if !matches!(scheme, "https" | "http") || !is_sound || rest.contains('#') {
        return None;
    }
    let host_ends = rest.find(['/', '?']).unwrap_or(rest.len());
    let (host, path) = rest.split_at_checked(host_ends)?;
    // A path that is no more than the host's own is left out.
    let path = if path == "/" { "" } else { path };
    (!host.is_empty()).then(|| format!("{scheme}://{host}{WELL_KNOWN}{path}"))
}

/// Whether `path` is where the metadata of an endpoint at `endpoint` is looked for. An endpoint
/// that takes any path is asked at any path below the well-known one.
pub(super) fn is_metadata_path(path: &str, endpoint: Option<&str>) -> bool {
    match (path.strip_prefix(WELL_KNOWN), endpoint) {
        (None, _) => false,
        (Some(""), _) => true,
        (Some(rest), Some(endpoint)) => rest == endpoint,
        (Some(rest), None) => rest.starts_with('/'),
    }
}

/// The document, to who asks for it.
pub(super) fn serve(document: &[u8], method: &str) -> HttpAnswer {
    if method != "GET" {
        return method_not_allowed("GET");
    }
    HttpAnswer {
        status: 200,
        headers: vec![("content-type", "application/json".to_owned())],
        body: document.to_vec(),
    }
}
