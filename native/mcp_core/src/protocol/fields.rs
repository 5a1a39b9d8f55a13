//! Fields of parameters: strings and objects, or a refusal that names the field.

use std::borrow::Cow;

use super::refusal::Refusal;
use crate::json::{Kind, View};

/// An optional member. Serializers of some clients write `null` for a field without a value, and no
/// optional member of the protocol's requests may be null. So `null` means that it is absent.
pub(super) fn member<'d, 'a>(params: Option<View<'d, 'a>>, name: &str) -> Option<View<'d, 'a>> {
    let member = params?.get(name);
    member.filter(|member| member.kind() != Kind::Null)
}

pub(super) fn text<'a>(params: Option<View<'_, 'a>>, name: &str) -> Result<Cow<'a, str>, Refusal> {
    params
        .and_then(|params| params.get(name))
        .and_then(|view| view.text())
        .ok_or_else(|| must_be(name, "a string"))
}

pub(super) fn no_longer_than<'a>(
    most: usize,
    what: &str,
    text: Cow<'a, str>,
) -> Result<Cow<'a, str>, Refusal> {
    if text.len() <= most {
        return Ok(text);
    }
    let reason = format!("{what} is longer than {most} bytes");
    Err(Refusal::invalid_params(&reason))
}

/// An object with few enough members to be read.
pub(super) fn object<'d, 'a>(
    params: Option<View<'d, 'a>>,
    name: &str,
) -> Result<Option<View<'d, 'a>>, Refusal> {
    match structure(params, name)? {
        Some(view) if view.is_crowded() => {
            let reason = format!("{name} has too many members");
            Err(Refusal::invalid_params(&reason))
        }
        view => Ok(view),
    }
}

/// An object of any size.
pub(super) fn structure<'d, 'a>(
    params: Option<View<'d, 'a>>,
    name: &str,
) -> Result<Option<View<'d, 'a>>, Refusal> {
    match member(params, name) {
        Some(view) if view.kind() != Kind::Object => Err(must_be(name, "an object")),
        view => Ok(view),
    }
}

pub(super) fn cursor<'a>(params: Option<View<'_, 'a>>) -> Result<Option<Cow<'a, str>>, Refusal> {
    let Some(cursor) = member(params, "cursor") else {
        return Ok(None);
    };
    cursor
        .text()
        .map(Some)
        .ok_or_else(|| must_be("cursor", "a string"))
}

pub(super) fn must_be(name: &str, expected: &str) -> Refusal {
    Refusal::invalid_params(&format!("{name} must be {expected}"))
}
