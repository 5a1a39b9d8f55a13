//! `Content-Type`, `Content-Encoding` and `Content-Length`: the declarations about the body.

use super::accept::outside_quotes;
use super::answer::{self, HttpAnswer};
use super::head::{Field, Head, is_token, printable, trimmed};

const JSON: &str = "application/json";

/// A body must be JSON in UTF-8. A page may send other content types without a preflight.
pub(super) fn check_content(head: &Head<'_>) -> Result<(), HttpAnswer> {
    let is_json = match head.field("content-type") {
        // Nearly all clients send it without parameters.
        Field::One(value) if value.eq_ignore_ascii_case(JSON.as_bytes()) => true,
        Field::One(value) => printable(value).is_some_and(is_json),
        Field::Absent | Field::Repeated => false,
    };
    if !is_json {
        return Err(answer::unsupported_media_type(
            "Content-Type must be application/json in UTF-8",
        ));
    }
    if head
        .all("content-encoding")
        .all(|value| value.eq_ignore_ascii_case(b"identity"))
    {
        return Ok(());
    }
    Err(answer::unsupported_media_type(
        "Content-Encoding must not be used",
    ))
}

fn is_json(value: &str) -> bool {
    let mut parts = outside_quotes(value, b';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    essence.eq_ignore_ascii_case(JSON)
        && parts.all(|parameter| parameter.is_empty() || is_harmless(parameter))
}

/// Only the charset has a meaning. Other parameters are ignored, but must be parameters.
fn is_harmless(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let quoted = quoted_text(value);
    if name.eq_ignore_ascii_case("charset") {
        let charset = quoted.unwrap_or(value);
        // Some clients write the name that the Encoding Standard of browsers also has.
        return ["utf-8", "utf8"]
            .iter()
            .any(|name| charset.eq_ignore_ascii_case(name));
    }
    is_token(name) && (quoted.is_some() || is_token(value))
}

/// The text of a quoted string, with its escapes; `None` for any other value.
fn quoted_text(value: &str) -> Option<&str> {
    let text = value.strip_prefix('"')?.strip_suffix('"')?;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => return None,
            '\\' => characters.next()?,
            _ => continue,
        };
    }
    Some(text)
}

/// The declared length of the body; `None` if none is declared. The error text is safe to send to a
/// peer.
pub(crate) fn declared_length(head: &Head<'_>) -> Result<Option<u64>, &'static str> {
    const NO_NUMBER: &str = "Content-Length must be one number";
    let mut declared = None;
    for value in head.all("content-length") {
        // A proxy may have joined repeated headers, so one line may hold the same number several
        // times.
        for part in value.split(|byte| *byte == b',') {
            let length = number(trimmed(part)).ok_or(NO_NUMBER)?;
            if declared
                .replace(length)
                .is_some_and(|before| before != length)
            {
                return Err(NO_NUMBER);
            }
        }
    }
    if declared.is_some() && head.all("transfer-encoding").next().is_some() {
        return Err("Content-Length must not stand beside Transfer-Encoding");
    }
    Ok(declared)
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}
