//! Percent-encoding, and the normal form of URIs.

use std::borrow::Cow;

use memchr::memchr;

/// The normal form of a URI: two URIs with the same one are equivalent.
///
/// Triplets of unreserved characters are decoded (RFC 3986, section 6.2.2.2), the hexadecimal
/// digits of the others are upper case (section 6.2.2.1). A text in which a `%` starts no triplet
/// is no URI, and stays as it is: decoded characters could complete a triplet, as in `%2%35`.
///
/// # Examples
/// ```
/// use mcp_core::catalog::template::normal_form;
/// assert_eq!(normal_form("file:///%70rivate%2f%7Eada"), "file:///private%2F~ada");
/// assert_eq!(normal_form("file:///100%/%70"), "file:///100%/%70");
/// ```
#[must_use]
pub fn normal_form(uri: &str) -> Cow<'_, str> {
    if is_normal(uri).unwrap_or(true) {
        return Cow::Borrowed(uri);
    }
    let mut out = String::with_capacity(uri.len());
    let mut rest = uri;
    while let Some((before, byte, after)) = next_triplet(rest) {
        out.push_str(before);
        match char::from(byte) {
            character if is_unreserved(character) => out.push(character),
            _ => push_triplet(&mut out, byte),
        }
        rest = after;
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Whether a URI is in its normal form. `None` if a `%` starts no triplet.
fn is_normal(uri: &str) -> Option<bool> {
    let mut is_normal = true;
    let mut rest = uri;
    while let Some(at) = memchr(b'%', rest.as_bytes()) {
        let from = rest.get(at..)?;
        let byte = triplet(from)?;
        let digits = from.get(1..3)?.bytes();
        is_normal &= !is_unreserved(char::from(byte)) && !digits.into_iter().any(is_lower);
        rest = from.get(3..)?;
    }
    Some(is_normal)
}

const fn is_lower(digit: u8) -> bool {
    digit.is_ascii_lowercase()
}

/// The text before the first `%`, the byte of its triplet, and the text after it.
fn next_triplet(text: &str) -> Option<(&str, u8, &str)> {
    let at = memchr(b'%', text.as_bytes())?;
    let (before, from) = text.split_at_checked(at)?;
    Some((before, triplet(from)?, from.get(3..)?))
}

/// The characters that need no encoding in a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Allow {
    /// Letters, digits and `-._~`.
    Unreserved,
    /// Unreserved and reserved characters, and existing percent-encoded triplets.
    Reserved,
}

/// Appends `text` and percent-encodes all characters that `allow` does not cover.
pub(super) fn encode(out: &mut String, text: &str, allow: Allow) {
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let (head, tail) = rest.split_at(character.len_utf8());
        if allow == Allow::Reserved && triplet(rest).is_some() {
            let (triplet, tail) = rest.split_at(3);
            out.push_str(triplet);
            rest = tail;
            continue;
        }
        if is_allowed(character, allow) {
            out.push(character);
        } else {
            head.bytes().for_each(|byte| push_triplet(out, byte));
        }
        rest = tail;
    }
}

/// Decodes every triplet once. `None` if a `%` starts no triplet, or the bytes are not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    decode_unless(text, |_, _| false)
}

/// Decodes the value of `{+name}` or `{#name}`: every triplet that the expansion would encode again.
///
/// It never encodes a reserved character and copies what looks like a triplet (RFC 6570, section
/// 3.2.3). So `%2F` is another value than `/`, and `%252F` another than `%2F`: both stay.
pub(super) fn decode_reserved(text: &str) -> Option<String> {
    decode_unless(text, |byte, after| {
        let mut digits = after.bytes().take_while(u8::is_ascii_hexdigit);
        is_reserved(char::from(byte)) || (byte == b'%' && digits.nth(1).is_some())
    })
}

/// Decodes the triplets that do not stay, which their byte and the text after them decide.
fn decode_unless(text: &str, stays: impl Fn(u8, &str) -> bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, from) = rest.split_at(at);
        bytes.extend_from_slice(before.as_bytes());
        let byte = triplet(from)?;
        let (whole, after) = from.split_at_checked(3)?;
        if stays(byte, after) {
            bytes.extend_from_slice(whole.as_bytes());
        } else {
            bytes.push(byte);
        }
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).ok()
}

/// The byte of the percent-encoded triplet at the start of `text`.
pub(super) fn triplet(text: &str) -> Option<u8> {
    let digits = text.strip_prefix('%')?.get(..2)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u8::from_str_radix(digits, 16).ok())?
}

/// Letters, digits and `-._~`.
pub(super) const fn is_unreserved(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~')
}

/// The gen-delims and sub-delims of RFC 3986, section 2.2.
fn is_reserved(character: char) -> bool {
    ":/?#[]@!$&'()*+,;=".contains(character)
}

fn is_allowed(character: char, allow: Allow) -> bool {
    is_unreserved(character) || (allow == Allow::Reserved && is_reserved(character))
}

fn push_triplet(out: &mut String, byte: u8) {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let digit = |index: u8| DIGITS.get(usize::from(index)).copied().unwrap_or('0');
    out.push('%');
    out.push(digit(byte >> 4));
    out.push(digit(byte & 15));
}
