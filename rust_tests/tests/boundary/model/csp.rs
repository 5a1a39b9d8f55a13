//! The Content-Security-Policy, and that nothing can be injected into it.

use std::collections::BTreeMap;

use mcp_core::apps::csp::{CspError, MAX_ORIGINS, policy, sandbox_policy};
use mcp_core::apps::origin::{Origin, OriginError};
use mcp_core::model::Csp;
use proptest::prelude::*;

use crate::generated::config;

const CLOSED: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; \
    connect-src 'none'";

fn list(origins: &[&str]) -> Vec<String> {
    origins.iter().map(ToString::to_string).collect()
}

// req: S4-46
#[test]
fn the_policy_without_a_declaration() {
    assert_eq!(policy(None).unwrap(), CLOSED);
    assert_eq!(policy(Some(&Csp::default())).unwrap(), CLOSED);
}

// req: S4-46
#[test]
fn the_policy_with_everything_declared() {
    let csp = Csp {
        connect_domains: Some(list(&["api.example.com", "wss://ws.example.com:8443"])),
        resource_domains: Some(list(&["https://*.example.org"])),
        frame_domains: Some(list(&["https://frames.example.com"])),
        base_uri_domains: Some(list(&["https://base.example.com"])),
    };
    assert_eq!(
        policy(Some(&csp)).unwrap(),
        "default-src 'none'; script-src 'self' 'unsafe-inline' https://*.example.org; \
        style-src 'self' 'unsafe-inline' https://*.example.org; \
        img-src 'self' data: https://*.example.org; media-src 'self' data: https://*.example.org; \
        font-src 'self' https://*.example.org; \
        connect-src 'self' api.example.com wss://ws.example.com:8443; \
        frame-src https://frames.example.com; base-uri https://base.example.com"
    );
}

// req: S4-46
#[test]
fn empty_lists_open_nothing() {
    let csp = Csp {
        connect_domains: Some(list(&[])),
        resource_domains: Some(list(&[])),
        frame_domains: Some(list(&[])),
        base_uri_domains: Some(list(&[])),
    };
    assert_eq!(
        policy(Some(&csp)).unwrap(),
        "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
        img-src 'self' data:; media-src 'self' data:; font-src 'self'; connect-src 'none'; \
        frame-src 'none'; base-uri 'none'"
    );
}

// req: S4-46
#[test]
fn what_is_an_origin() {
    let longest_label = format!("{}.example.com", "a".repeat(63));
    for origin in [
        "localhost",
        "localhost:3000",
        "127.0.0.1:8080",
        "api.example.com",
        "https://api.example.com",
        "http://a.b:1",
        "ws://a.b:65535",
        "wss://xn--bcher-kva.example",
        "*.example.com",
        "https://*.a.b:443",
        &longest_label,
    ] {
        assert_eq!(Origin::parse(origin).unwrap().as_str(), origin);
    }
    assert_eq!(
        Origin::parse("HTTPS://API.Example.COM").unwrap().as_str(),
        "https://api.example.com"
    );
}

// req: S4-46
#[test]
fn what_is_no_origin() {
    let long_label = format!("{}.example.com", "a".repeat(64));
    let long_host = vec!["a".repeat(62); 5].join(".");
    let rows: &[(&str, OriginError)] = &[
        ("", OriginError::Empty),
        (&"a".repeat(301), OriginError::TooLong),
        ("a.com;", OriginError::Character(5)),
        ("a.com b.com", OriginError::Character(5)),
        ("a.com,b.com", OriginError::Character(5)),
        ("'self'", OriginError::Character(0)),
        ("'unsafe-eval'", OriginError::Character(0)),
        ("\"a.com\"", OriginError::Character(0)),
        ("a.com\r\nX-Header: 1", OriginError::Character(5)),
        ("a.com\0", OriginError::Character(5)),
        ("\ta.com", OriginError::Character(0)),
        ("a.com\u{a0}", OriginError::Character(5)),
        ("bücher.example", OriginError::Character(1)),
        ("a_b.example", OriginError::Character(1)),
        ("https://user@a.com", OriginError::Character(12)),
        ("https://[::1]", OriginError::Character(8)),
        ("https://a.com?q", OriginError::Character(13)),
        ("https://a.com/", OriginError::Path),
        ("a.com/lib", OriginError::Path),
        ("ftp://a.com", OriginError::Scheme),
        ("javascript://a.com", OriginError::Scheme),
        ("://a.com", OriginError::Scheme),
        ("data:", OriginError::SchemeAlone),
        ("https:", OriginError::SchemeAlone),
        ("https://https://a.com", OriginError::Path),
        ("a.com:0", OriginError::Port),
        ("a.com:080", OriginError::Port),
        ("a.com:65536", OriginError::Port),
        ("a.com:*", OriginError::Port),
        ("a.com:", OriginError::SchemeAlone),
        ("https://a.com:", OriginError::Port),
        ("a.com:1:2", OriginError::Port),
        ("*", OriginError::Wildcard),
        ("https://*", OriginError::Wildcard),
        ("*.com", OriginError::Wildcard),
        ("a.*.com", OriginError::Wildcard),
        ("*.*.com", OriginError::Wildcard),
        ("https://", OriginError::Host),
        ("a..com", OriginError::Host),
        (".a.com", OriginError::Host),
        ("a.com.", OriginError::Host),
        ("-a.com", OriginError::Host),
        ("a-.com", OriginError::Host),
        (&long_label, OriginError::Host),
        (&long_host, OriginError::TooLong),
        (&long_host[..254], OriginError::Host),
    ];
    for (origin, reason) in rows {
        assert_eq!(Origin::parse(origin), Err(*reason), "{origin:?}");
    }
}

// req: S4-46
#[test]
fn a_refusal_names_the_entry_and_never_shows_it() {
    let csp = Csp {
        frame_domains: Some(list(&["a.com", "secret; script-src *"])),
        ..Csp::default()
    };
    let error = policy(Some(&csp)).unwrap_err();
    let reason = OriginError::Character(6);
    assert_eq!(
        error,
        CspError::Origin {
            list: "frameDomains",
            index: 1,
            reason
        }
    );
    assert_eq!(
        error.to_string(),
        "frameDomains[1] has a character at byte 6 that no origin has"
    );
}

// req: S4-46
#[test]
fn a_list_has_a_limit() {
    let csp = |count| Csp {
        connect_domains: Some(list(&vec!["a.com"; count])),
        ..Csp::default()
    };
    assert!(policy(Some(&csp(MAX_ORIGINS))).is_ok());
    let refused = policy(Some(&csp(MAX_ORIGINS + 1)));
    assert_eq!(
        refused,
        Err(CspError::TooMany {
            list: "connectDomains"
        })
    );
}

// req: S4-46
#[test]
fn a_sandbox_leaves_nothing_to_the_browser() {
    assert_eq!(
        sandbox_policy(None).unwrap(),
        format!("{CLOSED}; frame-src 'none'; base-uri 'self'; object-src 'none'")
    );
    let csp = Csp {
        connect_domains: Some(list(&["https://api.example.com"])),
        resource_domains: Some(list(&["https://cdn.example.com"])),
        frame_domains: Some(list(&["https://frames.example.com"])),
        base_uri_domains: Some(list(&[])),
    };
    assert_eq!(
        sandbox_policy(Some(&csp)).unwrap(),
        format!("{}; object-src 'none'", policy(Some(&csp)).unwrap())
    );
    let refused = Csp {
        frame_domains: Some(list(&["*"])),
        ..Csp::default()
    };
    assert_eq!(sandbox_policy(Some(&refused)), policy(Some(&refused)));
}

/// What the extension's specification (2026-01-26) has a host build of these lists, directive by
/// directive. Sources are sets, so their order says nothing.
// req: S4-46
#[test]
fn a_sandbox_has_the_directives_of_the_specification() {
    let csp = Csp {
        connect_domains: Some(list(&["https://api.example.com"])),
        resource_domains: Some(list(&["https://cdn.example.com"])),
        frame_domains: None,
        base_uri_domains: None,
    };
    let specified = "default-src 'none'; script-src 'self' 'unsafe-inline' https://cdn.example.com; \
        style-src 'self' 'unsafe-inline' https://cdn.example.com; \
        connect-src 'self' https://api.example.com; img-src 'self' data: https://cdn.example.com; \
        font-src 'self' https://cdn.example.com; media-src 'self' data: https://cdn.example.com; \
        frame-src 'none'; object-src 'none'; base-uri 'self'";
    assert_eq!(
        parsed(&sandbox_policy(Some(&csp)).unwrap()),
        parsed(specified)
    );
}

/// A policy as a browser reads it (CSP level 3, section 2.2.1): split at every `;`, then at ASCII
/// whitespace; names in lower case; a directive that was there before does not count.
fn parsed(policy: &str) -> BTreeMap<String, Vec<String>> {
    let mut directives = BTreeMap::new();
    for directive in policy.split(';') {
        let mut words = directive.split_ascii_whitespace();
        if let Some(name) = words.next() {
            directives
                .entry(name.to_ascii_lowercase())
                .or_insert_with(|| words.map(str::to_owned).collect());
        }
    }
    directives
}

/// What a directive holds beside the declared origins, and the list that widens it.
type Expected<'c> = (
    &'static str,
    &'static [&'static str],
    &'c Option<Vec<String>>,
);

fn expected(csp: &Csp) -> Vec<Expected<'_>> {
    let inline = &["'self'", "'unsafe-inline'"][..];
    let embedded = &["'self'", "data:"][..];
    let is_open = |list: &Option<Vec<String>>| list.as_ref().is_some_and(|list| !list.is_empty());
    let alone = |list| {
        if is_open(list) {
            &[][..]
        } else {
            &["'none'"][..]
        }
    };
    let mut rows: Vec<Expected<'_>> = vec![
        ("default-src", &["'none'"], &None),
        ("script-src", inline, &csp.resource_domains),
        ("style-src", inline, &csp.resource_domains),
        ("img-src", embedded, &csp.resource_domains),
        ("media-src", embedded, &csp.resource_domains),
    ];
    if *csp != Csp::default() {
        rows.push(("font-src", &["'self'"], &csp.resource_domains));
    }
    let connect = &csp.connect_domains;
    let own = if is_open(connect) {
        &["'self'"][..]
    } else {
        &["'none'"][..]
    };
    rows.push(("connect-src", own, connect));
    for (name, list) in [
        ("frame-src", &csp.frame_domains),
        ("base-uri", &csp.base_uri_domains),
    ] {
        if list.is_some() {
            rows.push((name, alone(list), list));
        }
    }
    rows
}

/// What hosts and attackers write: origins, almost origins, and what ends a directive, a header or a
/// line, in front of, behind and inside of them.
fn entry() -> impl Strategy<Value = String> {
    let origin =
        || "((https|http|wss|ws)://)?(\\*\\.)?[a-zA-Z0-9]{1,6}\\.[a-z]{2,4}(:[1-9][0-9]{0,3})?";
    let poison = prop_oneof![
        Just(";"),
        Just("; script-src *"),
        Just(" "),
        Just("\t"),
        Just("\n"),
        Just("\r\n\r\n"),
        Just("\u{c}"),
        Just("\0"),
        Just(","),
        Just("'"),
        Just("\""),
        Just("'unsafe-eval'"),
        Just("\u{a0}"),
        Just("\u{2028}"),
        Just("\u{ff1b}"),
        Just("%3b"),
        Just("\\"),
        Just("/"),
        Just("*"),
        Just("data:"),
        Just("é"),
    ];
    prop_oneof![
        8 => origin().prop_map(|text| text),
        2 => ".{0,20}",
        2 => "[a-zA-Z0-9.:/*;,' -]{0,16}",
        4 => (origin(), poison, any::<prop::sample::Index>()).prop_map(|(origin, poison, index)| {
            let at = index.index(origin.len() + 1);
            format!("{}{poison}{}", &origin[..at], &origin[at..])
        }),
    ]
}

fn declared() -> impl Strategy<Value = Csp> {
    let entries = || proptest::option::of(proptest::collection::vec(entry(), 0..4));
    (entries(), entries(), entries(), entries()).prop_map(|(connect, resource, frame, base_uri)| {
        Csp {
            connect_domains: connect,
            resource_domains: resource,
            frame_domains: frame,
            base_uri_domains: base_uri,
        }
    })
}

proptest! {
    #![proptest_config(config(4_096))]

    /// Whatever is declared is refused, or the policy a browser reads has exactly the directives it
    /// should, and in each exactly what belongs there and the declared origins, once each.
    // req: S4-46
    #[test]
    fn nothing_can_be_injected(csp in declared()) {
        let lists = [&csp.connect_domains, &csp.resource_domains, &csp.frame_domains, &csp.base_uri_domains];
        let Ok(policy) = policy(Some(&csp)) else {
            // Something in it is at fault: no list is refused whose entries are all origins.
            let mut entries = lists.iter().copied().flatten().flatten();
            prop_assert!(entries.any(|text| Origin::parse(text).is_err()));
            return Ok(());
        };
        prop_assert!(policy.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "one line of ASCII");
        let mut found = parsed(&policy);
        for (name, own, list) in expected(&csp) {
            let origins = list.iter().flatten().map(|origin| origin.to_ascii_lowercase());
            let sources: Vec<String> = own.iter().map(ToString::to_string).chain(origins).collect();
            prop_assert_eq!(found.remove(name), Some(sources), "{}", name);
        }
        prop_assert!(found.is_empty(), "{:?}", found);
    }

    /// The same of a sandbox: what is said of more never takes back what is said of less.
    // req: S4-46
    #[test]
    fn a_sandbox_only_adds(csp in declared()) {
        match (policy(Some(&csp)), sandbox_policy(Some(&csp))) {
            (Ok(policy), Ok(sandbox)) => {
                let (policy, sandbox) = (parsed(&policy), parsed(&sandbox));
                for (name, sources) in &policy {
                    prop_assert_eq!(sandbox.get(name), Some(sources));
                }
                let base = csp.base_uri_domains.is_none().then_some("base-uri");
                let frame = csp.frame_domains.is_none().then_some("frame-src");
                let mut added: Vec<&str> = base.into_iter().chain(frame).collect();
                added.push("object-src");
                let more: Vec<&String> = sandbox.keys().filter(|name| !policy.contains_key(*name)).collect();
                prop_assert_eq!(more, added);
            }
            (policy, sandbox) => prop_assert_eq!(policy, sandbox),
        }
    }

    // req: S4-46
    #[test]
    fn an_entry_with_anything_foreign_in_it_is_refused(entry in entry()) {
        let belongs = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:/*".contains(&byte);
        if !entry.bytes().all(belongs) {
            prop_assert!(Origin::parse(&entry).is_err());
        }
    }

    // req: S4-46
    #[test]
    fn no_text_makes_the_reader_of_origins_panic(text in any::<String>()) {
        if let Ok(origin) = Origin::parse(&text) {
            prop_assert_eq!(origin.as_str(), text.to_ascii_lowercase());
        }
    }
}
