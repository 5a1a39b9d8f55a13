//! Bodies: which rows, in which order.

use mcp_core::results::dual::{Form, Order, Selection, SortKey, select};
use proptest::prelude::*;

use super::heads::endpoint;
use crate::generated::config;

fn page(body: &str) -> Result<Selection, (u16, String)> {
    judge(Form::Page, body.as_bytes())
}

fn judge(form: Form, body: &[u8]) -> Result<Selection, (u16, String)> {
    select(&endpoint(), form, body).map_err(|answer| {
        let body = String::from_utf8(answer.body).expect("text");
        (
            answer.status,
            body.split('"').nth(3).unwrap_or_default().to_owned(),
        )
    })
}

fn rows(offset: u64, limit: u64) -> Result<Selection, (u16, String)> {
    Ok(Selection {
        offset,
        limit: Some(limit),
        sort: Vec::new(),
    })
}

fn key(field: &str, order: Order) -> SortKey {
    SortKey {
        field: field.to_owned(),
        order,
    }
}

// req: S1-52
#[test]
fn what_is_left_out_has_a_default() {
    assert_eq!(page(""), rows(0, 100));
    assert_eq!(page("{}"), rows(0, 100));
    assert_eq!(page(r#"{"sort":null,"other":[1]}"#), rows(0, 100));
    assert_eq!(page(r#"{"offset":7}"#), rows(7, 100));
    assert_eq!(page(r#"{"limit":7}"#), rows(0, 7));
}

// req: RES-19
#[test]
fn limits_are_clamped_and_integers_only() {
    assert_eq!(page(r#"{"limit":1}"#), rows(0, 1));
    assert_eq!(page(r#"{"limit":1000}"#), rows(0, 1000));
    assert_eq!(page(r#"{"limit":1001}"#), rows(0, 1000));
    assert_eq!(page(r#"{"limit":9223372036854775807}"#), rows(0, 1000));
    assert_eq!(
        page(r#"{"offset":9223372036854775807}"#),
        rows(9_223_372_036_854_775_807, 100)
    );
    for body in [
        r#"{"limit":0}"#,
        r#"{"limit":-1}"#,
        r#"{"limit":1.0}"#,
        r#"{"limit":1e2}"#,
        r#"{"limit":"10"}"#,
        r#"{"limit":null}"#,
        r#"{"limit":[1]}"#,
        r#"{"limit":true}"#,
        r#"{"limit":9223372036854775808}"#,
        r#"{"offset":-1}"#,
        r#"{"offset":0.5}"#,
        r#"{"offset":"0"}"#,
        r#"{"offset":null}"#,
        r#"{"offset":9223372036854775808}"#,
        r#"{"offset":1000000000000000000000000000000000000000}"#,
    ] {
        assert_eq!(
            page(body),
            Err((400, "invalid_request".to_owned())),
            "{body}"
        );
    }
}

// req: S1-57
#[test]
fn a_body_that_is_no_object_is_an_invalid_request() {
    for body in [
        "{",
        "[]",
        "1",
        "null",
        "\"a\"",
        " ",
        "{}{}",
        "{'offset':1}",
        "offset=1",
        "{\"offset\":1,}",
        r#"{"limit":1,"limit":2}"#,
        r#"{"a":{"b":1,"b":2}}"#,
    ] {
        assert_eq!(
            page(body),
            Err((400, "invalid_request".to_owned())),
            "{body}"
        );
    }
    assert_eq!(
        judge(Form::Page, b"{\"a\":\"\xff\"}"),
        Err((400, "invalid_request".to_owned()))
    );
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    assert_eq!(page(&deep), Err((400, "invalid_request".to_owned())));
}

// req: S1-58
#[test]
fn a_sort_is_null_a_key_or_keys() {
    let sorted = |body: &str| page(body).map(|selection| selection.sort);
    let one = |field, order| Ok(vec![key(field, order)]);
    assert_eq!(sorted(r#"{"sort":{"field":"a"}}"#), one("a", Order::Asc));
    assert_eq!(
        sorted(r#"{"sort":{"field":"a","order":"desc"}}"#),
        one("a", Order::Desc)
    );
    assert_eq!(
        sorted(r#"{"sort":{"field":"a","order":"DESC"}}"#),
        one("a", Order::Desc)
    );
    assert_eq!(
        sorted(r#"{"sort":{"field":"a","order":"Asc"}}"#),
        one("a", Order::Asc)
    );
    assert_eq!(
        sorted(r#"{"sort":[{"field":"a\u0062","order":"desc"},{"field":"b"}]}"#),
        Ok(vec![key("ab", Order::Desc), key("b", Order::Asc)])
    );
    assert_eq!(sorted(r#"{"sort":[]}"#), Ok(vec![]));
    let keys = |count| {
        format!(
            r#"{{"sort":[{}]}}"#,
            vec![r#"{"field":"a"}"#; count].join(",")
        )
    };
    assert_eq!(sorted(&keys(8)).map(|keys| keys.len()), Ok(8));
    let longest = format!(r#"{{"sort":{{"field":"{}"}}}}"#, "a".repeat(256));
    assert!(sorted(&longest).is_ok());
    for body in [
        r#"{"sort":"a"}"#.to_owned(),
        r#"{"sort":1}"#.to_owned(),
        r#"{"sort":{}}"#.to_owned(),
        r#"{"sort":{"field":1}}"#.to_owned(),
        r#"{"sort":{"field":"a","order":"up"}}"#.to_owned(),
        r#"{"sort":{"field":"a","order":null}}"#.to_owned(),
        r#"{"sort":[["a"]]}"#.to_owned(),
        r#"{"sort":["a"]}"#.to_owned(),
        format!(r#"{{"sort":{{"field":"{}"}}}}"#, "a".repeat(257)),
        keys(9),
    ] {
        assert_eq!(
            sorted(&body),
            Err((400, "invalid_sort".to_owned())),
            "{body}"
        );
    }
}

// req: Q4
#[test]
fn a_stream_ends_with_the_rows_unless_it_is_said_otherwise() {
    for form in [Form::Ndjson, Form::Csv] {
        assert_eq!(judge(form, b"").map(|selection| selection.limit), Ok(None));
        let asked = judge(form, br#"{"limit":5000}"#);
        assert_eq!(asked.map(|selection| selection.limit), Ok(Some(5000)));
    }
}

#[test]
fn a_body_has_both_sides_of_its_limit() {
    let padded = |length: usize| format!("{{}}{}", " ".repeat(length - 2));
    assert!(page(&padded(65_536)).is_ok());
    assert_eq!(
        page(&padded(65_537)),
        Err((413, "payload_too_large".to_owned()))
    );
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn no_body_panics(body in prop::collection::vec(any::<u8>(), 0..200)) {
        for form in [Form::Page, Form::Ndjson, Form::Csv] {
            let _ = judge(form, &body);
        }
    }

    #[test]
    fn a_page_always_has_a_limit_within_bounds(offset in 0..u64::MAX / 2, limit in 1..u64::MAX / 2) {
        let body = format!(r#"{{"offset":{offset},"limit":{limit}}}"#);
        let selection = page(&body).expect("valid");
        prop_assert_eq!(selection.offset, offset);
        prop_assert_eq!(selection.limit, Some(limit.min(1000)));
    }
}
