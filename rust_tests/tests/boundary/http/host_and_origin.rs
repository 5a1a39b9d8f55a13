//! Host and Origin, on every route and method, before anything else.

use mcp_core::http::PolicyError;
use mcp_core::http::{Policy, PolicyOptions};

use super::head::{in_session, policy, post, status, status_under};

const LOOPBACK: [&str; 14] = [
    "localhost",
    "localhost:4040",
    "LocalHost:1",
    "localhost.",
    "localhost.:65535",
    "127.0.0.1",
    "127.0.0.1:4040",
    "127.255.255.254:80",
    "127.1.2.3",
    "[::1]",
    "[::1]:4040",
    "[0:0:0:0:0:0:0:1]:80",
    "[0000::0001]",
    "[::0001]:1",
];

const FOREIGN: [&str; 21] = [
    "evil.example",
    "localhost.evil.com",
    "127.0.0.1.evil.com",
    "localhost:",
    "localhost:65536",
    "localhost..",
    ".localhost",
    "sub.localhost",
    "localhost,evil.com",
    "127.0.0.1.",
    "127.0.0.01",
    "127.1",
    "2130706433",
    "0x7f000001",
    "128.0.0.1",
    "0.0.0.0",
    "[::]",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "",
    "%41.example",
];

/// No host by the grammar of RFC 9110.
const MALFORMED: [&str; 14] = [
    "evil.com:localhost",
    "localhost:4040:80",
    "localhost:+1",
    "localhost evil.com",
    "localhost/",
    "localhost@evil.com",
    "user@localhost",
    "[::1",
    "::1",
    "[::1]evil.com",
    "[::1]4040",
    "[::1%25lo]",
    "%4.example",
    "127.0.0.1:abc",
];

// req: SEC-01
#[test]
fn loopback_hosts_are_let_in_and_no_others() {
    for host in LOOPBACK {
        assert_eq!(status(&post().set("host", host)), 0, "{host}");
    }
    for host in FOREIGN {
        assert_eq!(status(&post().set("host", host)), 403, "{host}");
    }
    for host in MALFORMED {
        assert_eq!(status(&post().set("host", host)), 400, "{host}");
    }
    assert_eq!(status(&post().set("host", b"localhost\xff")), 400);
    assert_eq!(status(&post().set("host", "x".repeat(100_000))), 403);
}

// req: H1
#[test]
fn there_is_exactly_one_host() {
    assert_eq!(status(&post().without("host")), 400);
    assert_eq!(status(&post().with("host", "127.0.0.1:4040")), 400);
    assert_eq!(status(&post().with("HOST", "evil.example")), 400);
}

// req: SEC-01
#[test]
fn an_authority_is_judged_like_the_host_header_and_beside_it() {
    let with = |authority: &str| {
        let mut head = post();
        head.authority = Some(authority.to_owned());
        head
    };
    assert_eq!(status(&with("localhost:4040")), 0);
    assert_eq!(status(&with("localhost:4040").without("host")), 0);
    assert_eq!(status(&with("evil.example")), 403);
    assert_eq!(status(&with("evil.example").without("host")), 403);
    assert_eq!(status(&with("localhost").set("host", "evil.example")), 403);

    assert_eq!(status(&post().at("http://localhost/mcp")), 0);
    assert_eq!(
        status(&post().at("http://localhost/mcp").without("host")),
        0
    );
    assert_eq!(status(&post().at("http://evil.example/mcp")), 403);
    assert_eq!(status(&post().at("http://localhost@evil.example/mcp")), 400);
    assert_eq!(
        status(&post().at("/mcp?to=http://evil.example/x")),
        0,
        "a query is no authority"
    );
}

// req: SEC-01
#[test]
fn foreign_hosts_and_origins_are_refused_on_every_route_and_method() {
    let policy = policy(|options| {
        options.resource_metadata = Some(
            r#"{"resource":"https://a.example/mcp","authorization_servers":["https://as.example"]}"#
                .to_owned(),
        );
    });
    for method in [
        "POST", "GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "X",
    ] {
        for target in [
            "/mcp",
            "/",
            "/other",
            "*",
            "/.well-known/oauth-protected-resource",
        ] {
            for (name, value) in [("host", "evil.example"), ("origin", "http://evil.example")] {
                // The metadata document is open to the pages of every origin.
                if name == "origin" && target.starts_with("/.well-known") {
                    continue;
                }
                let mut head = in_session("GET").at(target).set(name, value);
                head.method = method;
                assert_eq!(
                    status_under(&policy, &head),
                    403,
                    "{method} {target} {name}"
                );
            }
        }
    }
}

// req: H1
#[test]
fn origins() {
    for origin in [
        "http://localhost",
        "http://localhost:3000",
        "https://LOCALHOST:8443",
        "HTTP://127.0.0.1:6274",
        "http://[::1]:3000",
        "https://127.9.9.9",
    ] {
        assert_eq!(status(&post().set("origin", origin)), 0, "{origin}");
    }
    for origin in [
        "null",
        "",
        "http://",
        "localhost",
        "localhost:3000",
        "//localhost",
        "http:localhost",
        "http://localhost/",
        "http://localhost/path",
        "http://localhost?x",
        "http://localhost#x",
        "http://user@localhost",
        "http://localhost http://evil.example",
        "http://localhost, http://localhost",
        "http://localhost.evil.com",
        "http://127.0.0.1.evil.com:4040",
        "https://evil.example",
        "file://localhost",
        "ws://localhost",
        "chrome-extension://abcdef",
        "://localhost",
        "1http://localhost",
        "http://localhost:99999",
    ] {
        assert_eq!(status(&post().set("origin", origin)), 403, "{origin}");
    }
    let twice = post()
        .with("origin", "http://localhost")
        .with("origin", "http://localhost");
    assert_eq!(status(&twice), 403);
}

#[test]
fn hosts_of_the_policy_are_let_in_beside_loopback() {
    let policy = policy(|options| {
        options.allowed_hosts = vec![
            "Api.Example.com".to_owned(),
            "b.example:8443".to_owned(),
            "[2001:db8::1]".to_owned(),
        ];
    });
    for (host, expected) in [
        ("api.example.com", 0),
        ("API.example.com:444", 0),
        ("b.example:8443", 0),
        ("[2001:db8::1]:443", 0),
        ("localhost:1", 0),
        ("b.example", 403),
        ("b.example:8444", 403),
        ("api.example.com.", 403),
        ("x.api.example.com", 403),
        ("api.example.com.evil.com", 403),
        ("evil.example", 403),
    ] {
        assert_eq!(
            status_under(&policy, &post().set("host", host)),
            expected,
            "{host}"
        );
    }
}

#[test]
fn origins_of_the_policy_and_of_the_addressed_host_are_let_in() {
    let policy = policy(|options| {
        options.allowed_hosts = vec!["api.example.com".to_owned()];
        options.allowed_origins = vec![
            "https://App.example.com".to_owned(),
            "https://port.example:8443".to_owned(),
            "vscode-webview://abc".to_owned(),
        ];
    });
    for (host, origin, expected) in [
        ("api.example.com", "https://app.example.com", 0),
        ("api.example.com", "https://app.example.com:443", 0),
        ("api.example.com", "http://app.example.com", 403),
        ("api.example.com", "https://app.example.com:8443", 403),
        ("api.example.com", "https://x.app.example.com", 403),
        ("api.example.com", "https://port.example:8443", 0),
        ("api.example.com", "https://port.example", 403),
        ("api.example.com", "vscode-webview://abc", 0),
        ("api.example.com", "vscode-webview://abd", 403),
        // The page came from where it sends to.
        ("api.example.com", "https://api.example.com", 0),
        ("api.example.com:443", "https://api.example.com", 0),
        ("api.example.com:8080", "http://api.example.com:8080", 0),
        // Another port of the same host is somebody else.
        ("api.example.com:8080", "http://api.example.com", 403),
        ("api.example.com", "http://api.example.com:8080", 403),
        ("api.example.com", "ftp://api.example.com", 403),
        // An allowed host is no allowed origin.
        ("localhost", "https://api.example.com", 403),
        ("api.example.com", "http://localhost:5173", 0),
        ("api.example.com", "null", 403),
    ] {
        let head = post().set("host", host).set("origin", origin);
        assert_eq!(status_under(&policy, &head), expected, "{origin} to {host}");
    }
}

#[test]
fn a_policy_that_could_never_be_met_is_refused() {
    let refused = |change: fn(&mut PolicyOptions)| {
        let mut options = PolicyOptions::default();
        change(&mut options);
        Policy::new(options).err()
    };
    let host = |text: &str| Some(PolicyError::Host(text.to_owned()));
    let origin = |text: &str| Some(PolicyError::Origin(text.to_owned()));
    assert_eq!(refused(|_| {}), None);
    assert_eq!(refused(|o| o.allowed_hosts = vec!["*".into()]), host("*"));
    assert_eq!(refused(|o| o.allowed_hosts = vec![String::new()]), host(""));
    assert_eq!(
        refused(|o| o.allowed_hosts = vec!["https://a.example".into()]),
        host("https://a.example")
    );
    assert_eq!(
        refused(|o| o.allowed_origins = vec!["a.example".into()]),
        origin("a.example")
    );
    assert_eq!(
        refused(|o| o.allowed_origins = vec!["https://a.example/".into()]),
        origin("https://a.example/")
    );
    for path in ["mcp", "", "/mcp?x", "/m cp", "/m#cp", "/m\r\ncp", "/é"] {
        let options = PolicyOptions {
            path: Some(path.to_owned()),
            ..PolicyOptions::default()
        };
        assert_eq!(
            Policy::new(options).err(),
            Some(PolicyError::Path(path.to_owned()))
        );
    }
    assert_eq!(refused(|o| o.max_body_bytes = 0), Some(PolicyError::Body));
    for document in [
        "",
        "[]",
        "{}",
        r#"{"resource":1}"#,
        r#"{"resource":"a.example","authorization_servers":["https://as.example"]}"#,
        r#"{"resource":"https://a.example"}"#,
        r#"{"resource":"https://a.example","authorization_servers":[]}"#,
        r#"{"resource":"https://a.example","authorization_servers":"https://as.example"}"#,
        r#"{"resource":"https://a.example","authorization_servers":["https://as.example",1]}"#,
        r#"{"resource":"https://a.example","authorization_servers":["as.example"]}"#,
        "{",
    ] {
        let options = PolicyOptions {
            resource_metadata: Some(document.to_owned()),
            ..PolicyOptions::default()
        };
        assert_eq!(
            Policy::new(options).err(),
            Some(PolicyError::Metadata),
            "{document}"
        );
    }
}
