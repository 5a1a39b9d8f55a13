//! The results of input requests: what a client may answer.

use crate::json::{Kind, View, member, values};

/// Whether `view` is a result of an input request. If it has members of several kinds, it must be a
/// result of each of them, because only the handler knows which kind it reads.
#[must_use]
pub fn is_input_response(view: View<'_, '_>) -> bool {
    let has = |member: &str| view.get(member).is_some();
    let (elicited, sampled) = (has("action"), has("role") || has("model"));
    let listed = has("roots");
    (elicited || sampled || listed)
        && (!elicited || is_elicit_result(view))
        && (!sampled || is_sampling_result(view))
        && (!listed || is_roots_result(view))
}

fn is_elicit_result(view: View<'_, '_>) -> bool {
    let action = view.get("action").and_then(|action| action.text());
    let content = view.get("content");
    matches!(action.as_deref(), Some("accept" | "decline" | "cancel"))
        && content.is_none_or(is_form)
}

/// A form is flat. Some clients send null for a missing form, or for a field without a value.
fn is_form(content: View<'_, '_>) -> bool {
    match content.kind() {
        Kind::Object => values(content.raw()).into_iter().all(is_form_value),
        kind => kind == Kind::Null,
    }
}

fn is_form_value(value: &[u8]) -> bool {
    match value.first() {
        Some(b'{') => false,
        Some(b'[') => values(value).into_iter().all(is_string),
        _ => true,
    }
}

fn is_sampling_result(view: View<'_, '_>) -> bool {
    let kind_of = |name| view.get(name).map(|value| value.kind());
    kind_of("role") == Some(Kind::String)
        && kind_of("model") == Some(Kind::String)
        && view.get("content").is_some_and(is_sampled)
}

/// Since 2025-11-25 a model may answer with several blocks.
fn is_sampled(content: View<'_, '_>) -> bool {
    match content.kind() {
        Kind::Object => is_block(content.raw()),
        Kind::Array => values(content.raw()).into_iter().all(is_block),
        _ => false,
    }
}

/// A block of a known type has the members that every handler reads.
fn is_block(block: &[u8]) -> bool {
    let has = |name: &str, is: fn(&[u8]) -> bool| member(block, name).is_some_and(is);
    match member(block, "type") {
        Some(br#""text""#) => has("text", is_string),
        Some(br#""image""# | br#""audio""#) => has("data", is_string) && has("mimeType", is_string),
        Some(br#""tool_use""#) => {
            has("id", is_string) && has("name", is_string) && has("input", is_object)
        }
        Some(br#""tool_result""#) => has("toolUseId", is_string) && has("content", is_array),
        // An escaped name of a known type would get past the checks.
        Some(kind) => is_string(kind) && !kind.contains(&b'\\'),
        None => false,
    }
}

fn is_roots_result(view: View<'_, '_>) -> bool {
    view.get("roots").is_some_and(|roots| {
        roots.kind() == Kind::Array && values(roots.raw()).into_iter().all(is_root)
    })
}

fn is_root(root: &[u8]) -> bool {
    let name = member(root, "name");
    member(root, "uri").is_some_and(is_string)
        && name.is_none_or(|name| is_string(name) || name == b"null")
}

fn is_string(value: &[u8]) -> bool {
    value.starts_with(b"\"")
}

fn is_object(value: &[u8]) -> bool {
    value.starts_with(b"{")
}

fn is_array(value: &[u8]) -> bool {
    value.starts_with(b"[")
}
