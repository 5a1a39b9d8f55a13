//! Writing scalars.

use mcp_core::json::{NotFinite, write_float, write_integer, write_string, write_unsigned};

fn string(text: &str) -> String {
    let mut out = Vec::new();
    write_string(&mut out, text);
    String::from_utf8(out).unwrap()
}

fn float(value: f64) -> String {
    let mut out = Vec::new();
    write_float(&mut out, value).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn only_what_json_forbids_is_escaped() {
    assert_eq!(string(""), r#""""#);
    assert_eq!(string("a\"b\\c/d"), r#""a\"b\\c/d""#);
    assert_eq!(string("\u{8}\t\n\u{c}\r"), r#""\b\t\n\f\r""#);
    assert_eq!(
        string("\0\u{1}\u{b}\u{e}\u{1f}"),
        r#""\u0000\u0001\u000b\u000e\u001f""#
    );
    assert_eq!(
        string("\u{7f}\u{80}é\u{2028}\u{2029}\u{1f600}"),
        "\"\u{7f}\u{80}é\u{2028}\u{2029}\u{1f600}\""
    );
}

#[test]
fn a_special_byte_is_found_at_every_place() {
    for length in 0..200 {
        for (special, escaped) in [
            ("\"", "\\\""),
            ("\\", "\\\\"),
            ("\n", "\\n"),
            ("\u{1f}", "\\u001f"),
        ] {
            let plain = "é!".repeat(length).chars().take(length).collect::<String>();
            let expected = format!("\"{plain}{escaped}{plain}\"");
            assert_eq!(string(&format!("{plain}{special}{plain}")), expected);
        }
    }
}

#[test]
fn text_is_appended_to_what_is_there() {
    let mut out = b"[".to_vec();
    write_string(&mut out, "a");
    out.push(b',');
    write_float(&mut out, 2.0).unwrap();
    assert_eq!(out, b"[\"a\",2.0");
}

#[test]
fn floats_print_shortest_and_stay_floats() {
    for (value, text) in [
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.0, "0.0"),
        (0.1, "0.1"),
        (-1.5, "-1.5"),
        (100.0, "100.0"),
        (1e21, "1e+21"),
        (1e-7, "1e-7"),
        (f64::MAX, "1.7976931348623157e+308"),
        (5e-324, "5e-324"),
        (9_007_199_254_740_992.0, "9007199254740992.0"),
    ] {
        assert_eq!(float(value), text);
        assert!(text.contains(['.', 'e']), "{text} reads back as a float");
    }
}

#[test]
fn what_is_not_finite_is_not_written() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut out = b"x".to_vec();
        assert_eq!(write_float(&mut out, value), Err(NotFinite));
        assert_eq!(out, b"x");
    }
}

#[test]
fn integers_print_in_full() {
    let mut out = Vec::new();
    for value in [0, -1, i64::MIN, i64::MAX] {
        write_integer(&mut out, value);
        out.push(b' ');
    }
    write_unsigned(&mut out, u64::MAX);
    let expected = "0 -1 -9223372036854775808 9223372036854775807 18446744073709551615";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}
