//! A URI template, a URI, and values, with NULs between: parsed, matched, expanded, matched again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::catalog::template::{
    Matcher, Template, TemplateError, TemplateLimits, VarValue, is_valid_uri, normal_form,
};
use mcp_fuzz::budget::within;

fuzz_target!(|text: &str| within(|| {
    let mut parts = text.split('\0');
    let (source, uri) = (
        parts.next().unwrap_or_default(),
        parts.next().unwrap_or_default(),
    );
    let values: Vec<&str> = parts.collect();
    let limits = TemplateLimits::default();
    let template = match Template::parse(source, &limits) {
        Ok(template) => template,
        Err(error) => return is_placed(&error, source),
    };
    assert!(source.len() <= limits.max_bytes && template.variables().len() <= limits.max_variables);
    expands(&template, &values);
    let Ok(matcher) = template.matcher() else {
        return;
    };
    captures(&template, &matcher, uri);
    if normal_form(uri).len() <= limits.max_bytes {
        is_found_again(source, &template, &matcher, &values);
    } else {
        assert_eq!(matcher.captures(uri), None);
    }
}));

fn is_placed(error: &TemplateError, source: &str) {
    if let TemplateError::Brace { at }
    | TemplateError::Literal { at }
    | TemplateError::Expression { at } = error
    {
        assert!(
            source.is_char_boundary(*at) && *at < source.len(),
            "{error}"
        );
    }
}

/// An expansion has only characters of URIs, for any values.
fn expands(template: &Template, values: &[&str]) {
    let place = |name: &str| {
        template
            .variables()
            .iter()
            .position(|variable| variable == name)
    };
    let shape = values.len() % 3;
    let owned = || values.iter().map(|value| (*value).to_owned());
    let value = |name: &str| {
        let at = place(name).expect("a variable of the template");
        Some(match (at + shape) % 3 {
            0 => VarValue::Text((*values.get(at)?).to_owned()),
            1 => VarValue::List(owned().skip(at).collect()),
            _ => VarValue::Pairs(owned().skip(at).zip(owned().rev()).collect()),
        })
    };
    match template.expand(&value) {
        Ok(uri) => assert!(is_uri_text(&uri), "{uri}"),
        Err(error) => assert!(
            matches!(error, TemplateError::PrefixOfComposite { .. }),
            "{error}"
        ),
    }
}

fn is_uri_text(uri: &str) -> bool {
    let mut rest = uri.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        rest = match (byte, after) {
            (b'%', [high, low, behind @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                behind
            }
            (b'%', _) => return false,
            (byte, _)
                if byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=".contains(byte) =>
            {
                after
            }
            _ => return false,
        };
    }
    true
}

/// The captured values cannot mislead a handler.
fn captures(template: &Template, matcher: &Matcher, uri: &str) {
    // Equivalent URIs have the same values: the normal form, and a form with more triplets.
    let normal = normal_form(uri);
    assert_eq!(normal_form(&normal), normal);
    assert_eq!(matcher.captures(&normal), matcher.captures(uri));
    assert_eq!(matcher.captures(&encoded(&normal)), matcher.captures(uri));
    let Some(found) = matcher.captures(uri) else {
        return;
    };
    assert_eq!(matcher.captures(uri), Some(found.clone()));
    let mut names: Vec<&String> = found.iter().map(|(name, _)| name).collect();
    names.sort();
    assert!(
        names.windows(2).all(|pair| pair[0] != pair[1]),
        "each variable once"
    );
    for (name, value) in &found {
        assert!(template.variables().contains(name), "{name}");
        assert!(!value.contains(['\0', '\\']), "{value:?}");
        assert!(
            !value
                .split('/')
                .any(|segment| matches!(segment, "." | "..")),
            "{value:?}"
        );
        assert!(value.len() <= uri.len());
    }
    let _ = is_valid_uri(uri);
}

/// The URI with its unreserved characters encoded, except in what begins like a triplet.
fn encoded(uri: &str) -> String {
    let mut out = String::new();
    let mut kept = 0;
    for character in uri.chars() {
        let is_unreserved = character.is_ascii_alphanumeric() || "-._~".contains(character);
        match character {
            '%' => kept = 3,
            _ if is_unreserved && kept == 0 => {
                out.push_str(&format!("%{:02x}", u32::from(character)));
                continue;
            }
            _ => {}
        }
        out.push(character);
        kept -= usize::from(kept > 0);
    }
    out
}

/// Values without characters of the template are captured again.
fn is_found_again(source: &str, template: &Template, matcher: &Matcher, values: &[&str]) {
    let is_plain = |value: &str| {
        let is_own = |character: char| source.contains(character);
        !value.is_empty()
            && value
                .chars()
                .all(|character| character.is_ascii_alphanumeric() && !is_own(character))
    };
    let given: Vec<(String, String)> = template
        .variables()
        .iter()
        .cloned()
        .zip(values.iter().map(|v| (*v).to_owned()))
        .collect();
    if given.len() < template.variables().len() || !given.iter().all(|(_, value)| is_plain(value)) {
        return;
    }
    let value = |name: &str| {
        given
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| VarValue::Text(value.clone()))
    };
    let uri = template.expand(&value).expect("texts only");
    if uri.len() > TemplateLimits::default().max_bytes {
        return;
    }
    let mut found = matcher
        .captures(&uri)
        .unwrap_or_else(|| panic!("{uri} is not found in {source}"));
    let mut expected = given.clone();
    found.sort();
    expected.sort();
    assert_eq!(found, expected, "{source}: {uri}");
}
