//! CORS: which answers a browser lets a page of another origin read.

use super::head::{TestHead, header, policy, post};
use mcp_core::http::Policy;

const PAGE: &str = "https://app.example.com";
const EXPOSED: [(&str, &str); 3] = [
    ("access-control-allow-origin", PAGE),
    ("vary", "Origin"),
    (
        "access-control-expose-headers",
        "WWW-Authenticate, Mcp-Session-Id, Retry-After, DPoP-Nonce",
    ),
];

fn open_to_page() -> Policy {
    policy(|options| options.allowed_origins = vec![PAGE.to_owned()])
}

fn preflight() -> TestHead {
    TestHead {
        method: "OPTIONS",
        ..post()
    }
    .with("access-control-request-method", "POST")
}

fn exposed() -> Vec<(&'static str, String)> {
    EXPOSED
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
}

#[test]
fn a_preflight_of_a_named_origin_is_answered() {
    let answer = preflight()
        .with("origin", PAGE)
        .check_head(&open_to_page())
        .expect_err("it is finished");
    assert_eq!((answer.status, answer.body.len()), (204, 0));
    let names: Vec<&str> = answer.headers.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "access-control-allow-methods",
            "access-control-allow-headers",
            "access-control-max-age",
            "access-control-allow-origin",
            "vary",
            "access-control-expose-headers",
        ]
    );
}

#[test]
fn a_preflight_elsewhere_is_refused_and_can_be_read() {
    let answer = preflight()
        .with("origin", PAGE)
        .at("/other")
        .check_head(&open_to_page())
        .expect_err("nothing is served there");
    assert_eq!(answer.status, 404);
    assert!(answer.headers.ends_with(&exposed()));
}

#[test]
fn an_accepted_head_knows_what_its_answer_needs() {
    let accepted = post().with("origin", PAGE).check_head(&open_to_page());
    assert_eq!(
        accepted.map(|accepted| accepted.cors_headers),
        Ok(exposed())
    );
}

#[test]
fn other_origins_read_nothing() {
    for origin in ["http://localhost:3000", "http://127.0.0.1:4040"] {
        let accepted = post().with("origin", origin).check_head(&open_to_page());
        assert_eq!(
            accepted.map(|accepted| accepted.cors_headers),
            Ok(Vec::new())
        );
    }
    for origin in [
        "https://evil.example",
        "null",
        "https://app.example.com.evil",
    ] {
        let answer = preflight().with("origin", origin);
        let answer = answer.check_head(&open_to_page()).expect_err("a refusal");
        assert_eq!(answer.status, 403);
        let cors = |(name, _): &&(&str, String)| name.starts_with("access-control");
        assert_eq!(answer.headers.iter().find(cors), None);
    }
}

#[test]
fn credentials_are_never_allowed() {
    let answer = preflight().with("origin", PAGE).check_head(&open_to_page());
    let headers = answer.expect_err("it is finished").headers;
    assert!(
        headers
            .iter()
            .all(|(name, _)| *name != "access-control-allow-credentials")
    );
}

#[test]
fn a_preflight_allows_the_headers_of_arguments_that_it_names() {
    let allowed = |requested: &str| {
        let answer = preflight()
            .with("origin", PAGE)
            .with("access-control-request-headers", requested)
            .check_head(&open_to_page())
            .expect_err("it is finished");
        let (_, names) = answer.headers[1].clone();
        let (_, added) = names.split_once(", dpop").expect("the constant names");
        added.to_owned()
    };
    for nothing in [
        "",
        "x-other, dpop",
        "mcp-param-",
        "mcp-param-a b",
        "xmcp-param-a",
    ] {
        assert_eq!(allowed(nothing), "", "{nothing}");
    }
    let named = "content-type,Mcp-Param-Region, mcp-param-zone\t,x";
    assert_eq!(allowed(named), ", mcp-param-region, mcp-param-zone");
    let long = format!("mcp-param-{}", "a".repeat(1_000));
    assert_eq!(allowed(&long), format!(", {long}"));
    assert_eq!(
        allowed(&"mcp-param-a,".repeat(100)),
        ", mcp-param-a".repeat(100)
    );
}

#[test]
fn pages_of_every_origin_may_read_the_metadata_document() {
    let policy = policy(|options| {
        options.allowed_origins = vec![PAGE.to_owned()];
        options.resource_metadata = Some(
            r#"{"resource":"https://mcp.example/mcp","authorization_servers":["https://as.example"]}"#
                .to_owned(),
        );
    });
    let document = "/.well-known/oauth-protected-resource/mcp";
    for origin in [PAGE, "https://other.example", "null"] {
        let get = TestHead {
            method: "GET",
            ..post()
        };
        let served = get.at(document).with("origin", origin).check_head(&policy);
        let answer = served.expect_err("the document");
        assert_eq!(answer.status, 200, "{origin}");
        let named = answer
            .headers
            .iter()
            .filter(|(name, _)| *name == "access-control-allow-origin");
        assert_eq!(
            named.map(|(_, value)| value.as_str()).collect::<Vec<_>>(),
            ["*"]
        );
        let answer = preflight()
            .at(document)
            .with("origin", origin)
            .check_head(&policy);
        let answer = answer.expect_err("a preflight");
        assert_eq!(
            (
                answer.status,
                header(&answer, "access-control-allow-methods")
            ),
            (204, Some("GET"))
        );
        assert_eq!(header(&answer, "access-control-allow-origin"), Some("*"));
    }
    // A name that is resolved to this machine is still another host.
    let foreign = post()
        .at(document)
        .set("host", "evil.example")
        .check_head(&policy);
    assert_eq!(foreign.map_err(|answer| answer.status), Err(403));
}

#[test]
fn only_refusals_of_requests_to_the_endpoint_wait_for_an_identity() {
    let policy = open_to_page();
    let behind = |head: TestHead| head.refused(&policy).map(|refused| refused.behind_identity);
    for head in [
        post().set("host", "evil.example"),
        post().with("origin", "https://other.example"),
        post().at("/other"),
        preflight().with("origin", PAGE),
    ] {
        assert_eq!(behind(head), Some(false));
    }
    let get = || TestHead {
        method: "GET",
        ..post()
    };
    for head in [
        get(),
        TestHead {
            method: "PUT",
            ..post()
        },
        post().set("content-type", "text/plain"),
        post().set("accept", "text/html"),
        post().with("content-length", "9999999"),
        get().with("mcp-protocol-version", "1999-01-01"),
    ] {
        assert_eq!(behind(head), Some(true));
    }
    assert_eq!(behind(post()), None);
}
