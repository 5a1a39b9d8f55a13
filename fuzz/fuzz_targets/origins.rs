//! Origins of a Content-Security-Policy: no origin ends its directive or starts another.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::apps::csp::{MAX_ORIGINS, policy, sandbox_policy};
use mcp_core::apps::origin::{Origin, OriginError};
use mcp_core::model::Csp;
use mcp_fuzz::budget::within;

fuzz_target!(|text: &str| within(|| {
    for line in text.lines() {
        origin(line);
    }
    let domains: Vec<String> = text.lines().map(str::to_owned).collect();
    policies(&domains);
}));

fn origin(text: &str) {
    match Origin::parse(text) {
        Ok(origin) => {
            let read = origin.as_str();
            assert_eq!(read, text.to_ascii_lowercase());
            assert_eq!(
                Origin::parse(read),
                Ok(origin.clone()),
                "what was read reads the same"
            );
            let belongs = |byte: u8| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-.:/*".contains(&byte)
            };
            assert!(read.bytes().all(belongs), "{read}");
            let host = read.split_once("://").map_or(read, |(_, host)| host);
            assert!(!host.contains('/'), "{read} has a path");
            assert!(
                !host.trim_start_matches("*.").contains('*'),
                "{read} has a second wildcard"
            );
            assert!(
                read.contains("://") || !read.ends_with(':'),
                "{read} is a scheme"
            );
        }
        Err(OriginError::Character(place)) => assert!(place < text.len()),
        Err(_) => {}
    }
}

fn policies(domains: &[String]) {
    let csp = Csp {
        connect_domains: Some(domains.to_vec()),
        resource_domains: Some(domains.to_vec()),
        frame_domains: Some(domains.to_vec()),
        base_uri_domains: Some(domains.to_vec()),
        ..Csp::default()
    };
    let sound = domains.iter().all(|domain| Origin::parse(domain).is_ok());
    let declared = policy(Some(&csp));
    assert_eq!(declared.is_ok(), sound && domains.len() <= MAX_ORIGINS);
    assert_eq!(declared.is_ok(), sandbox_policy(Some(&csp)).is_ok());
    let Ok(declared) = declared else { return };
    let names: Vec<&str> = declared
        .split("; ")
        .map(|directive| directive.split(' ').next().unwrap())
        .collect();
    let expected = [
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
    assert_eq!(names, expected, "{declared}");
    assert!(declared.bytes().all(|byte| matches!(byte, b' '..=b'~')));
}
