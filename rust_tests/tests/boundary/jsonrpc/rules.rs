//! The policies one by one, on both sides of each limit, and the bytes of error responses.

use mcp_core::json::{Document, Limits};
use mcp_core::jsonrpc::{
    EnvelopeLimits, HEADER_MISMATCH, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, Id,
    METHOD_NOT_FOUND, MISSING_CAPABILITY, PARSE_ERROR, RESOURCE_NOT_FOUND, UNSUPPORTED_VERSION,
    URL_ELICITATION_REQUIRED, classify, code_in, code_named, handler_status, standard_message,
    write_error,
};
use mcp_core::revision::Revision;

use super::{Sorted, refused, sort, sort_one};

fn with_id(id: &str) -> Sorted {
    sort_one(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#))
}

/// The request's id as it would be echoed.
#[track_caller]
fn echoed(id: &str) -> String {
    match with_id(id) {
        Sorted::Request { id, .. } => {
            let mut out = Vec::new();
            id.write(&mut out);
            assert_eq!(id.to_string().as_bytes(), out);
            String::from_utf8(out).unwrap()
        }
        other => panic!("{id}: {other:?}"),
    }
}

// req: M5
#[test]
fn ids_are_echoed_exactly_and_keep_their_type() {
    let ids = [
        "0",
        "-5",
        "\"\"",
        "\"1\"",
        "9007199254740993",
        "-9223372036854775808",
    ];
    for id in ids
        .into_iter()
        .chain(["18446744073709551615", "\"é \\\" \\n\""])
    {
        assert_eq!(echoed(id), id);
    }
    assert_eq!(echoed("\"\\u0061\""), "\"a\"");
    assert_eq!(echoed("-0"), "0");
}

// req: M6
#[test]
fn ids_beyond_64_bits_or_256_bytes_are_refused() {
    let quoted = |length: usize| format!("\"{}\"", "x".repeat(length));
    assert_eq!(echoed(&quoted(256)), quoted(256));
    for id in [
        &*quoted(257),
        &quoted(1_000),
        "18446744073709551616",
        "-9223372036854775809",
    ] {
        assert_eq!(with_id(id), refused(INVALID_REQUEST, None), "{id}");
    }
    // The limit is on the text, not on how it was escaped.
    assert_eq!(
        echoed(&format!("\"{}\"", "\\u0061".repeat(256))),
        format!("\"{}\"", "a".repeat(256))
    );
}

// req: M4
#[test]
fn other_ids_are_refused_and_not_echoed() {
    for id in ["null", "true", "1.5", "1.0", "1e3", "{}", "[]", "[1]"] {
        assert_eq!(with_id(id), refused(INVALID_REQUEST, None), "{id}");
    }
}

#[test]
fn methods_have_at_most_256_bytes() {
    let request = |length: usize| {
        sort_one(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
            "m".repeat(length)
        ))
    };
    assert!(matches!(request(256), Sorted::Request { method, .. } if method.len() == 256));
    assert_eq!(request(257), refused(INVALID_REQUEST, Some(Id::Number(1))));
}

// req: M14
#[test]
fn params_are_an_object_or_absent() {
    let request = |params: &str| {
        sort_one(format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#
        ))
    };
    let id = Some(Id::Number(1));
    assert!(
        matches!(request("{}"), Sorted::Request { params: Some(params), .. } if params == "{}")
    );
    assert_eq!(request("[]"), refused(INVALID_PARAMS, id.clone()));
    for absent in ["null", " null "] {
        assert!(matches!(
            request(absent),
            Sorted::Request { params: None, .. }
        ));
    }
    for params in ["1", "1.5", "\"x\"", "true"] {
        assert_eq!(
            request(params),
            refused(INVALID_REQUEST, id.clone()),
            "{params}"
        );
    }
}

// req: S4-56
#[test]
fn a_notification_is_never_answered_not_even_a_bad_one() {
    let notification = |rest: &str| sort_one(format!(r#"{{"jsonrpc":"2.0",{rest}}}"#));
    let silent = |code| Sorted::Refused {
        code,
        id: None,
        answerable: false,
    };
    assert_eq!(
        notification(r#""method":"m","params":[]"#),
        silent(INVALID_PARAMS)
    );
    assert_eq!(
        notification(r#""method":"m","params":1"#),
        silent(INVALID_REQUEST)
    );
    let long = format!(r#""method":"{}""#, "m".repeat(257));
    assert_eq!(notification(&long), silent(INVALID_REQUEST));
    // Without a method that is a string it is no notification.
    assert_eq!(
        notification(r#""method":1"#),
        refused(INVALID_REQUEST, None)
    );
    assert_eq!(
        sort_one(r#"{"method":"m"}"#),
        refused(INVALID_REQUEST, None)
    );
}

// req: M13
#[test]
fn duplicates_anywhere_are_refused_and_the_id_echoed_if_unambiguous() {
    let id = || Some(Id::Number(1));
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}"#,
        r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[{"y":1,"\u0079":2}]}}"#,
    ] {
        assert_eq!(sort_one(text), refused(INVALID_REQUEST, id()), "{text}");
    }
    for text in [
        r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","id":1,"\u0069d":2,"method":"a"}"#,
        r#"{"jsonrpc":"2.0","method":"a","method":"b"}"#,
    ] {
        assert_eq!(sort_one(text), refused(INVALID_REQUEST, None), "{text}");
    }
}

// req: M13
#[test]
fn repeated_envelope_members_are_seen_even_if_the_caller_does_not_say_so() {
    let text = br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}"#;
    let document = Document::scan(text, &Limits::default()).unwrap();
    let invalid = classify(document.root(), false, &EnvelopeLimits::default()).unwrap_err();
    assert_eq!((invalid.code, invalid.id), (INVALID_REQUEST, None));
}

// req: M9
#[test]
fn in_a_batch_each_message_is_refused_for_its_own_faults_only() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a"},{"jsonrpc":"2.0","id":2,"method":"a","x":1,"x":1}]"#;
    let messages = sort(batch.as_bytes());
    assert!(matches!(
        &messages[0],
        Sorted::Request {
            id: Id::Number(1),
            ..
        }
    ));
    assert_eq!(messages[1], refused(INVALID_REQUEST, Some(Id::Number(2))));
}

// req: M24
#[test]
fn responses_carry_an_id_and_one_object() {
    let id = || Id::Number(7);
    let response = |rest: &str| sort_one(format!(r#"{{"jsonrpc":"2.0",{rest}}}"#));
    let result = Sorted::Result {
        id: id(),
        result: r#"{"a":1}"#.to_owned(),
    };
    assert_eq!(response(r#""id":7,"result":{"a":1}"#), result);
    let error = Sorted::Error {
        id: id(),
        error: r#"{"code":1,"message":""}"#.to_owned(),
    };
    assert_eq!(response(r#""id":7,"error":{"code":1,"message":""}"#), error);
    for rest in [
        r#""id":7,"result":{},"error":{}"#,
        r#""id":7,"result":1"#,
        r#""id":7,"result":null"#,
        r#""id":7,"error":"x""#,
        r#""id":7,"error":{}"#,
        r#""id":7,"error":{"code":1}"#,
        r#""id":7,"error":{"message":"x"}"#,
        r#""id":7,"error":{"code":"1","message":"x"}"#,
        r#""id":7,"error":{"code":1.5,"message":"x"}"#,
        r#""id":7,"error":{"code":null,"message":"x"}"#,
        r#""id":7,"error":{"code":1,"message":null}"#,
        r#""id":7"#,
    ] {
        assert_eq!(
            response(rest),
            refused(INVALID_REQUEST, Some(id())),
            "{rest}"
        );
    }
    assert_eq!(
        response(r#""id":null,"result":{}"#),
        refused(INVALID_REQUEST, None)
    );
    assert_eq!(response(r#""result":{}"#), refused(INVALID_REQUEST, None));
}

// req: M3
#[test]
fn a_method_stands_alone() {
    for outcome in [r#""result":{}"#, r#""error":{"code":1,"message":""}"#] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":7,"method":"m",{outcome}}}"#);
        assert_eq!(
            sort_one(&text),
            refused(INVALID_REQUEST, Some(Id::Number(7))),
            "{text}"
        );
    }
}

#[test]
fn an_error_without_an_id_is_not_answered_with_an_error() {
    let silent = Sorted::Refused {
        code: INVALID_REQUEST,
        id: None,
        answerable: false,
    };
    let error = r#""error":{"code":-32700,"message":"Parse error"}"#;
    assert_eq!(
        sort_one(format!(r#"{{"jsonrpc":"2.0","id":null,{error}}}"#)),
        silent
    );
    assert_eq!(sort_one(format!(r#"{{"jsonrpc":"2.0",{error}}}"#)), silent);
    let wrong = sort_one(format!(r#"{{"jsonrpc":"2.0","id":true,{error}}}"#));
    assert_eq!(wrong, refused(INVALID_REQUEST, None));
}

#[test]
fn an_invalid_message_says_what_is_wrong_and_nothing_of_the_message() {
    let message = |text: &str| {
        let document = Document::scan(text.as_bytes(), &Limits::default()).unwrap();
        classify(
            document.root(),
            document.duplicate().is_some(),
            &EnvelopeLimits::default(),
        )
        .unwrap_err()
        .message
    };
    assert_eq!(
        message("[]"),
        "Invalid request: a message must be an object"
    );
    assert_eq!(
        message(r#"{"jsonrpc":"2.0","id":null,"method":"secret"}"#),
        "Invalid request: id must be an integer of at most 64 bits or a string of at most 256 bytes"
    );
    assert_eq!(
        message(r#"{"id":1}"#),
        "Invalid request: jsonrpc must be \"2.0\""
    );
    assert_eq!(
        message(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":["secret"]}"#),
        "Invalid params: params must be an object"
    );
}

// req: S4-55
#[test]
fn codes_have_the_standard_texts() {
    for (code, name, number, text) in [
        (PARSE_ERROR, "parse_error", -32700, "Parse error"),
        (
            INVALID_REQUEST,
            "invalid_request",
            -32600,
            "Invalid request",
        ),
        (
            METHOD_NOT_FOUND,
            "method_not_found",
            -32601,
            "Method not found",
        ),
        (INVALID_PARAMS, "invalid_params", -32602, "Invalid params"),
        (INTERNAL_ERROR, "internal_error", -32603, "Internal error"),
        (
            RESOURCE_NOT_FOUND,
            "resource_not_found",
            -32002,
            "Resource not found",
        ),
        (
            HEADER_MISMATCH,
            "header_mismatch",
            -32020,
            "Header mismatch",
        ),
        (
            MISSING_CAPABILITY,
            "missing_capability",
            -32021,
            "Missing required client capability",
        ),
        (
            UNSUPPORTED_VERSION,
            "unsupported_version",
            -32022,
            "Unsupported protocol version",
        ),
        (
            URL_ELICITATION_REQUIRED,
            "url_elicitation_required",
            -32042,
            "URL elicitation required",
        ),
    ] {
        assert_eq!(code_named(name), Some(code));
        assert_eq!((code, standard_message(code)), (number, Some(text)));
    }
}

#[test]
fn a_missing_resource_has_the_code_of_its_revision() {
    assert_eq!(code_in(Revision::V2025_11_25, RESOURCE_NOT_FOUND), -32002);
    assert_eq!(code_in(Revision::V2026_07_28, RESOURCE_NOT_FOUND), -32602);
    assert_eq!(code_in(Revision::V2026_07_28, METHOD_NOT_FOUND), -32601);
}

#[test]
fn a_handlers_code_is_one_of_its_revision() {
    let sent = |revision, code| (code_in(revision, code), handler_status(revision, code));
    let (newest, session) = (Revision::V2026_07_28, Revision::V2025_11_25);
    for (code, expected) in [
        (-32_000, (-32_000, 200)),
        (-32_019, (-32_019, 200)),
        (-32_020, (-32_020, 400)),
        (-32_021, (-32_021, 400)),
        (-32_022, (-32_022, 400)),
        (-32_023, (-32_603, 200)),
        (-32_042, (-32_603, 200)),
        (-32_099, (-32_603, 200)),
        (-32_100, (-32_100, 200)),
        (7, (7, 200)),
    ] {
        assert_eq!(sent(newest, code), expected);
        assert_eq!(sent(session, code), (code, 200));
    }
    assert_eq!(sent(Revision::V2025_06_18, -32_042), (-32_603, 200));
}

#[track_caller]
fn writes(id: Option<&Id>, revision: Revision, data: Option<&[u8]>, expected: &str) {
    let mut out = Vec::new();
    write_error(&mut out, id, revision, -32600, "a \"b\"\n", data);
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

// req: RES-09
#[test]
fn an_error_without_an_id_is_worded_by_the_revision() {
    let error = r#""error":{"code":-32600,"message":"a \"b\"\n"}}"#;
    for revision in Revision::ALL {
        let id = if revision < Revision::V2025_11_25 {
            r#""id":null,"#
        } else {
            ""
        };
        writes(
            None,
            revision,
            None,
            &format!(r#"{{"jsonrpc":"2.0",{id}{error}"#),
        );
    }
}

// req: S4-54
#[test]
fn an_error_carries_its_id_and_its_data() {
    let number = Id::Number(u64::MAX.into());
    let expected = r#"{"jsonrpc":"2.0","id":18446744073709551615,"error":{"code":-32600,"message":"a \"b\"\n","data":{"x":1}}}"#;
    writes(
        Some(&number),
        Revision::NEWEST,
        Some(br#"{"x":1}"#),
        expected,
    );
    let text = Id::Text("\u{1}".to_owned());
    let expected =
        r#"{"jsonrpc":"2.0","id":"\u0001","error":{"code":-32600,"message":"a \"b\"\n"}}"#;
    writes(Some(&text), Revision::V2024_11_05, None, expected);
}
