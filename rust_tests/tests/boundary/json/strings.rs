//! Strings and structure: escapes, controls, and the bytes around values.

use mcp_core::json::{JsonErrorKind as E, Limits, read};

use super::tree::{Builder, Tree, reads, refuses, text};

#[test]
fn every_escape_is_read() {
    reads(r#""\"\\\/\b\f\n\r\t""#, &text("\"\\/\u{8}\u{c}\n\r\t"));
    reads(
        r#""\u0000\u001f\u007f\u00e9\u20AC\uFFFF""#,
        &text("\0\u{1f}\u{7f}é€\u{ffff}"),
    );
    reads(r#""\ud83d\ude00""#, &text("\u{1f600}"));
    reads(
        r#""\uD800\uDC00\uDBFF\uDFFF""#,
        &text("\u{10000}\u{10ffff}"),
    );
    reads(r#""a\nb\nc""#, &text("a\nb\nc"));
}

#[test]
fn bad_escapes_are_refused_where_their_backslash_is() {
    for (text, kind, offset) in [
        (r#""\x""#, E::InvalidEscape, 1),
        (r#""ab\'""#, E::InvalidEscape, 3),
        (r#""\U0041""#, E::InvalidEscape, 1),
        (r#""\u00g0""#, E::InvalidEscape, 1),
        (r#""\u+041""#, E::InvalidEscape, 1),
        (r#""\u""#, E::InvalidEscape, 1),
        (r#""\ud800""#, E::LoneSurrogate, 1),
        (r#""\udc00""#, E::LoneSurrogate, 1),
        (r#""\ud800\n""#, E::LoneSurrogate, 1),
        (r#""\ud800\u0041""#, E::LoneSurrogate, 1),
        (r#""\ud800\ud800\udc00""#, E::LoneSurrogate, 1),
        (r#""\ud800\uzzzz""#, E::InvalidEscape, 7),
        (r#"{"\ud800":1}"#, E::LoneSurrogate, 2),
        (r#""\"#, E::UnexpectedEnd, 2),
        (r#""\u00"#, E::UnexpectedEnd, 5),
        (r#""abc"#, E::UnexpectedEnd, 4),
    ] {
        refuses(text, kind, offset);
    }
}

#[test]
fn raw_controls_are_refused_and_delete_is_not() {
    for control in 0..0x20_u8 {
        for before in 0..70 {
            let plain = "x".repeat(before);
            let bytes = [b"\"", plain.as_bytes(), &[control], b"\""].concat();
            refuses(bytes, E::ControlCharacter, before + 1);
        }
    }
    reads(
        "\"\u{7f}\u{80}\u{2028}\u{2029}\"",
        &text("\u{7f}\u{80}\u{2028}\u{2029}"),
    );
}

/// The scan goes by words and blocks: every place in them must be seen.
#[test]
fn the_end_of_a_string_is_found_at_every_length() {
    for length in 0..300 {
        let plain = "é0".repeat(length);
        let plain = plain.chars().take(length).collect::<String>();
        reads(&format!("\"{plain}\""), &text(&plain));
        reads(
            &format!("[\"{plain}\\n{plain}\"]"),
            &Tree::Array(vec![text(&format!("{plain}\n{plain}"))]),
        );
    }
}

#[test]
fn a_string_without_escapes_is_a_part_of_the_input() {
    let mut sink = Builder::default();
    let input = br#"{"plain":"text","esc\u0061ped":"\n"}"#;
    read(input, &Limits::default(), &mut sink).unwrap();
    assert_eq!((sink.borrowed, sink.owned), (2, 2));
}

#[test]
fn white_space_is_the_four_characters_of_json() {
    reads(
        " \t\r\n[ 1 , 2 ] \n",
        &Tree::Array(vec![Tree::Integer(1), Tree::Integer(2)]),
    );
    reads("{ }", &Tree::Object(vec![]));
    refuses("\u{a0}1", E::Syntax, 0);
    refuses("1\u{c}", E::TrailingBytes, 1);
    refuses("\u{feff}{}", E::Syntax, 0);
    refuses("1\0", E::TrailingBytes, 1);
}

#[test]
fn structure_is_strict() {
    for (text, kind, offset) in [
        ("", E::UnexpectedEnd, 0),
        (" \n", E::UnexpectedEnd, 2),
        ("[1,]", E::Syntax, 3),
        ("[,1]", E::Syntax, 1),
        ("[1 2]", E::Syntax, 3),
        ("[1}", E::Syntax, 2),
        ("{\"a\":1]", E::Syntax, 6),
        ("{\"a\":1,}", E::Syntax, 7),
        ("{\"a\" 1}", E::Syntax, 5),
        ("{\"a\"}", E::Syntax, 4),
        ("{1:2}", E::Syntax, 1),
        ("{'a':1}", E::Syntax, 1),
        ("{\"a\":/*x*/1}", E::Syntax, 5),
        ("[1", E::UnexpectedEnd, 2),
        ("{\"a\":", E::UnexpectedEnd, 5),
        ("tru", E::UnexpectedEnd, 3),
        ("trux", E::Syntax, 0),
        ("True", E::Syntax, 0),
        ("nul", E::UnexpectedEnd, 3),
        ("truefalse", E::TrailingBytes, 4),
        ("{}{}", E::TrailingBytes, 2),
        ("1 2", E::TrailingBytes, 2),
        ("]", E::Syntax, 0),
    ] {
        refuses(text, kind, offset);
    }
}

#[test]
fn bytes_that_are_not_utf8_are_refused_where_they_begin() {
    refuses(b"\"a\xff\"", E::InvalidUtf8, 2);
    refuses(b"\xff\xfe{\0}\0", E::InvalidUtf8, 0);
    let mut long = vec![b' '; 1000];
    long.extend(b"\xed\xa0\x80");
    refuses(long, E::InvalidUtf8, 1000);
}

#[test]
fn an_error_tells_where_and_why_and_nothing_of_the_input() {
    let error = read(
        b"[\"secret\x01\"]",
        &Limits::default(),
        &mut Builder::default(),
    )
    .unwrap_err();
    assert_eq!(error.to_string(), "control character in a string at byte 8");
    assert_eq!(error.kind.as_str(), "control_character");
}
