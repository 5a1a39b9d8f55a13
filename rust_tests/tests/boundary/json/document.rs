//! Scanned documents: what is remembered, what a view tells, and where duplicates are.

use mcp_core::json::{Document, Kind, Limits, View};

#[track_caller]
fn scan(text: &str) -> Document<'_> {
    Document::scan(text.as_bytes(), &Limits::default()).unwrap()
}

/// The value behind these member names.
fn at<'d, 'a>(document: &'d Document<'a>, path: &[&str]) -> Option<View<'d, 'a>> {
    path.iter()
        .try_fold(document.root(), |view, name| view.get(name))
}

#[test]
fn a_view_tells_what_a_value_is() {
    let document = scan(r#"{"n":null,"t":true,"f":false,"i":-7,"d":1.5,"s":"x","a":[],"o":{}}"#);
    let kinds: Vec<_> = document
        .root()
        .members()
        .map(|(name, view)| (name, view.kind()))
        .collect();
    let expected = [
        ("n", Kind::Null),
        ("t", Kind::Boolean),
        ("f", Kind::Boolean),
        ("i", Kind::Integer),
        ("d", Kind::Float),
        ("s", Kind::String),
        ("a", Kind::Array),
        ("o", Kind::Object),
    ];
    assert_eq!(kinds, expected);
    assert_eq!(at(&document, &["t"]).unwrap().boolean(), Some(true));
    assert_eq!(at(&document, &["f"]).unwrap().boolean(), Some(false));
    assert_eq!(at(&document, &["n"]).unwrap().boolean(), None);
    assert_eq!(at(&document, &["s"]).unwrap().text().as_deref(), Some("x"));
    assert_eq!(at(&document, &["i"]).unwrap().text(), None);
    assert_eq!(at(&document, &["i"]).unwrap().number(), Some(-7.0));
    assert_eq!(at(&document, &["d"]).unwrap().number(), Some(1.5));
    assert_eq!(at(&document, &["s"]).unwrap().number(), None);
    assert!(at(&document, &["N"]).is_none());
}

#[test]
fn integers_are_those_of_64_bits_written_as_such() {
    let integer = |text: &str| scan(text).root().integer();
    assert_eq!(integer("0"), Some(0));
    assert_eq!(integer("-0"), Some(0));
    assert_eq!(integer("9007199254740993"), Some(9_007_199_254_740_993));
    assert_eq!(integer("18446744073709551615"), Some(u64::MAX.into()));
    assert_eq!(integer("18446744073709551616"), None);
    assert_eq!(integer("-9223372036854775808"), Some(i64::MIN.into()));
    assert_eq!(integer("-9223372036854775809"), None);
    assert_eq!(integer(&"9".repeat(1_000)), None);
    for text in ["1.0", "1e3", "\"1\"", "true", "[1]"] {
        assert_eq!(integer(text), None, "{text}");
    }
    assert_eq!(
        scan("18446744073709551616").root().number(),
        Some(18_446_744_073_709_551_616.0)
    );
    assert_eq!(scan(&"9".repeat(1_000)).root().number(), None);
}

#[test]
fn raw_is_the_value_as_sent_and_offset_where_it_begins() {
    let text = "\n {\"a\" : [1, {\"b\":2}] , \"c\":\"\\u0064\" }\n";
    let document = scan(text);
    assert_eq!(document.root().raw(), text.trim().as_bytes());
    let array = at(&document, &["a"]).unwrap();
    assert_eq!((array.raw(), array.offset()), (&b"[1, {\"b\":2}]"[..], 9));
    let string = at(&document, &["c"]).unwrap();
    assert_eq!(
        (string.raw(), string.text().as_deref()),
        (&b"\"\\u0064\""[..], Some("d"))
    );
}

#[test]
fn text_is_borrowed_unless_it_had_escapes() {
    let document = scan(r#"["plain","\n"]"#);
    let texts: Vec<_> = document
        .root()
        .elements()
        .filter_map(|view| view.text())
        .collect();
    assert!(matches!(texts[0], std::borrow::Cow::Borrowed("plain")));
    assert!(matches!(&texts[1], std::borrow::Cow::Owned(text) if text == "\n"));
}

#[test]
fn objects_are_remembered_to_depth_3() {
    let document = scan(r#"{"a":{"b":{"c":{"d":{"e":1}},"x":2},"y":3},"z":4}"#);
    assert_eq!(
        at(&document, &["a", "b", "c", "d"]).unwrap().raw(),
        br#"{"e":1}"#
    );
    assert!(at(&document, &["a", "b", "c", "d", "e"]).is_none());
    assert_eq!(
        at(&document, &["a", "b", "c", "d"])
            .unwrap()
            .members()
            .count(),
        0
    );
    assert_eq!(at(&document, &["a", "b", "x"]).unwrap().integer(), Some(2));
    assert_eq!(at(&document, &["a", "y"]).unwrap().integer(), Some(3));
    assert_eq!(at(&document, &["z"]).unwrap().integer(), Some(4));
}

#[test]
fn arrays_inside_are_not_remembered_but_what_follows_them_is() {
    let document = scan(r#"{"a":[{"b":1},[2]],"c":{"d":[{"e":1}],"f":5}}"#);
    assert_eq!(at(&document, &["a"]).unwrap().elements().count(), 0);
    assert_eq!(at(&document, &["a", "b"]).map(|view| view.offset()), None);
    assert_eq!(at(&document, &["c", "f"]).unwrap().integer(), Some(5));
    let names: Vec<_> = document.root().members().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn the_elements_of_a_root_array_are_as_deep_as_a_root() {
    let document = scan(r#"[{"a":{"b":{"c":{"d":{"e":1}}}}},7,[{"x":1}],{"a":2}]"#);
    let elements: Vec<_> = document.root().elements().collect();
    assert_eq!(elements.len(), 4);
    let deepest = ["a", "b", "c", "d"]
        .iter()
        .try_fold(elements[0], |view, name| view.get(name));
    assert_eq!(deepest.unwrap().raw(), br#"{"e":1}"#);
    assert!(deepest.unwrap().get("e").is_none());
    assert_eq!(elements[1].integer(), Some(7));
    assert_eq!(
        (elements[2].elements().count(), elements[2].raw()),
        (0, &br#"[{"x":1}]"#[..])
    );
    assert_eq!(elements[3].get("a").unwrap().integer(), Some(2));
    assert_eq!(document.root().members().count(), 0);
    assert_eq!(scan("[]").root().elements().count(), 0);
}

// req: SEC-03
#[test]
fn names_are_compared_exactly_after_unescaping() {
    let document = scan(r#"{"\u006dethod":1,"Method":2,"ſ":3}"#);
    assert_eq!(document.root().get("method").unwrap().integer(), Some(1));
    assert_eq!(document.root().get("Method").unwrap().integer(), Some(2));
    assert!(document.root().get("s").is_none());
    assert!(document.root().get("METHOD").is_none());
}

#[test]
fn a_duplicate_is_remembered_where_it_is() {
    let document = scan(r#"{"a":{"x":[[{"k":1,"k":2}]]},"b":{"x":1}}"#);
    assert_eq!(document.duplicate(), Some(19));
    assert!(document.root().has_duplicate());
    assert!(at(&document, &["a"]).unwrap().has_duplicate());
    assert!(at(&document, &["a", "x"]).unwrap().has_duplicate());
    assert!(!at(&document, &["b"]).unwrap().has_duplicate());
    assert!(!scan(r#"{"a":{"a":1}}"#).root().has_duplicate());
    assert_eq!(scan(r#"{"a":{"a":1}}"#).duplicate(), None);
}

/// Objects that grow too large are forgotten, in the midst of which it may be known already that a key came twice.
// req: M13
#[test]
fn a_duplicate_is_remembered_though_the_values_around_it_are_forgotten() {
    let members: Vec<String> = (0..5_000).map(|name| format!("\"k{name}\":0")).collect();
    let many = members.join(",");
    let levels = ["params", "arguments", "x", "y", "z"];
    for place in 0..levels.len() {
        for crowded in 0..=place {
            let mut text = String::from(r#"{"a":1,"a":2}"#);
            for level in (0..=place).rev() {
                let filler = if level == crowded { &many } else { "\"k\":0" };
                text = format!("{{\"{}\":{text},{filler}}}", levels[level]);
            }
            let document = scan(&text);
            assert!(document.duplicate().is_some());
            assert!(document.root().has_duplicate(), "{place}, {crowded}");
        }
    }
}

#[test]
fn each_message_of_a_batch_answers_for_its_own_duplicates() {
    let document = scan(r#"[{"a":1,"a":2},{"a":1},{"b":{"c":{"d":{"e":{"f":1,"f":2}}}}}]"#);
    let flags: Vec<_> = document
        .root()
        .elements()
        .map(|view| view.has_duplicate())
        .collect();
    assert_eq!(flags, [true, false, true]);
    assert_eq!(document.duplicate(), Some(8));
}

#[test]
fn get_finds_the_first_of_two_and_members_shows_both() {
    let document = scan(r#"{"id":1,"id":2}"#);
    assert_eq!(document.root().get("id").unwrap().integer(), Some(1));
    let ids: Vec<_> = document
        .root()
        .members()
        .map(|(_, view)| view.integer())
        .collect();
    assert_eq!(ids, [Some(1), Some(2)]);
}
