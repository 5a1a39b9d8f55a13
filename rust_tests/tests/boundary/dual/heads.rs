//! Heads: what is let through as what, and what is refused how.

use mcp_core::http::{Head, HttpAnswer};
use mcp_core::results::dual::{
    Action, Capability, Endpoint, EndpointError, EndpointOptions, Form, Wanted, check_head,
};
use proptest::prelude::*;

use crate::generated::config;

pub(super) fn endpoint() -> Endpoint {
    Endpoint::new(EndpointOptions::default()).expect("an endpoint")
}

fn judge(method: &str, target: &str, headers: &[(&str, &str)]) -> Result<Wanted, HttpAnswer> {
    let mut all = vec![("host", &b"localhost:4040"[..])];
    all.extend(
        headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes())),
    );
    let head = Head {
        method,
        target,
        authority: None,
        headers: &all,
    };
    check_head(&endpoint(), &head)
}

#[track_caller]
fn refused(method: &str, target: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let answer = judge(method, target, headers).expect_err(target);
    let body = String::from_utf8(answer.body).expect("text");
    let code = body.split('"').nth(3).unwrap_or_default().to_owned();
    (answer.status, code)
}

const NOT_FOUND: &str = r#"{"error":"not_found","message":"Resource not found or expired"}"#;

// req: S1-50, S1-51, S1-52, S1-53, S1-54, S1-55
#[test]
fn each_method_wants_one_thing() {
    for (method, action) in [
        ("GET", Action::Metadata),
        ("HEAD", Action::Metadata),
        ("POST", Action::Fetch),
        ("PUT", Action::Pin),
        ("DELETE", Action::Delete),
    ] {
        let wanted = judge(method, "/resources/abc123", &[]).expect(method);
        assert_eq!((wanted.action, wanted.id.as_str()), (action, "abc123"));
        assert_eq!(
            (wanted.form, wanted.capability),
            (Form::Page, Capability::None)
        );
    }
}

// req: S1-57
#[test]
fn other_methods_are_405_with_allow() {
    for method in ["PATCH", "OPTIONS", "TRACE", "get", "", "POST "] {
        let answer = judge(method, "/resources/abc123", &[]).expect_err(method);
        assert_eq!(answer.status, 405, "{method}");
        let allow = ("allow", "GET, HEAD, POST, PUT, DELETE".to_owned());
        assert!(answer.headers.contains(&allow));
    }
}

// req: R6
#[test]
fn no_path_leads_out_of_the_store() {
    let long = format!("/resources/{}", "a".repeat(129));
    let huge = format!("/resources/{}", "a".repeat(10 * 1024));
    for target in [
        "/resources",
        "/resources/",
        "/resources/..",
        "/resources/.",
        "/resources/../abc",
        "/resources/%2e%2e",
        "/resources/%2E%2E%2fetc",
        "/resources/%00",
        "/resources/a%00b",
        "/resources/%61bc123",
        "/resources/a/b",
        "/resources/a\\b",
        "/resources/a;b",
        "/resources/é",
        "/resources/a b",
        "/resources/'--",
        "/resourcesabc",
        "/Resources/abc",
        "/",
        "",
        &long,
        &huge,
    ] {
        let answer = judge("GET", target, &[]).expect_err(target);
        assert_eq!(answer.status, 404, "{target}");
        assert_eq!(answer.body, NOT_FOUND.as_bytes(), "{target}");
    }
    let longest = format!("/resources/{}", "a".repeat(128));
    assert!(judge("GET", &longest, &[]).is_ok());
    for target in [
        "/resources/a-b._~Z9/",
        "/resources//a",
        "/resources/...?x=/..",
    ] {
        assert!(judge("GET", target, &[]).is_ok(), "{target}");
    }
}

// req: SEC-01
#[test]
fn host_and_origin_come_first_on_every_method() {
    for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
        for target in ["/resources/abc123", "/resources/%00"] {
            let head = Head {
                method,
                target,
                authority: None,
                headers: &[("host", b"evil.example")],
            };
            let answer = check_head(&endpoint(), &head).expect_err(method);
            assert_eq!(answer.status, 403, "{method} {target}");
            for origin in ["http://evil.example", "null", "localhost"] {
                assert_eq!(
                    refused(method, target, &[("origin", origin)]),
                    (403, "forbidden".into())
                );
            }
        }
    }
    assert!(
        judge(
            "GET",
            "/resources/a",
            &[("origin", "http://localhost:3000")]
        )
        .is_ok()
    );
    let head = Head {
        method: "GET",
        target: "/resources/a",
        authority: None,
        headers: &[],
    };
    assert_eq!(
        check_head(&endpoint(), &head).map_err(|answer| answer.status),
        Err(400)
    );
}

// req: Q4
#[test]
fn the_form_is_what_the_client_would_rather_have() {
    for (accept, form) in [
        ("", Form::Page),
        ("*/*", Form::Page),
        ("application/*", Form::Page),
        ("application/json", Form::Page),
        ("application/json, application/x-ndjson", Form::Page),
        ("application/x-ndjson", Form::Ndjson),
        ("APPLICATION/X-NDJSON", Form::Ndjson),
        ("application/x-ndjson, */*", Form::Ndjson),
        ("application/json;q=0.5, application/x-ndjson", Form::Ndjson),
        (
            "application/json;q=0.501, application/x-ndjson;q=0.5",
            Form::Page,
        ),
        ("text/csv, application/x-ndjson;q=0.9", Form::Csv),
        ("text/*", Form::Csv),
        ("application/json;q=0, text/csv;q=0.001", Form::Csv),
    ] {
        let wanted = judge("POST", "/resources/a", &[("accept", accept)]).expect(accept);
        assert_eq!(wanted.form, form, "{accept}");
    }
    for accept in [
        "text/html",
        "application/json;q=0",
        "application/json;q=2",
        "json",
    ] {
        assert_eq!(
            refused("POST", "/resources/a", &[("accept", accept)]),
            (406, "not_acceptable".into()),
            "{accept}"
        );
    }
    assert_eq!(
        refused("GET", "/resources/a", &[("accept", "application/x-ndjson")]).0,
        406
    );
    assert!(judge("DELETE", "/resources/a", &[("accept", "text/html")]).is_ok());
}

#[test]
fn a_declared_body_has_both_sides_of_its_limit() {
    let declared = |length: &str| judge("POST", "/resources/a", &[("content-length", length)]);
    assert!(declared("65536").is_ok());
    assert_eq!(declared("65537").map_err(|answer| answer.status), Err(413));
    assert_eq!(declared("1, 2").map_err(|answer| answer.status), Err(400));
}

#[test]
fn a_query_has_a_permission_or_none_or_what_can_be_none() {
    let capability = |query: &str| {
        judge("GET", &format!("/resources/a?{query}"), &[])
            .expect(query)
            .capability
    };
    let signed = Capability::Signed {
        expires_at: 17,
        signature: "aZ-_9".to_owned(),
    };
    assert_eq!(capability("exp=17&sig=aZ-_9"), signed);
    assert_eq!(capability("x=1&sig=aZ-_9&exp=17&y"), signed);
    for query in ["", "x=1", "expx=1&sigx=2", "exp", "sig"] {
        assert_eq!(capability(query), Capability::None, "{query}");
    }
    let long = format!("exp=1&sig={}", "a".repeat(129));
    for query in [
        "exp=17",
        "sig=a",
        "exp=17&sig=",
        "exp=&sig=a",
        "exp=-1&sig=a",
        "exp=1e3&sig=a",
        "exp=+1&sig=a",
        "exp=12345678901234567&sig=a",
        "exp=1&sig=a%3D",
        "exp=1&sig=a=",
        "exp=1&exp=2&sig=a",
        "exp=1&sig=a&sig=a",
        &long,
    ] {
        assert_eq!(capability(query), Capability::Malformed, "{query}");
    }
}

#[test]
fn options_that_cannot_be_kept_are_named() {
    let with = |change: fn(&mut EndpointOptions)| {
        let mut options = EndpointOptions::default();
        change(&mut options);
        Endpoint::new(options).map(|_| ())
    };
    assert_eq!(with(|options| options.prefix = String::new()), Ok(()));
    for prefix in ["resources", "/", "/a/", "/a?b", "/a b", "/é"] {
        let options = EndpointOptions {
            prefix: prefix.to_owned(),
            ..EndpointOptions::default()
        };
        let error = Endpoint::new(options).map(|_| ());
        assert_eq!(error, Err(EndpointError::Prefix(prefix.to_owned())));
    }
    assert_eq!(
        with(|options| options.default_limit = 0),
        Err(EndpointError::Limit)
    );
    assert_eq!(
        with(|options| options.max_limit = 99),
        Err(EndpointError::Limit)
    );
    assert_eq!(with(|options| options.max_limit = 100), Ok(()));
    assert!(with(|options| options.max_body_bytes = 0).is_err());
    assert!(with(|options| options.allowed_hosts = vec!["a b".to_owned()]).is_err());
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn no_head_panics_and_only_sound_ids_get_through(
        method in "(GET|POST|PUT|DELETE|[A-Z]{0,6})",
        target in "(/resources)?/[ -~]{0,200}",
        accept in "[ -~]{0,40}",
    ) {
        match judge(&method, &target, &[("accept", &accept)]) {
            Ok(wanted) => {
                prop_assert!(!wanted.id.is_empty() && wanted.id.len() <= 128);
                prop_assert!(wanted.id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)));
                prop_assert!(wanted.id != "." && wanted.id != "..");
            }
            Err(answer) => prop_assert!((400..500).contains(&answer.status)),
        }
    }
}

#[test]
fn a_page_of_a_named_origin_may_ask_and_read() {
    let options = EndpointOptions {
        allowed_origins: vec!["https://app.example.com".to_owned()],
        ..EndpointOptions::default()
    };
    let endpoint = Endpoint::new(options).expect("an endpoint");
    let judged = |method: &str, origin: &str| {
        let headers = [
            ("host", &b"localhost:4040"[..]),
            ("origin", origin.as_bytes()),
            ("access-control-request-method", b"PUT"),
        ];
        let head = Head {
            method,
            target: "/resources/abc123",
            authority: None,
            headers: &headers,
        };
        check_head(&endpoint, &head)
    };
    let exposed = vec![
        (
            "access-control-allow-origin",
            "https://app.example.com".to_owned(),
        ),
        ("vary", "Origin".to_owned()),
        (
            "access-control-expose-headers",
            "WWW-Authenticate, Retry-After, X-Total-Count, DPoP-Nonce".to_owned(),
        ),
    ];
    let page = judged("GET", "https://app.example.com").expect("a page");
    assert_eq!(page.cors_headers, exposed);
    let local = judged("GET", "http://localhost:3000").expect("loopback");
    assert_eq!(local.cors_headers, []);
    let preflight = judged("OPTIONS", "https://app.example.com").expect_err("a preflight");
    assert_eq!(preflight.status, 204);
    assert!(preflight.headers.contains(&(
        "access-control-allow-methods",
        "GET, POST, PUT, DELETE".to_owned()
    )));
    assert!(preflight.headers.ends_with(&exposed));
    assert_eq!(
        judged("OPTIONS", "http://localhost:3000")
            .expect_err("no page")
            .status,
        405
    );
}
