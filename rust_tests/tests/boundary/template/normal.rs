//! Equivalent URIs: RFC 3986, section 6.2.2, and the reserved characters of RFC 6570, section 3.2.3.

use std::borrow::Cow;

use mcp_core::catalog::template::normal_form;
use mcp_core::catalog::{Catalog, ReadTarget};
use mcp_core::schema::SerdeJson;
use proptest::prelude::*;
use serde_json::json;

use super::{captures, parse};
use crate::catalog::{build, definition};
use crate::generated::config;

/// A guarded resource, a guarded template and an open one that is wider.
fn overlapping() -> Catalog<SerdeJson> {
    let mut definition = definition();
    definition["resources"] = json!([
        {"name": "key", "uri": "file:///key2.pem"},
        {"name": "home", "uri": "file:///%7euser/%c3%a4"},
    ]);
    definition["resourceTemplates"] = json!([
        {"name": "private", "uriTemplate": "file:///private/{name}"},
        {"name": "spaced", "uriTemplate": "file:///%6d%79%2f{name}{?q}"},
        {"name": "all", "uriTemplate": "file:///{+path}"},
    ]);
    definition["templateCompletes"] = json!([false, false, false]);
    build(&definition).expect("a catalogue")
}

fn template(index: usize, name: &str, value: &str) -> Option<ReadTarget> {
    Some(ReadTarget::Template {
        index,
        variables: vec![(name.to_owned(), value.to_owned())],
    })
}

// Earlier, `%6Bey2.pem` reached the open template, past the guard of the resource.
#[test]
fn an_encoded_unreserved_character_finds_the_same_entry() {
    let catalog = overlapping();
    for uri in [
        "file:///key2.pem",
        "file:///%6Bey2.pem",
        "file:///key2%2Epe%6d",
    ] {
        let found = catalog.find_resource(uri);
        assert_eq!(found, Some(ReadTarget::Resource { index: 0 }), "{uri}");
        assert_eq!(catalog.resource_at(uri), Some(0), "{uri}");
    }
    for uri in [
        "file:///private/x",
        "file:///%70rivate/x",
        "file:///privat%65/%78",
    ] {
        assert_eq!(
            catalog.find_resource(uri),
            template(0, "name", "x"),
            "{uri}"
        );
    }
}

#[test]
fn declared_uris_and_templates_have_a_normal_form_too() {
    let catalog = overlapping();
    for uri in [
        "file:///%7euser/%c3%a4",
        "file:///~user/%C3%A4",
        "file:///%7Euser/%c3%A4",
    ] {
        let found = catalog.find_resource(uri);
        assert_eq!(found, Some(ReadTarget::Resource { index: 1 }), "{uri}");
    }
    for uri in ["file:///%6d%79%2fx", "file:///my%2Fx", "file:///my%2fx"] {
        assert_eq!(
            catalog.find_resource(uri),
            template(1, "name", "x"),
            "{uri}"
        );
    }
    assert_eq!(
        captures("t://x{?%61b,c}", "t://x?ab=1&%63=2").as_deref(),
        Some("%61b=1 c=2")
    );
    // A slash is no `%2F`.
    assert_eq!(
        catalog.find_resource("file:///my/x"),
        template(2, "path", "my/x")
    );
}

#[test]
fn two_forms_of_a_uri_cannot_be_declared() {
    let mut definition = definition();
    definition["resources"] = json!([
        {"name": "a", "uri": "file:///~user"},
        {"name": "b", "uri": "file:///%7Euser"},
    ]);
    assert_eq!(
        build(&definition).err().expect("an error").to_string(),
        "resource \"b\": uri: file:///%7Euser is another form of file:///~user, which is declared already"
    );
    definition["resources"][1]["uri"] = json!("file:///%2Fuser");
    assert!(build(&definition).is_ok());
    let twice = parse("t://x{?a,%61}").unwrap().matcher();
    assert!(twice.is_err());
}

// Earlier, `private%2Fx` gave `private/x`.
#[test]
fn a_reserved_character_stays_encoded_in_a_reserved_expansion() {
    for (uri, path) in [
        ("file:///private%2Fx", "private%2Fx"),
        ("file:///private%2fx", "private%2Fx"),
        ("file:///a%3Ab%2C%40", "a%3Ab%2C%40"),
        ("file:///a%20b%22%C3%A4", "a b\"\u{e4}"),
        ("file:///a%41%2D", "aA-"),
        ("file:///50%25", "50%"),
        ("file:///%252F", "%252F"),
        ("file:///%25%32F", "%252F"),
        ("file:///%25zz", "%zz"),
    ] {
        assert_eq!(
            captures("file:///{+path}", uri).as_deref(),
            Some(format!("path={path}").as_str()),
            "{uri}"
        );
    }
    assert_eq!(
        captures("t://x{#part}", "t://x#a%2Fb").as_deref(),
        Some("part=a%2Fb")
    );
    // A simple expansion encodes the slash, so it is decoded.
    assert_eq!(
        captures("t://{id}{?q}", "t://a%2Fb?q=%26").as_deref(),
        Some("id=a/b q=&")
    );
}

#[test]
fn only_what_changes_is_copied() {
    for (uri, normal) in [
        ("file:///a/b", "file:///a/b"),
        ("file:///%2F%C3%A4%25", "file:///%2F%C3%A4%25"),
        ("file:///100%/%41", "file:///100%/%41"),
        ("file:///%2%35%41", "file:///%2%35%41"),
        ("%", "%"),
        ("%\u{e4}", "%\u{e4}"),
    ] {
        assert!(
            matches!(normal_form(uri), Cow::Borrowed(same) if same == normal),
            "{uri}"
        );
    }
    for (uri, normal) in [
        ("%41", "A"),
        ("%7a%2D%2e%5F%7E%30", "z-._~0"),
        ("%2f%3A%c3", "%2F%3A%C3"),
        ("%2541", "%2541"),
        ("%25%34%31", "%2541"),
    ] {
        assert_eq!(normal_form(uri), normal, "{uri}");
    }
}

/// The URI with the chosen unreserved characters encoded, in upper or lower case.
fn variant(uri: &str, choices: &[u8]) -> String {
    let mut choices = choices.iter().cycle();
    uri.chars()
        .map(|character| {
            let is_unreserved =
                character.is_ascii_alphanumeric() || matches!(character, '-' | '.' | '_' | '~');
            let code = u32::from(character);
            match choices.next() {
                Some(0) if is_unreserved => format!("%{code:02X}"),
                Some(1) if is_unreserved => format!("%{code:02x}"),
                _ => character.to_string(),
            }
        })
        .collect()
}

proptest! {
    #![proptest_config(config(512))]

    #[test]
    fn equivalent_uris_find_the_same_entry_with_the_same_values(
        tail in "(private/|key2|my%2f|~user/)?[a-z./?=&-]{0,3}(%2F|%c3%a4|%25|%|/|\\.)?[a-zA-Z0-9./-]{0,8}(\\?q=[a-z%]{0,2})?",
        choices in prop::collection::vec(0_u8..6, 1..20),
    ) {
        let catalog = overlapping();
        let uri = format!("file:///{tail}");
        // The digits of a triplet belong to it.
        let parts: Vec<String> = uri
            .split('%')
            .enumerate()
            .map(|(index, part)| {
                let kept = if index == 0 { 0 } else { part.len().min(2) };
                format!("{}{}", &part[..kept], variant(&part[kept..], &choices))
            })
            .collect();
        let other = parts.join("%");
        let is_triplet = |part: &str| part.len() >= 2 && part.bytes().take(2).all(|digit| digit.is_ascii_hexdigit());
        if uri.split('%').skip(1).all(is_triplet) {
            prop_assert_eq!(normal_form(&uri), normal_form(&other));
            prop_assert_eq!(catalog.find_resource(&uri), catalog.find_resource(&other), "{} {}", uri, other);
        } else {
            // A stray `%` is in no value.
            prop_assert_eq!(catalog.find_resource(&uri), None);
            prop_assert_eq!(catalog.find_resource(&other), None);
        }
    }

    #[test]
    fn the_value_of_a_reserved_expansion_gives_the_uri_back(path in "([a-z./,:@-]|%[0-9a-f]{2}|%25){1,8}") {
        let template = parse("t://x/{+path}").unwrap();
        let uri = format!("t://x/{path}");
        if let Some(found) = template.matcher().unwrap().captures(&uri) {
            let value = found[0].1.clone();
            let expand = |_: &str| Some(mcp_core::catalog::template::VarValue::Text(value.clone()));
            prop_assert_eq!(template.expand(&expand).unwrap(), normal_form(&uri));
        }
    }

    #[test]
    fn a_normal_form_is_its_own(uri in "([a-z%]|%[0-9a-f]{2}|%25){0,12}") {
        let normal = normal_form(&uri).into_owned();
        prop_assert_eq!(normal_form(&normal), normal.as_str());
    }
}
