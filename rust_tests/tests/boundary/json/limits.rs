//! Both sides of every limit, and what hostile input costs.

use mcp_core::json::{JsonError, JsonErrorKind as E, Limits, check, has_duplicate};

use super::tree::{Tree, big, read, read_within, reads, refuses};

#[test]
fn the_defaults_are_those_of_reliability_section_2() {
    let limits = Limits::default();
    assert_eq!(limits.max_bytes, 10_485_760);
    assert_eq!(limits.max_depth, 128);
    assert_eq!(limits.max_values, 200_000);
    assert_eq!(limits.max_digits, 1_024);
}

#[test]
fn bytes_to_the_limit_are_read_and_one_more_refused() {
    let limits = Limits {
        max_bytes: 7,
        ..Limits::default()
    };
    assert_eq!(read_within(b"[1,2,3]", &limits).map(|_| ()), Ok(()));
    let refusal = JsonError {
        kind: E::TooLarge,
        offset: 7,
    };
    assert_eq!(read_within(b"[1,2,3] ", &limits), Err(refusal));
    let mut text = vec![b'x'; 10_485_760];
    text[0] = b'"';
    text[10_485_759] = b'"';
    assert!(read(&text).is_ok());
    text.push(b' ');
    refuses(text, E::TooLarge, 10_485_760);
}

fn nested(open: &str, close: &str, levels: usize) -> String {
    format!("{}1{}", open.repeat(levels), close.repeat(levels))
}

// req: M2
#[test]
fn depth_128_is_read_and_129_refused() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        assert!(read(nested(open, close, 128).as_bytes()).is_ok());
        refuses(nested(open, close, 129), E::TooDeep, open.len() * 128);
    }
    assert!(read(nested("[{\"a\":", "}]", 64).as_bytes()).is_ok());
    refuses(nested("[{\"a\":", "}]", 65), E::TooDeep, 6 * 64);
    refuses("[".repeat(128) + "[]", E::TooDeep, 128);
}

#[test]
fn depth_counts_what_is_open_and_not_what_was() {
    let wide = format!("[{}]", vec![nested("[", "]", 127); 50].join(","));
    assert!(read(wide.as_bytes()).is_ok());
    let deep = Limits {
        max_depth: 1_000,
        ..Limits::default()
    };
    assert!(check(nested("[", "]", 1_000).as_bytes(), &deep).is_ok());
    let refusal = JsonError {
        kind: E::TooDeep,
        offset: 1_000,
    };
    assert_eq!(
        check(nested("[", "]", 1_001).as_bytes(), &deep),
        Err(refusal)
    );
    let flat = Limits {
        max_depth: 0,
        ..Limits::default()
    };
    assert!(check(b"1", &flat).is_ok());
    assert_eq!(
        check(b"[]", &flat),
        Err(JsonError {
            kind: E::TooDeep,
            offset: 0
        })
    );
}

// req: M2
#[test]
fn ten_million_brackets_are_refused_at_the_129th() {
    for count in [129, 100_000, 10_000_000] {
        refuses("[".repeat(count), E::TooDeep, 128);
        refuses("[{\"a\":".repeat(count / 6 + 65), E::TooDeep, 6 * 64);
    }
}

#[test]
fn values_to_the_limit_are_read_and_one_more_refused() {
    // The array itself is one of them.
    let array = |items: usize| format!("[{}]", vec!["0"; items].join(","));
    assert!(read(array(199_999).as_bytes()).is_ok());
    refuses(array(200_000), E::TooManyValues, 399_999);
    // Keys are none.
    let limits = Limits {
        max_values: 4,
        ..Limits::default()
    };
    assert!(read_within(br#"{"a":1,"b":[2]}"#, &limits).is_ok());
    let refusal = JsonError {
        kind: E::TooManyValues,
        offset: 12,
    };
    assert_eq!(
        read_within(
            br#"{"a":1,"b":[{},[]]}"#,
            &Limits {
                max_values: 3,
                ..limits
            }
        ),
        Err(refusal)
    );
    assert!(
        check(
            b"1",
            &Limits {
                max_values: 1,
                ..limits
            }
        )
        .is_ok()
    );
    let refusal = JsonError {
        kind: E::TooManyValues,
        offset: 0,
    };
    assert_eq!(
        check(
            b"1",
            &Limits {
                max_values: 0,
                ..limits
            }
        ),
        Err(refusal)
    );
}

#[test]
fn digits_to_the_limit_are_read_and_one_more_refused() {
    let digits = "7".repeat(1_024);
    reads(&digits, &big(&digits));
    reads(&format!("-{digits}"), &big(&format!("-{digits}")));
    refuses(format!("{digits}7"), E::TooManyDigits, 0);
    refuses(format!("[-{digits}7]"), E::TooManyDigits, 1);
    // Integer part, fraction and exponent count together.
    assert!(read(format!("0.{}", "1".repeat(1_023)).as_bytes()).is_ok());
    refuses(format!("0.{}", "1".repeat(1_024)), E::TooManyDigits, 0);
    assert!(read(format!("0.{}e-10", "1".repeat(1_021)).as_bytes()).is_ok());
    refuses(format!("0.{}e-10", "1".repeat(1_022)), E::TooManyDigits, 0);
    refuses(format!("1.{}", "0".repeat(1_000_000)), E::TooManyDigits, 0);
    refuses("9".repeat(1_000_000), E::TooManyDigits, 0);
    let few = Limits {
        max_digits: 3,
        ..Limits::default()
    };
    assert_eq!(read_within(b"-999", &few), Ok(Tree::Integer(-999)));
    let refusal = JsonError {
        kind: E::TooManyDigits,
        offset: 0,
    };
    assert_eq!(read_within(b"1000", &few), Err(refusal));
}

// req: M13
#[test]
fn duplicate_keys_are_refused_at_any_depth_and_by_escape() {
    for (text, offset) in [
        (r#"{"a":1,"a":1}"#, 0),
        (r#"{"a":1,"\u0061":1}"#, 0),
        (r#"{"\u0061":1,"b":2,"a":1}"#, 0),
        (r#"{"":1,"":1}"#, 0),
        (r#"[[{"x":{"k":1,"l":2,"k":3}}]]"#, 7),
    ] {
        refuses(text, E::DuplicateKey, offset);
    }
    for text in [
        r#"{"a":1,"A":2}"#,
        r#"{"a":{"a":{"a":1}}}"#,
        r#"[{"a":1},{"a":1}]"#,
        r#"{"a":1,"a ":1}"#,
        // Alike in length and at both ends, which is all that the quick comparison looks at.
        r#"{"aaaaaaaa1zzzzzzzz":1,"aaaaaaaa2zzzzzzzz":1}"#,
    ] {
        assert!(read(text.as_bytes()).is_ok(), "{text}");
    }
}

/// Few keys are compared pairwise and many are sorted; both must see the first and the last.
// req: M13
#[test]
fn duplicate_keys_are_found_among_any_number() {
    for count in [2, 15, 16, 17, 18, 100, 5_000] {
        for length in [1, 3, 5, 8, 12, 40] {
            let key = |index: usize| format!("\"{index:0length$}\":0");
            let keys: Vec<_> = (0..count).map(key).collect();
            let sound = keys.iter().collect::<std::collections::HashSet<_>>().len() == count;
            assert_eq!(
                read(format!("{{{}}}", keys.join(",")).as_bytes()).is_ok(),
                sound
            );
            for (first, last) in [(0, count - 1), (0, 1), (count - 2, count - 1)] {
                let mut keys = keys.clone();
                keys[last] = keys[first].clone();
                let text = format!("{{{}}}", keys.join(","));
                let offset = text.rfind(&keys[last]).unwrap();
                refuses(&text, E::DuplicateKey, 0);
                if sound {
                    let refusal = JsonError {
                        kind: E::DuplicateKey,
                        offset,
                    };
                    assert_eq!(check(text.as_bytes(), &Limits::default()), Err(refusal));
                }
            }
        }
    }
}

#[test]
fn the_offset_of_a_duplicate_among_many_is_its_second_place() {
    let mut keys: Vec<_> = (0..1_000).map(|index| format!("\"{index}\":0")).collect();
    keys[900] = keys[500].clone();
    keys[700] = keys[600].clone();
    let text = format!("{{{}}}", keys.join(","));
    let offset = text.match_indices(&keys[600]).nth(1).unwrap().0;
    let refusal = JsonError {
        kind: E::DuplicateKey,
        offset,
    };
    assert_eq!(check(text.as_bytes(), &Limits::default()), Err(refusal));
}

/// 99,999 keys that agree in length and at both ends, where a fingerprint might look: a quadratic
/// comparison would take minutes.
#[test]
fn keys_made_to_collide_do_not_blow_up() {
    let middles = 0..99_999;
    let keys: Vec<_> = middles
        .map(|middle| format!("aaaaaaaa{middle:05}zzzzzzzz"))
        .collect();
    assert!(!has_duplicate(&keys));
    let members: Vec<_> = keys.iter().map(|key| format!("\"{key}\":0")).collect();
    let text = format!("{{{}}}", members.join(","));
    assert!(check(text.as_bytes(), &Limits::default()).is_ok());
    // Wherever the second one stands: keys are looked at more than once while their number grows.
    for place in [12, 2_047, 2_048, 4_096, 5_000, 77_777, 99_998] {
        let second = format!("aaaaaaaa{place:05}zzzzzzzz");
        let again = text.replace(&second, "aaaaaaaa00011zzzzzzzz");
        let refusal = JsonError {
            kind: E::DuplicateKey,
            offset: text.find(&second).unwrap() - 1,
        };
        assert_eq!(check(again.as_bytes(), &Limits::default()), Err(refusal));
    }
    assert!(has_duplicate(&["x", "y", "x"]));
}
