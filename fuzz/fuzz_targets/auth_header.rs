//! The bearer token of a request head, compared with a second implementation of RFC 6750 in this
//! target; and challenges, parsed again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::auth::bearer;
use mcp_core::http::{Challenge, is_header_value};
use mcp_fuzz::budget::within;
use mcp_fuzz::http::Message;

fuzz_target!(|bytes: &[u8]| within(|| {
    let message = Message::parse(bytes);
    let head = message.head();
    assert_eq!(bearer(&head).ok(), expected(&message), "{message:?}");
    let texts: Vec<&str> = message
        .headers
        .iter()
        .flat_map(|(name, value)| [Some(*name), std::str::from_utf8(value).ok()])
        .flatten()
        .collect();
    challenge(&texts);
}));

/// `None` for a malformed request.
fn expected<'a>(message: &Message<'a>) -> Option<Option<&'a str>> {
    if asks_in_query(message.target) {
        return None;
    }
    let values: Vec<&[u8]> = message.values("authorization").collect();
    let [value] = values[..] else {
        return values.is_empty().then_some(None);
    };
    let is_bearer = value
        .get(..6)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"bearer"));
    if !is_bearer || !matches!(value.get(6), None | Some(b' ')) {
        return Some(None);
    }
    let mut parts = value[6..].split(|byte| *byte == b' ');
    let token = parts.find(|part| !part.is_empty())?;
    let is_alone = parts.next().is_none();
    let end = token.iter().position(|byte| *byte == b'=');
    let (letters, padding) = token.split_at(end.unwrap_or(token.len()));
    let is_letter = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
    let is_token = !letters.is_empty()
        && letters.iter().all(is_letter)
        && padding.iter().all(|byte| *byte == b'=');
    (is_alone && is_token).then(|| Some(std::str::from_utf8(token).expect("ASCII")))
}

/// Whether the query has a parameter `access_token`, for a server that decodes names.
fn asks_in_query(target: &str) -> bool {
    let Some(start) = target.find('?') else {
        return false;
    };
    target[start + 1..]
        .split(['&', ';'])
        .any(|pair| reads_as(pair.as_bytes(), b"access_token"))
}

/// Compares letter by letter, plain or escaped, in any case, up to a `=` or the end. An invalid
/// escape is skipped with its two bytes.
fn reads_as(pair: &[u8], name: &[u8]) -> bool {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    match (pair, name) {
        ([] | [b'=', ..], _) => name.is_empty(),
        ([b'%', rest @ ..], _) => {
            let value = rest
                .first()
                .filter(|byte| **byte != b'=')
                .zip(rest.get(1).filter(|byte| **byte != b'='));
            match value.and_then(|(high, low)| Some((digit(high)?, digit(low)?))) {
                Some((high, low)) => {
                    let byte = u8::try_from(high * 16 + low).expect("two digits");
                    name.first()
                        .is_some_and(|first| byte.eq_ignore_ascii_case(first))
                        && reads_as(&rest[2..], &name[1..])
                }
                None => {
                    let skipped = rest
                        .iter()
                        .take(2)
                        .take_while(|byte| **byte != b'=')
                        .count();
                    reads_as(&rest[skipped..], name)
                }
            }
        }
        ([byte, rest @ ..], [first, others @ ..]) => {
            byte.eq_ignore_ascii_case(first) && reads_as(rest, others)
        }
        (_, []) => false,
    }
}

/// Every challenge is one header value, and a parser of quoted strings finds its parts again.
fn challenge(texts: &[&str]) {
    let part = |place: usize| texts.get(place).copied();
    let scope: Vec<&str> = texts.iter().skip(3).copied().collect();
    let challenge = Challenge {
        error: part(0),
        description: part(1),
        resource_metadata: part(2),
        scope: &scope,
        ..Challenge::default()
    };
    let written = challenge.to_string();
    assert!(is_header_value(&written), "{written}");
    let printed = |text: &str| {
        text.chars()
            .filter(|letter| matches!(letter, ' '..='~'))
            .collect::<String>()
    };
    let sound: Vec<&str> = scope
        .iter()
        .copied()
        .filter(|scope| {
            !scope.is_empty()
                && scope
                    .bytes()
                    .all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
        })
        .collect();
    let expected: Vec<(String, String)> = [
        ("error", part(0).map(printed)),
        ("error_description", part(1).map(printed)),
        ("scope", (!sound.is_empty()).then(|| sound.join(" "))),
        ("resource_metadata", part(2).map(printed)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect();
    assert_eq!(parameters(&written), expected, "{written}");
}

fn parameters(challenge: &str) -> Vec<(String, String)> {
    let mut rest = challenge.strip_prefix("Bearer").expect("the scheme");
    let mut found = Vec::new();
    while !rest.is_empty() {
        rest = rest
            .strip_prefix(if found.is_empty() { " " } else { ", " })
            .expect("a separator");
        let (name, value) = rest.split_once("=\"").expect("a quoted string");
        let mut text = String::new();
        let mut letters = value.char_indices();
        let end = loop {
            match letters.next().expect("the end of the quoted string") {
                (place, '"') => break place,
                (_, '\\') => text.push(letters.next().expect("an escaped letter").1),
                (_, letter) => text.push(letter),
            }
        };
        found.push((name.to_owned(), text));
        rest = &value[end + 1..];
    }
    found
}
