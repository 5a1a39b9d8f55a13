//! Properties: nothing panics, what is written is read back, and `serde_json` agrees.

use mcp_core::json::{self, JsonErrorKind as E, Limits};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use super::tree::{Builder, Tree, read};
use crate::generated::config;

/// Whether `serde_json` and the reader see the same value, or both see none.
///
/// The differences that are meant: integers beyond 64 bits are exact here and floats or errors
/// there; `-0` is an integer here and a float there; the depth ends at 128 here and 127 there; and
/// duplicate keys, which this comparison leaves to other tests.
#[track_caller]
pub(super) fn same_verdict(bytes: &[u8], context: &str) {
    // Both doors agree, whatever the verdict.
    let _strict = read(bytes);
    let mut sink = Builder {
        keep_duplicates: true,
        ..Builder::default()
    };
    let ours = json::read(bytes, &Limits::default(), &mut sink);
    let theirs = serde_json::from_slice::<Value>(bytes);
    let shown = String::from_utf8_lossy(bytes);
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) => {
            assert!(
                same(&ours, &theirs),
                "{context}: {shown}: {ours:?} and {theirs:?}"
            );
        }
        (Err(_), Err(_)) => {}
        (Ok(_), Err(error)) => {
            let text = error.to_string();
            let meant = text.contains("number out of range") || text.contains("recursion limit");
            assert!(meant, "{context}: accepted only here: {shown}: {text}");
        }
        (Err(error), Ok(_)) => {
            assert_eq!(
                error.kind,
                E::TooManyDigits,
                "{context}: accepted only there: {shown}"
            );
        }
    }
}

/// The same value, within what `serde_json` can hold.
pub(super) fn same(ours: &Tree, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Tree::Null, Value::Null) => true,
        (Tree::Boolean(a), Value::Bool(b)) => a == b,
        (Tree::Integer(0), Value::Number(b)) => b.as_f64() == Some(0.0),
        (Tree::Integer(a), Value::Number(b)) => b.as_i64() == Some(*a),
        (Tree::Unsigned(a), Value::Number(b)) => b.as_u64() == Some(*a),
        (Tree::Big(a), Value::Number(b)) => b.is_f64() && close(a.parse().unwrap(), b.as_f64()),
        (Tree::Float(a), Value::Number(b)) => b.is_f64() && close(f64::from_bits(*a), b.as_f64()),
        (Tree::Text(a), Value::String(b)) => a == b,
        (Tree::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b))
        }
        (Tree::Object(a), Value::Object(b)) => {
            // Of duplicate keys serde_json keeps the last.
            let last = |key: &str| {
                a.iter()
                    .rev()
                    .find(|(other, _)| other == key)
                    .map(|(_, v)| v)
            };
            a.iter().all(|(key, _)| b.contains_key(key))
                && b.iter()
                    .all(|(key, b)| last(key).is_some_and(|a| same(a, b)))
        }
        _ => false,
    }
}

/// `serde_json` reads some floats a few units in the last place off, unless told to take its time.
fn close(ours: f64, theirs: Option<f64>) -> bool {
    let Some(theirs) = theirs else { return false };
    ours.to_bits().abs_diff(theirs.to_bits()) <= 8
}

fn scalar() -> impl Strategy<Value = Tree> {
    prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Boolean),
        any::<i64>().prop_map(Tree::Integer),
        (i64::MIN..0).prop_map(Tree::Integer),
        (i64::MAX as u64 + 1..).prop_map(Tree::Unsigned),
        "-?[1-9][0-9]{20,60}".prop_map(Tree::Big),
        any::<f64>()
            .prop_filter("finite", |f| f.is_finite())
            .prop_map(|f| Tree::Float(f.to_bits())),
        any::<String>().prop_map(Tree::Text),
        "[ -~]{0,200}".prop_map(Tree::Text),
        "[\\x00-\\x7f]{0,20}".prop_map(Tree::Text),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    scalar().prop_recursive(6, 120, 10, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..10).prop_map(Tree::Array),
            vec((any::<String>(), inner), 0..20).prop_map(|mut members| {
                members.sort_by(|a, b| a.0.cmp(&b.0));
                members.dedup_by(|a, b| a.0 == b.0);
                Tree::Object(members)
            }),
        ]
    })
}

/// Text that is often JSON and more often nearly so.
fn soup() -> impl Strategy<Value = String> {
    let token = prop_oneof![
        10 => prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"", "\"a\"", "\"a\":", "\"b\":", " ", "\n", "true",
            "false", "null", "-", "0", "1", "12", ".", ".5", "e", "E+", "e-1", "1e400", "\\",
            "\\n", "\\u00", "\\u0061", "\\ud83d\\ude00", "\\ud800", "\u{1}", "é", "\u{feff}",
            "99999999999999999999", "18446744073709551615", "[[", "]]", "{}", "[]", "\"\\\"\"",
        ]),
        1 => any::<char>().prop_map(|_| "x"),
    ];
    vec(token, 0..24).prop_map(|tokens| tokens.concat())
}

proptest! {
    #![proptest_config(config(2_000))]

    // req: F1
    #[test]
    fn no_bytes_panic(bytes in vec(any::<u8>(), 0..200)) {
        same_verdict(&bytes, "bytes");
    }

    // req: F3
    #[test]
    fn near_json_is_judged_as_serde_json_does(text in soup()) {
        same_verdict(text.as_bytes(), "soup");
    }

    // req: F4
    #[test]
    fn what_is_written_is_read_back(tree in tree()) {
        let text = tree.to_json();
        prop_assert!(!text.iter().any(|byte| *byte < 0x20), "one line");
        prop_assert_eq!(read(&text), Ok(tree));
    }

    // req: F3
    #[test]
    fn what_is_written_is_read_alike_by_serde_json(tree in tree()) {
        let text = tree.to_json();
        let theirs: Value = serde_json::from_slice(&text).unwrap();
        prop_assert!(same(&tree, &theirs), "{}", String::from_utf8_lossy(&text));
    }

    // req: F4
    #[test]
    fn what_serde_json_writes_pretty_is_read_back(tree in tree()) {
        let theirs: Value = serde_json::from_slice(&tree.to_json()).unwrap();
        let pretty = serde_json::to_string_pretty(&theirs).unwrap();
        same_verdict(pretty.as_bytes(), "pretty");
    }

    // req: F5
    #[test]
    fn a_changed_byte_is_judged_as_serde_json_does(
        tree in tree(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
    ) {
        let mut text = tree.to_json();
        let at = at.index(text.len());
        text[at] = byte;
        same_verdict(&text, "changed");
        same_verdict(&text[..at], "cut");
    }
}
