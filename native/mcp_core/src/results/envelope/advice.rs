//! What a valid envelope still should not look like.

use jsonschema::json::{Array, Json, JsonNumber, Node, Object};

use super::rules::Finding;
use super::{RESERVED_KEYS, type_of_code};

/// Findings reported of one envelope.
const MAX_FINDINGS: usize = 20;

/// The largest page that clients should be sent.
const MAX_PAGE_SIZE: u64 = 1_000;

/// Optional keys of `meta`, which are left out rather than empty.
const OPTIONAL_KEYS: &[&str] = &[
    "warnings",
    "warning_details",
    "pagination",
    "rate_limit",
    "telemetry",
    "dropped_content_ids",
    "content_archive_hashes",
];

/// What a valid envelope still should not look like: nothing, or at most 20 findings.
///
/// # Examples
/// ```
/// use mcp_core::results::envelope::advice;
/// use mcp_core::schema::SerdeJson;
///
/// let envelope = serde_json::json!({
///     "success": true, "data": {"warnings": []}, "error": null, "meta": {"version": "response-v2"},
/// });
/// assert_eq!(advice::<SerdeJson>(&&envelope)[0].pointer, "/data/warnings");
/// ```
#[must_use]
pub fn advice<J: Json>(envelope: &J::Node<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let data = member::<J>(envelope, "data");
    let meta = member::<J>(envelope, "meta");
    if let (Some(data), Some(meta)) = (&data, &meta) {
        misplaced::<J>(data, &mut findings);
        empty::<J>(meta, &mut findings);
        if member::<J>(envelope, "success").and_then(|success| success.as_boolean()) == Some(true) {
            warning_details::<J>(meta, &mut findings);
        } else {
            error_data::<J>(data, &mut findings);
            unexpected_warnings::<J>(meta, &mut findings);
        }
        fidelity::<J>(meta, &mut findings);
        page::<J>(meta, &mut findings);
    }
    findings.truncate(MAX_FINDINGS);
    findings
}

fn member<'a, J: Json>(node: &J::Node<'a>, name: &str) -> Option<J::Node<'a>> {
    node.as_object()?.get(&J::prepare_key(name))
}

fn text<J: Json>(node: &J::Node<'_>, name: &str) -> Option<String> {
    member::<J>(node, name)?
        .as_string()
        .map(std::borrow::Cow::into_owned)
}

fn misplaced<J: Json>(data: &J::Node<'_>, findings: &mut Vec<Finding>) {
    for key in RESERVED_KEYS {
        if member::<J>(data, key).is_some() {
            findings.push(Finding::warning(
                format!("/data/{key}"),
                "reserved_key",
                "what is about the answer belongs into meta",
            ));
        }
    }
}

fn empty<J: Json>(meta: &J::Node<'_>, findings: &mut Vec<Finding>) {
    for key in OPTIONAL_KEYS {
        let is_empty = member::<J>(meta, key).is_some_and(|value| {
            let items = value.as_array().map(|array| array.len());
            let members = value.as_object().map(|object| object.len());
            items.or(members) == Some(0)
        });
        if is_empty {
            findings.push(Finding::warning(
                format!("/meta/{key}"),
                "empty",
                "leave it out when there is nothing in it",
            ));
        }
    }
}

fn error_data<J: Json>(data: &J::Node<'_>, findings: &mut Vec<Finding>) {
    for key in ["error_code", "error_type", "remediation"] {
        if member::<J>(data, key).is_none() {
            findings.push(Finding::warning(
                format!("/data/{key}"),
                "missing",
                "an error should say it",
            ));
        }
    }
    let code = text::<J>(data, "error_code").unwrap_or_default();
    if let (Some(usual), Some(given)) = (type_of_code(&code), text::<J>(data, "error_type"))
        && usual.name != given
    {
        findings.push(Finding::warning(
            "/data/error_type".to_owned(),
            "other_type",
            &format!("{code} is of the type {}", usual.name),
        ));
    }
}

fn unexpected_warnings<J: Json>(meta: &J::Node<'_>, findings: &mut Vec<Finding>) {
    for key in ["warnings", "warning_details"] {
        if member::<J>(meta, key).is_some() {
            findings.push(Finding::warning(
                format!("/meta/{key}"),
                "unexpected",
                "warnings are for calls that succeed",
            ));
        }
    }
}

fn warning_details<J: Json>(meta: &J::Node<'_>, findings: &mut Vec<Finding>) {
    let details = member::<J>(meta, "warning_details");
    let details = details.as_ref().and_then(Node::as_array);
    let details = details.into_iter().flat_map(|array| array.elements());
    for (index, detail) in details.enumerate() {
        for key in ["code", "severity"] {
            if findings.len() < MAX_FINDINGS && member::<J>(&detail, key).is_none() {
                findings.push(Finding::warning(
                    format!("/meta/warning_details/{index}/{key}"),
                    "missing",
                    "a warning should say it",
                ));
            }
        }
    }
}

fn fidelity<J: Json>(meta: &J::Node<'_>, findings: &mut Vec<Finding>) {
    let fidelity = text::<J>(meta, "content_fidelity");
    let is_full = fidelity.as_deref().is_none_or(|level| level == "full");
    if is_full && member::<J>(meta, "dropped_content_ids").is_some() {
        findings.push(Finding::warning(
            "/meta/content_fidelity".to_owned(),
            "dropped_content",
            "content was dropped, so it is less than full",
        ));
    }
    if !is_full && member::<J>(meta, "content_fidelity_schema_version").is_none() {
        findings.push(Finding::warning(
            "/meta/content_fidelity_schema_version".to_owned(),
            "missing",
            "a fidelity below full should come with it",
        ));
    }
}

fn page<J: Json>(meta: &J::Node<'_>, findings: &mut Vec<Finding>) {
    let size = member::<J>(meta, "pagination")
        .and_then(|pagination| member::<J>(&pagination, "page_size"))
        .and_then(|size| size.as_number()?.as_u64());
    if size.is_some_and(|size| size > MAX_PAGE_SIZE) {
        findings.push(Finding::warning(
            "/meta/pagination/page_size".to_owned(),
            "large_page",
            "a page should have at most 1000 items",
        ));
    }
}
