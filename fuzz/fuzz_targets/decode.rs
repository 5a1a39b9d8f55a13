//! Reading JSON: both entry points agree, limits are exact, and views equal the text.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::json::{Document, JsonErrorKind as Kind, Limits, View, check};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::{Repeated, Tree, parse};

/// Limits that small inputs reach.
const TIGHT: Limits = Limits {
    max_bytes: 256,
    max_depth: 4,
    max_values: 24,
    max_digits: 6,
};

fuzz_target!(|bytes: &[u8]| within(|| {
    let loose = doors_agree(bytes, &Limits::default());
    let tight = doors_agree(bytes, &TIGHT);
    match (&loose, tight) {
        (Ok(tree), Ok(same)) => {
            assert_eq!(tree, &same);
            assert!(is_within(tree, bytes, &TIGHT), "accepted over a limit");
        }
        (Ok(tree), Err(kind)) => {
            assert!(
                !is_within(tree, bytes, &TIGHT),
                "{kind:?} of a text within every limit"
            );
            let limits = [
                Kind::TooLarge,
                Kind::TooDeep,
                Kind::TooManyValues,
                Kind::TooManyDigits,
            ];
            assert!(limits.contains(&kind), "{kind:?}");
        }
        (Err(kind), Ok(_)) => panic!("{kind:?} only within looser limits"),
        (Err(_), Err(_)) => {}
    }
    if loose.is_ok() {
        let document = Document::scan(bytes, &Limits::default()).expect("read before");
        let root = document.root();
        assert_eq!(root.raw(), bytes.trim_ascii());
        views_are_true(root, bytes);
    }
}));

/// The value with its duplicate keys, or the error; all entry points return the same.
fn doors_agree(bytes: &[u8], limits: &Limits) -> Result<Tree, Kind> {
    let kept = parse(bytes, limits, Repeated::Keep);
    let strict = parse(bytes, limits, Repeated::Refuse);
    let scanned = Document::scan(bytes, limits);
    assert_eq!(kept.as_ref().err(), scanned.as_ref().err());
    match &kept {
        Ok(tree) => {
            let document = scanned.expect("accepted");
            let repeats = tree.repeats_a_key();
            assert_eq!(document.duplicate().is_some(), repeats);
            assert_eq!(document.root().has_duplicate(), repeats);
            assert!(
                document
                    .duplicate()
                    .is_none_or(|offset| bytes[offset] == b'"')
            );
            assert_eq!(strict.is_err(), repeats);
            let refused = check(bytes, limits).map_err(|error| (error.kind, Some(error.offset)));
            let expected = document
                .duplicate()
                .map(|at| (Kind::DuplicateKey, Some(at)));
            assert_eq!(refused.err(), expected);
        }
        Err(error) => {
            assert!(error.offset <= bytes.len(), "{error}");
            assert_ne!(error.kind, Kind::DuplicateKey);
            assert_eq!(check(bytes, limits), Err(*error));
            if let Err(other) = strict {
                assert!(other == *error || other.kind == Kind::DuplicateKey);
            }
        }
    }
    kept.map_err(|error| error.kind)
}

fn is_within(tree: &Tree, bytes: &[u8], limits: &Limits) -> bool {
    bytes.len() <= limits.max_bytes
        && tree.depth() <= limits.max_depth
        && tree.count() <= limits.max_values
        && most_digits(bytes) <= limits.max_digits
}

/// The digits of the longest number in a JSON text.
fn most_digits(bytes: &[u8]) -> usize {
    let (mut most, mut digits) = (0, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in bytes {
        if in_string {
            in_string = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        in_string = *byte == b'"';
        digits = match byte {
            b'0'..=b'9' => digits + 1,
            b'+' | b'-' | b'.' | b'e' | b'E' => digits,
            _ => 0,
        };
        most = most.max(digits);
    }
    most
}

/// Every indexed value equals its part of the text.
fn views_are_true(view: View<'_, '_>, bytes: &[u8]) {
    let raw = view.raw();
    assert_eq!(raw, &bytes[view.offset()..view.offset() + raw.len()]);
    let tree = parse(raw, &Limits::default(), Repeated::Keep).expect("a part of JSON is JSON");
    assert_eq!(view.has_duplicate(), tree.repeats_a_key());
    let integer = match &tree {
        Tree::Integer(value) => Some(i128::from(*value)),
        Tree::Unsigned(value) => Some(i128::from(*value)),
        _ => None,
    };
    assert_eq!(view.integer(), integer, "never rounded");
    let text = if let Tree::Text(text) = &tree {
        Some(text.as_str())
    } else {
        None
    };
    assert_eq!(view.text().as_deref(), text);
    for (name, member) in view.members() {
        assert_eq!(
            view.get(name)
                .map(|first| first.offset() <= member.offset()),
            Some(true)
        );
        views_are_true(member, bytes);
    }
    for element in view.elements() {
        views_are_true(element, bytes);
    }
}
