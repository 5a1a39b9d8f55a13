//! What a body may claim to be, what its client accepts, and how long it may say it is.

use super::head::{in_session, policy, post, status, status_under};

// req: SEC-02, H2, H6
#[test]
fn only_json_in_utf_8_is_read() {
    for (content_type, expected) in [
        ("application/json", 0),
        (" \tapplication/json\t ", 0),
        ("\napplication/json", 415),
        ("\u{c}application/json", 415),
        ("APPLICATION/JSON", 0),
        ("application/json; charset=utf-8", 0),
        ("application/json;charset=UTF-8", 0),
        ("application/json; charset=utf8", 0),
        ("application/json; charset=\"UTF8\"", 0),
        ("application/json; charset=utf-88", 415),
        ("application/json ; charset=\"utf-8\"", 0),
        ("application/json;", 0),
        ("application/json; charset=utf-16", 415),
        ("application/json; charset=\"utf-16\"", 415),
        ("application/json; charset=iso-8859-1", 415),
        ("application/json; charset", 415),
        ("application/json; charset=", 415),
        ("application/json; profile=x", 0),
        ("application/json; profile=\"a;b\"; charset=utf-8", 0),
        ("application/json; profile=\"a \\\" b\"", 0),
        ("application/json; profile=\"\"", 0),
        ("application/json; profile=\"a\"b\"", 415),
        ("application/json; profile=\"a\\\"", 415),
        ("application/json; profile=\"", 415),
        ("application/json; x=\"\\\"; charset=\"utf-16\"", 415),
        ("application/json; profile", 415),
        ("application/json; profile=x, text/plain", 415),
        ("application/json; profile=x; charset=utf-16", 415),
        ("application/json; charset=utf-8; charset=utf-16", 415),
        ("application/json, text/plain", 415),
        ("application/jsonx", 415),
        ("application/json-rpc", 415),
        ("text/plain", 415),
        ("text/plain; application/json", 415),
        ("application/x-www-form-urlencoded", 415),
        ("multipart/form-data", 415),
        ("", 415),
    ] {
        let head = post().set("content-type", content_type);
        assert_eq!(status(&head), expected, "{content_type}");
    }
    assert_eq!(status(&post().without("content-type")), 415);
    assert_eq!(
        status(&post().with("content-type", "application/json")),
        415
    );
    assert_eq!(
        status(&post().set("content-type", b"application/json\xa0")),
        415
    );

    for (encoding, expected) in [
        ("identity", 0),
        ("Identity", 0),
        ("gzip", 415),
        ("br", 415),
        ("", 415),
    ] {
        assert_eq!(
            status(&post().with("content-encoding", encoding)),
            expected,
            "{encoding}"
        );
    }
    let both = post()
        .with("content-encoding", "identity")
        .with("content-encoding", "gzip");
    assert_eq!(status(&both), 415);
}

// req: H3
#[test]
fn what_the_client_accepts() {
    for (accept, json, events) in [
        ("application/json, text/event-stream", true, true),
        ("text/event-stream,application/json", true, true),
        ("application/json", true, false),
        ("*/*", true, true),
        ("application/*", true, false),
        ("APPLICATION/JSON;q=0.1, TEXT/*", true, true),
        ("", true, true),
        ("*/*;q=0.1, text/event-stream;q=0", true, false),
        (
            "text/*, text/event-stream;q=0.000, application/json",
            true,
            false,
        ),
        ("application/json; charset=utf-8; q=1.000", true, false),
        ("application/json;foo=\"a,b;q=0\"", true, false),
        ("application/json;foo=\"a\\\",b\", */*;q=0", true, false),
    ] {
        let accepted = post().set("accept", accept).accepted();
        let found = (accepted.accepts_json, accepted.accepts_events);
        assert_eq!(found, (json, events), "{accept}");
    }
    let accepted = post().without("accept").accepted();
    assert!(accepted.accepts_json && accepted.accepts_events);
    let split = post()
        .set("accept", "application/json")
        .with("accept", "text/event-stream");
    assert!(split.accepted().accepts_events);

    for accept in [
        "text/event-stream",
        "text/html",
        "text/html, application/xml;q=0.9",
        "application/json;q=0",
        "application/json;q=0.0",
        "*/*, application/json;q=0",
        "application/*;q=0, */*",
        "garbage",
        "application/json;q=2",
        "application/json;q=0.0001",
        "application/json;q=",
        "application/jsonp",
    ] {
        assert_eq!(status(&post().set("accept", accept)), 406, "{accept}");
    }
    assert_eq!(
        status(&in_session("GET").set("accept", "text/event-stream")),
        0
    );
    assert_eq!(
        status(&in_session("GET").set("accept", "application/json")),
        406
    );
    assert_eq!(status(&in_session("DELETE").set("accept", "text/html")), 0);
}

// req: SEC-12, H5, H8
#[test]
fn declared_lengths() {
    const MAX: u64 = 4 * 1024 * 1024;
    let with = |value: &str| post().with("content-length", value);
    for (value, expected) in [
        ("0", Some(0)),
        ("4194304", Some(MAX)),
        ("0004194304", Some(MAX)),
        ("7, 7", Some(7)),
    ] {
        assert_eq!(with(value).accepted().content_length, expected, "{value}");
    }
    assert_eq!(
        with("7")
            .with("content-length", "7")
            .accepted()
            .content_length,
        Some(7)
    );
    assert_eq!(status(&with("4194305")), 413);
    assert_eq!(status(&with("18446744073709551615")), 413);
    for value in [
        "-1",
        "+1",
        "1.0",
        "0x10",
        "",
        "1 2",
        "1,2",
        "1,",
        "18446744073709551616",
        "a",
    ] {
        assert_eq!(status(&with(value)), 400, "{value}");
    }
    assert_eq!(status(&with("7").with("content-length", "8")), 400);
    assert_eq!(status(&with("7").with("transfer-encoding", "chunked")), 400);
    assert_eq!(status(&post().with("transfer-encoding", "chunked")), 0);

    let tiny = policy(|options| options.max_body_bytes = 10);
    assert_eq!(status_under(&tiny, &with("10")), 0);
    assert_eq!(status_under(&tiny, &with("11")), 413);
}
