//! S4-46: the Content-Security-Policy, and that nothing can be injected into it.

use mcp_core::apps::csp::{CspError, MAX_ORIGINS, policy};
use mcp_core::apps::origin::{Origin, OriginError};
use mcp_core::model::Csp;
use proptest::prelude::*;

const CLOSED: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; \
    style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; \
    connect-src 'none'";

fn list(origins: &[&str]) -> Vec<String> {
    origins.iter().map(ToString::to_string).collect()
}

#[test]
fn s4_46_the_policy_without_a_declaration() {
    assert_eq!(policy(None).unwrap(), CLOSED);
    assert_eq!(policy(Some(&Csp::default())).unwrap(), CLOSED);
}

#[test]
fn s4_46_the_policy_with_everything_declared() {
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

#[test]
fn s4_46_empty_lists_open_nothing() {
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

#[test]
fn s4_46_what_is_an_origin() {
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

#[test]
fn s4_46_what_is_no_origin() {
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
        ("data:", OriginError::Port),
        ("https:", OriginError::Port),
        ("https://https://a.com", OriginError::Path),
        ("a.com:0", OriginError::Port),
        ("a.com:080", OriginError::Port),
        ("a.com:65536", OriginError::Port),
        ("a.com:*", OriginError::Port),
        ("a.com:", OriginError::Port),
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

#[test]
fn s4_46_a_refusal_names_the_entry_and_never_shows_it() {
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

#[test]
fn s4_46_a_list_has_a_limit() {
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

const DIRECTIVES: [&str; 9] = [
    "default-src",
    "script-src",
    "style-src",
    "img-src",
    "media-src",
    "font-src",
    "connect-src",
    "frame-src",
    "base-uri",
];

proptest! {
    /// Whatever is declared, the policy has these directives and nothing but declared sources in them.
    #[test]
    fn s4_46_nothing_can_be_injected(
        connect in proptest::collection::vec(".{0,20}|[a-z.:/*;' ]{1,12}|[a-z]{1,5}\\.[a-z]{1,3}", 0..4),
        resource in proptest::collection::vec("[a-z]{1,5}\\.[a-z]{1,3}|[a-zA-Z0-9.:/*-]{1,12}", 0..4),
    ) {
        let csp = Csp {
            connect_domains: Some(connect.clone()),
            resource_domains: Some(resource.clone()),
            frame_domains: Some(connect.clone()),
            base_uri_domains: Some(resource.clone()),
        };
        let Ok(policy) = policy(Some(&csp)) else { return Ok(()) };
        let declared: Vec<_> =
            connect.iter().chain(&resource).map(|origin| origin.to_ascii_lowercase()).collect();
        let directives: Vec<Vec<&str>> =
            policy.split("; ").map(|directive| directive.split(' ').collect()).collect();
        let names: Vec<_> = directives.iter().map(|words| words[0]).collect();
        prop_assert_eq!(names, DIRECTIVES);
        for source in directives.iter().flat_map(|words| &words[1..]) {
            let own = ["'none'", "'self'", "'unsafe-inline'", "data:"].contains(source);
            prop_assert!(own || declared.iter().any(|origin| origin == source), "{}", source);
        }
    }

    #[test]
    fn s4_46_no_text_makes_the_reader_of_origins_panic(text in any::<String>()) {
        if let Ok(origin) = Origin::parse(&text) {
            prop_assert_eq!(origin.as_str(), text.to_ascii_lowercase());
        }
    }
}
