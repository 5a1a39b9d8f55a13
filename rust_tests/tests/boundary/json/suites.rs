//! The public suites: `JSONTestSuite`, `utf8tests`, the cases of jiffy, the naughty strings.

use mcp_core::json::{self, JsonErrorKind as E, Limits, write_string};

use crate::generated::scale;

use super::corpora;
use super::properties::{same, same_verdict};
use super::tree::{Builder, Tree, big, float, read, text};

/// What a free choice of the suites became: a value, or a refusal.
type Choice = Result<Tree, E>;

fn grammar(bytes: &[u8]) -> Result<Tree, E> {
    let mut sink = Builder {
        keep_duplicates: true,
        ..Builder::default()
    };
    json::read(bytes, &Limits::default(), &mut sink).map_err(|error| error.kind)
}

fn choice(bytes: &[u8]) -> Choice {
    read(bytes).map_err(|error| error.kind)
}

fn one(value: Tree) -> Tree {
    Tree::Array(vec![value])
}

#[test]
fn json_test_suite_accepts_every_y_file_and_writes_it_back_equal() {
    let Some(files) = corpora::files("JSONTestSuite/test_parsing", "y_") else {
        return;
    };
    assert_eq!(files.len(), 95);
    for (name, bytes) in &files {
        let tree = grammar(bytes).unwrap_or_else(|kind| panic!("{name}: {kind}"));
        let written = tree.to_json();
        assert_eq!(grammar(&written).as_ref(), Ok(&tree), "{name}");
        let theirs: serde_json::Value = serde_json::from_slice(bytes).unwrap();
        assert!(same(&tree, &theirs), "{name}: {tree:?} and {theirs}");
    }
}

/// The grammar allows them; a message may not have them.
#[test]
fn json_test_suite_y_files_with_duplicate_keys_are_refused_as_such() {
    let Some(files) = corpora::files("JSONTestSuite/test_parsing", "y_") else {
        return;
    };
    let refused: Vec<_> = files
        .iter()
        .filter_map(|(name, bytes)| Some((&**name, choice(bytes).err()?)))
        .collect();
    let expected = [
        ("y_object_duplicated_key.json", E::DuplicateKey),
        ("y_object_duplicated_key_and_value.json", E::DuplicateKey),
    ];
    assert_eq!(refused, expected);
}

#[test]
fn json_test_suite_refuses_every_n_file() {
    let Some(files) = corpora::files("JSONTestSuite/test_parsing", "n_") else {
        return;
    };
    assert_eq!(files.len(), 188);
    for (name, bytes) in &files {
        let kind = choice(bytes).expect_err(name);
        assert_ne!(kind, E::DuplicateKey, "{name} is refused by its grammar");
    }
}

#[test]
fn json_test_suite_depth_bombs_are_refused_for_their_depth() {
    let Some(files) = corpora::files("JSONTestSuite/test_parsing", "n_structure_") else {
        return;
    };
    let deep: Vec<_> = files
        .iter()
        .filter(|(_, bytes)| choice(bytes) == Err(E::TooDeep))
        .map(|(name, _)| &**name)
        .collect();
    let expected = [
        "n_structure_100000_opening_arrays.json",
        "n_structure_open_array_object.json",
    ];
    assert_eq!(deep, expected);
}

fn free_choices() -> Vec<(&'static str, Choice)> {
    vec![
        ("i_number_double_huge_neg_exp", Ok(one(float(0.0)))),
        ("i_number_huge_exp", Err(E::NumberOutOfRange)),
        ("i_number_neg_int_huge_exp", Err(E::NumberOutOfRange)),
        ("i_number_pos_double_huge_exp", Err(E::NumberOutOfRange)),
        ("i_number_real_neg_overflow", Err(E::NumberOutOfRange)),
        ("i_number_real_pos_overflow", Err(E::NumberOutOfRange)),
        ("i_number_real_underflow", Ok(one(float(0.0)))),
        (
            "i_number_too_big_neg_int",
            Ok(one(big("-123123123123123123123123123123"))),
        ),
        (
            "i_number_too_big_pos_int",
            Ok(one(big("100000000000000000000"))),
        ),
        (
            "i_number_very_big_negative_int",
            Ok(one(big(
                "-237462374673276894279832749832423479823246327846",
            ))),
        ),
        ("i_object_key_lone_2nd_surrogate", Err(E::LoneSurrogate)),
        (
            "i_string_1st_surrogate_but_2nd_missing",
            Err(E::LoneSurrogate),
        ),
        (
            "i_string_1st_valid_surrogate_2nd_invalid",
            Err(E::LoneSurrogate),
        ),
        ("i_string_UTF-16LE_with_BOM", Err(E::InvalidUtf8)),
        ("i_string_UTF-8_invalid_sequence", Err(E::InvalidUtf8)),
        ("i_string_UTF8_surrogate_U+D800", Err(E::InvalidUtf8)),
        (
            "i_string_incomplete_surrogate_and_escape_valid",
            Err(E::LoneSurrogate),
        ),
        ("i_string_incomplete_surrogate_pair", Err(E::LoneSurrogate)),
        (
            "i_string_incomplete_surrogates_escape_valid",
            Err(E::LoneSurrogate),
        ),
        ("i_string_invalid_lonely_surrogate", Err(E::LoneSurrogate)),
        ("i_string_invalid_surrogate", Err(E::LoneSurrogate)),
        ("i_string_invalid_utf-8", Err(E::InvalidUtf8)),
        (
            "i_string_inverted_surrogates_U+1D11E",
            Err(E::LoneSurrogate),
        ),
        ("i_string_iso_latin_1", Err(E::InvalidUtf8)),
        ("i_string_lone_second_surrogate", Err(E::LoneSurrogate)),
        ("i_string_lone_utf8_continuation_byte", Err(E::InvalidUtf8)),
        ("i_string_not_in_unicode_range", Err(E::InvalidUtf8)),
        ("i_string_overlong_sequence_2_bytes", Err(E::InvalidUtf8)),
        ("i_string_overlong_sequence_6_bytes", Err(E::InvalidUtf8)),
        (
            "i_string_overlong_sequence_6_bytes_null",
            Err(E::InvalidUtf8),
        ),
        ("i_string_truncated-utf-8", Err(E::InvalidUtf8)),
        ("i_string_utf16BE_no_BOM", Err(E::InvalidUtf8)),
        ("i_string_utf16LE_no_BOM", Err(E::InvalidUtf8)),
        ("i_structure_500_nested_arrays", Err(E::TooDeep)),
        ("i_structure_UTF-8_BOM_empty_object", Err(E::Syntax)),
    ]
}

#[test]
fn json_test_suite_free_choices_are_pinned() {
    let Some(files) = corpora::files("JSONTestSuite/test_parsing", "i_") else {
        return;
    };
    let choices = free_choices();
    assert_eq!((files.len(), choices.len()), (35, 35));
    for (name, expected) in choices {
        let file = files
            .iter()
            .find(|(file, _)| *file == format!("{name}.json"));
        assert_eq!(choice(&file.expect(name).1), expected, "{name}");
    }
}

fn transforms() -> Vec<(&'static str, Choice)> {
    let member = |key: &str, value: &str| (key.to_owned(), text(value));
    let composed = member("\u{e9}", "NFC");
    let decomposed = member("e\u{301}", "NFD");
    vec![
        (
            "number_-9223372036854775808",
            Ok(one(Tree::Integer(i64::MIN))),
        ),
        (
            "number_-9223372036854775809",
            Ok(one(big("-9223372036854775809"))),
        ),
        ("number_1.0", Ok(one(float(1.0)))),
        ("number_1.000000000000000005", Ok(one(float(1.0)))),
        (
            "number_1000000000000000",
            Ok(one(Tree::Integer(1_000_000_000_000_000))),
        ),
        (
            "number_10000000000000000999",
            Ok(one(Tree::Unsigned(10_000_000_000_000_000_999))),
        ),
        ("number_1e-999", Ok(one(float(0.0)))),
        ("number_1e6", Ok(one(float(1e6)))),
        (
            "number_9223372036854775807",
            Ok(one(Tree::Integer(i64::MAX))),
        ),
        (
            "number_9223372036854775808",
            Ok(one(Tree::Unsigned(9_223_372_036_854_775_808))),
        ),
        (
            "object_key_nfc_nfd",
            Ok(Tree::Object(vec![composed.clone(), decomposed.clone()])),
        ),
        (
            "object_key_nfd_nfc",
            Ok(Tree::Object(vec![decomposed, composed])),
        ),
        ("object_same_key_different_values", Err(E::DuplicateKey)),
        ("object_same_key_same_value", Err(E::DuplicateKey)),
        ("object_same_key_unclear_values", Err(E::DuplicateKey)),
        ("string_1_escaped_invalid_codepoint", Err(E::LoneSurrogate)),
        ("string_1_invalid_codepoint", Err(E::InvalidUtf8)),
        ("string_2_escaped_invalid_codepoints", Err(E::LoneSurrogate)),
        ("string_2_invalid_codepoints", Err(E::InvalidUtf8)),
        ("string_3_escaped_invalid_codepoints", Err(E::LoneSurrogate)),
        ("string_3_invalid_codepoints", Err(E::InvalidUtf8)),
        ("string_with_escaped_NULL", Ok(one(text("A\0B")))),
    ]
}

#[test]
fn json_test_suite_transforms_are_pinned() {
    let Some(files) = corpora::files("JSONTestSuite/test_transform", "") else {
        return;
    };
    let transforms = transforms();
    assert_eq!((files.len(), transforms.len()), (22, 22));
    for (name, expected) in transforms {
        let file = files
            .iter()
            .find(|(file, _)| *file == format!("{name}.json"));
        assert_eq!(choice(&file.expect(name).1), expected, "{name}");
    }
}

#[test]
fn utf8tests_sequences_are_judged_alike_in_strings_keys_and_alone() {
    let Some(suite) = corpora::json("utf8tests/utf8tests.json") else {
        return;
    };
    let cases = suite["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 222);
    for case in cases {
        let (id, valid) = (&case["id"], case["valid"].as_bool().unwrap());
        let bytes = unhex(case["hex"].as_str().unwrap());
        for frame in [
            ["\"", "\""],
            ["{\"", "\":1}"],
            ["[\"a long enough run of text ", "\"]"],
        ] {
            let text = [frame[0].as_bytes(), &bytes, frame[1].as_bytes()].concat();
            let utf8_error = choice(&text).err() == Some(E::InvalidUtf8);
            assert_eq!(utf8_error, !valid, "{id} in {frame:?}");
        }
    }
}

fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex
        .chars()
        .map(|digit| digit.to_digit(16).unwrap())
        .collect();
    digits
        .chunks(2)
        .map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap())
        .collect()
}

/// The inputs jiffy refuses, and the one that only our depth limit does.
const JIFFY_REFUSES: [(&str, E); 19] = [
    ("array_close.json", E::Syntax),
    ("array_open.json", E::UnexpectedEnd),
    ("bogus_char.json", E::Syntax),
    ("deep_arrays.json", E::TooDeep),
    ("false_then_garbage.json", E::TrailingBytes),
    ("invalid_utf8.json", E::InvalidUtf8),
    ("isolated_surrogate_marker.json", E::LoneSurrogate),
    ("leading_zero_in_number.json", E::InvalidNumber),
    ("lonely_minus_sign.json", E::InvalidNumber),
    ("map_close.json", E::Syntax),
    ("map_open.json", E::UnexpectedEnd),
    ("missing_integer_after_decimal_point.json", E::InvalidNumber),
    ("missing_integer_after_exponent.json", E::InvalidNumber),
    ("non_utf8_char_in_string.json", E::InvalidUtf8),
    ("null_then_garbage.json", E::TrailingBytes),
    ("string_invalid_escape.json", E::InvalidEscape),
    ("string_invalid_hex_char.json", E::InvalidEscape),
    ("string_with_invalid_newline.json", E::ControlCharacter),
    ("true_then_garbage.json", E::TrailingBytes),
];

#[test]
fn jiffy_cases_are_judged_as_jiffy_does_but_for_depth() {
    let Some(files) = corpora::files("jiffy-cases/test/cases", "") else {
        return;
    };
    for (name, bytes) in files.iter().filter(|(name, _)| name.ends_with(".json")) {
        let expected = JIFFY_REFUSES.iter().find(|(refused, _)| refused == name);
        assert_eq!(
            choice(bytes).err(),
            expected.map(|(_, kind)| *kind),
            "{name}"
        );
    }
}

#[test]
fn jiffy_short_doubles_are_printed_shortest_and_read_back_exactly() {
    let Some(files) = corpora::files("jiffy-cases/test/cases", "short-doubles.txt") else {
        return;
    };
    let lines = str::from_utf8(&files[0].1).unwrap().lines();
    let mut count = 0;
    for line in lines {
        let digits = line.trim_end_matches('.');
        let value: f64 = digits.parse().unwrap();
        assert_eq!(read(digits.as_bytes()), Ok(float(value)), "{line}");
        let mut printed = Vec::new();
        json::write_float(&mut printed, value).unwrap();
        assert_eq!(read(&printed), Ok(float(value)), "{line}");
        // The standard library's shortest form, by another algorithm; ties may fall either way.
        let shortest = significant_digits(&format!("{value:e}"));
        let printed = significant_digits(&String::from_utf8(printed).unwrap());
        assert_eq!(printed, shortest, "{line}");
        count += 1;
    }
    assert_eq!(count, 100_000);
}

fn significant_digits(number: &str) -> usize {
    let mantissa = number.split(['e', 'E']).next().unwrap();
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    digits.trim_matches('0').len()
}

// req: M26
#[test]
fn naughty_strings_survive_as_values_and_as_keys() {
    let Some(strings) = corpora::json("naughty-strings/blns.json") else {
        return;
    };
    let strings = strings.as_array().unwrap();
    assert_eq!(strings.len(), 515);
    for string in strings {
        let string = string.as_str().unwrap();
        let mut written = Vec::new();
        write_string(&mut written, string);
        assert_eq!(read(&written), Ok(text(string)));
        assert!(
            !written.iter().any(|byte| *byte < 0x20),
            "one line: {string:?}"
        );
        let tree = Tree::Object(vec![(string.to_owned(), Tree::Null)]);
        assert_eq!(read(&tree.to_json()), Ok(tree));
    }
}

/// All of them with `MCP_SCALE=10000`, as far as a test run has time without.
// req: F5
#[test]
fn every_file_cut_and_changed_is_judged_as_serde_json_does() {
    let longest = 64 * scale() as usize;
    let Some(files) = corpora::all_json() else {
        return;
    };
    let mut inputs = 0;
    for (name, bytes) in files.iter().filter(|(_, bytes)| bytes.len() <= longest) {
        for at in 0..bytes.len() {
            same_verdict(&bytes[..at], name);
            // Every bit of what is short, and one of each byte of what is long.
            let bits = if bytes.len() <= 64 {
                0..8
            } else {
                at % 8..at % 8 + 1
            };
            inputs += 1 + bits.len();
            for bit in bits {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                same_verdict(&changed, name);
            }
        }
    }
    println!("F5: {inputs} inputs");
}
