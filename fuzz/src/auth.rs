//! Shared by the targets of authorization: a separate strict base64url, and access to JSON objects
//! without a library.

use mcp_core::json::Limits;

use crate::tree::{Repeated, Tree, parse};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Base64url without padding.
pub fn encode(bytes: &[u8]) -> String {
    bytes
        .chunks(3)
        .flat_map(|chunk| {
            let group = chunk
                .iter()
                .enumerate()
                .map(|(place, byte)| u32::from(*byte) << (16 - 8 * place))
                .sum::<u32>();
            (0..=chunk.len()).map(move |place| letter(group, place))
        })
        .collect()
}

fn letter(group: u32, place: usize) -> char {
    char::from(ALPHABET[(group >> (18 - 6 * place)) as usize & 63])
}

/// The decoded text, if it is the canonical encoding.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let mut group = 0;
        for (place, letter) in chunk.iter().enumerate() {
            let value = ALPHABET.iter().position(|known| known == letter)?;
            group |= value << (18 - 6 * place);
        }
        bytes.extend((1..chunk.len()).map(|place| (group >> (24 - 8 * place)) as u8));
    }
    (encode(&bytes) == text).then_some(bytes)
}

/// The members of a JSON object without equal names at any depth.
pub fn object(json: &[u8], limits: &Limits) -> Option<Vec<(String, Tree)>> {
    let tree = parse(json, limits, Repeated::Keep).ok()?;
    match tree {
        Tree::Object(members) if !Tree::Object(members.clone()).repeats_a_key() => Some(members),
        _ => None,
    }
}

/// The member of this name.
pub fn member<'t>(members: &'t [(String, Tree)], name: &str) -> Option<&'t Tree> {
    members
        .iter()
        .find_map(|(known, value)| (known == name).then_some(value))
}

/// `Err` for a member that is no string.
pub fn text<'t>(members: &'t [(String, Tree)], name: &str) -> Result<Option<&'t str>, ()> {
    match member(members, name) {
        None => Ok(None),
        Some(Tree::Text(text)) => Ok(Some(text)),
        Some(_) => Err(()),
    }
}

/// `None` for an invalid time.
pub fn seconds(claims: &[(String, Tree)], name: &str) -> Option<Option<u64>> {
    let at = match member(claims, name) {
        None => return Some(None),
        Some(Tree::Integer(at)) => *at as f64,
        Some(Tree::Float(bits)) => f64::from_bits(*bits),
        Some(_) => return None,
    };
    (at >= 0.0 && at <= 9_007_199_254_740_992.0).then_some(Some(at as u64))
}

/// Whether a JWK has a private member.
pub fn is_private(jwk: &[(String, Tree)]) -> bool {
    ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]
        .iter()
        .any(|name| member(jwk, name).is_some())
}
