//! Validates the body of a `POST`: the requested rows.

use super::endpoint::Endpoint;
use super::head::Form;
use super::refusal::{Refusal, invalid_request, refuse};
use super::sort::{self, SortKey};
use crate::http::HttpAnswer;
use crate::json::{Document, Kind, Limits, View};

/// The requested rows, and their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// The number of skipped rows.
    pub offset: u64,
    /// The maximum number of rows. A page always has one, a stream only if the request sets it.
    pub limit: Option<u64>,
    /// The columns to sort by, most significant first; empty for the stored order.
    pub sort: Vec<SortKey>,
}

/// Every database supports signed 64-bit integers.
const MAX_INTEGER: u64 = i64::MAX.unsigned_abs();

/// Validates a body. An empty body requests the first rows.
///
/// # Errors
/// The response: 413, or 400 `invalid_request` or `invalid_sort`.
pub fn select(endpoint: &Endpoint, form: Form, body: &[u8]) -> Result<Selection, HttpAnswer> {
    let max_bytes = endpoint.max_body_bytes();
    if u64::try_from(body.len()).is_ok_and(|length| length > max_bytes) {
        return Err(refuse(&Refusal::PayloadTooLarge(max_bytes)));
    }
    if body.is_empty() {
        return Ok(limited(endpoint, form, Selection::default()));
    }
    let document = Document::scan(body, &Limits::default())
        .ok()
        .filter(|document| document.duplicate().is_none())
        .ok_or_else(|| invalid_request("The body is not valid JSON"))?;
    let root = document.root();
    if root.kind() != Kind::Object {
        return Err(invalid_request("The body must be an object"));
    }
    let selection = Selection {
        offset: integer(root, "offset", 0)?.unwrap_or(0),
        limit: integer(root, "limit", 1)?,
        sort: root.get("sort").map_or(Ok(Vec::new()), sort::keys)?,
    };
    Ok(limited(endpoint, form, selection))
}

/// A page always has a limit, a stream only if the request sets it.
fn limited(endpoint: &Endpoint, form: Form, selection: Selection) -> Selection {
    match form {
        Form::Page => Selection {
            limit: Some(endpoint.limit(selection.limit)),
            ..selection
        },
        Form::Ndjson | Form::Csv => selection,
    }
}

fn integer(root: View<'_, '_>, name: &str, least: u64) -> Result<Option<u64>, HttpAnswer> {
    let Some(view) = root.get(name) else {
        return Ok(None);
    };
    let value = view
        .integer()
        .and_then(|value| u64::try_from(value).ok())
        .filter(|value| (least..=MAX_INTEGER).contains(value));
    value
        .map(Some)
        .ok_or_else(|| invalid_request(&format!("{name} must be an integer of at least {least}")))
}
