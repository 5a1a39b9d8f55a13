//! Views: the `ui://` resources that display the results of tools.

use std::fmt::Write as _;

use serde_json::Value;

use super::SCHEME;
use crate::schema::nearest;

/// The maximum number of views in a message.
const MAX_LISTED: usize = 20;

/// The view that a tool in its wire format names in `_meta`.
///
/// # Examples
/// ```
/// use mcp_core::apps::views::view_of;
/// let tool = serde_json::json!({"name": "a", "_meta": {"ui": {"resourceUri": "ui://a"}}});
/// assert_eq!(view_of(&tool), Some("ui://a"));
/// ```
#[must_use]
pub fn view_of(tool: &Value) -> Option<&str> {
    tool.pointer("/_meta/ui/resourceUri")?.as_str()
}

/// Whether a URI or URI template is that of a view.
///
/// # Examples
/// ```
/// use mcp_core::apps::views::is_view;
/// assert!(is_view("ui://weather/dashboard"));
/// assert!(!is_view("https://example.com/dashboard"));
/// ```
#[must_use]
pub fn is_view(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// Why a host cannot read a tool's view from this server; `None` if it can. `declared` are the URIs
/// and URI templates of the server's resources. `reads` says whether a URI matches one of them.
pub(crate) fn fault<'d>(
    view: &str,
    declared: impl Iterator<Item = &'d str>,
    reads: impl Fn(&str) -> bool,
) -> Option<String> {
    if !is_view(view) {
        return Some(format!(
            "its ui must be the URI of a {SCHEME} resource of this router, such as \"{SCHEME}app/view\", got: {view:?}"
        ));
    }
    if reads(view) {
        return None;
    }
    let views: Vec<&str> = declared.filter(|uri| is_view(uri)).collect();
    let mut fault = format!("its ui is no resource of this router: {view}");
    // Writing to a string cannot fail.
    let _ = match nearest(view, views.iter().copied()) {
        Some(meant) => write!(fault, ", did you mean {meant}?"),
        None => write!(fault, "."),
    };
    fault.push_str(" Its ui:// resources: ");
    fault.push_str(&listed(&views));
    Some(fault)
}

fn listed(views: &[&str]) -> String {
    match views {
        [] => "there is none".to_owned(),
        _ if views.len() <= MAX_LISTED => views.join(", "),
        _ => {
            let shown: Vec<&str> = views.iter().copied().take(MAX_LISTED).collect();
            let more = views.len().saturating_sub(MAX_LISTED);
            format!("{} and {more} more", shown.join(", "))
        }
    }
}
