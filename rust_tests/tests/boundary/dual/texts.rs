//! What is answered: pages, cells.

use mcp_core::results::dual::{
    HEADERS, JSON_HEADERS, Page, Refusal, refuse, write_csv_text, write_csv_value,
};
use proptest::prelude::*;

use crate::generated::config;

fn tail(offset: u64, returned: u64, total: u64) -> String {
    let mut out = Vec::new();
    Page {
        offset,
        returned,
        total,
    }
    .write_tail(&mut out);
    String::from_utf8(out).expect("text")
}

// req: S1-53
#[test]
fn a_page_knows_whether_another_follows() {
    for (offset, returned, total, next) in [
        (0, 100, 847, "true,\"next_offset\":100}"),
        (800, 46, 847, "true,\"next_offset\":846}"),
        (800, 47, 847, "false,\"next_offset\":null}"),
        (847, 0, 847, "false,\"next_offset\":null}"),
        (900, 0, 847, "false,\"next_offset\":null}"),
        (0, 0, 0, "false,\"next_offset\":null}"),
        (u64::MAX, u64::MAX, 5, "false,\"next_offset\":null}"),
    ] {
        let text = tail(offset, returned, total);
        assert!(text.ends_with(next), "{text}");
    }
}

// req: R7
#[test]
fn every_answer_is_data_that_nobody_keeps() {
    assert_eq!(
        HEADERS,
        [
            ("cache-control", "private, no-store"),
            ("content-disposition", "attachment"),
            ("x-content-type-options", "nosniff"),
        ]
    );
    for refusal in [
        Refusal::NotFound,
        Refusal::Forbidden,
        Refusal::Internal,
        Refusal::Timeout,
        Refusal::Overloaded(1),
        Refusal::StorageUnavailable(1),
        Refusal::QueryFailed("a \"text\""),
    ] {
        let answer = refuse(&refusal);
        for (name, value) in JSON_HEADERS {
            assert!(answer.headers.contains(&(name, value.to_owned())));
        }
        serde_json::from_slice::<serde_json::Value>(&answer.body).expect("JSON");
    }
}

fn cell(text: &str) -> String {
    let mut out = Vec::new();
    write_csv_text(&mut out, text);
    String::from_utf8(out).expect("text")
}

fn value(json: &str) -> String {
    let mut out = Vec::new();
    write_csv_value(&mut out, json);
    String::from_utf8(out).expect("text")
}

// req: Q4
#[test]
fn cells_are_quoted_and_no_formulas() {
    for (text, written) in [
        ("plain", "plain"),
        ("", ""),
        ("a,b", "\"a,b\""),
        ("a\"b", "\"a\"\"b\""),
        ("a\nb", "\"a\nb\""),
        (" a", "\" a\""),
        ("=1+1", "\"'=1+1\""),
        ("+1", "\"'+1\""),
        ("-1", "\"'-1\""),
        ("@SUM(A1)", "\"'@SUM(A1)\""),
        ("\t=1", "\"'\t'=1\""),
        ("\r=1", "\"'\r'=1\""),
        ("\nx", "\"'\nx\""),
        ("'a", "'a"),
        ("a=1", "a=1"),
    ] {
        assert_eq!(cell(text), written);
    }
    assert_eq!(value("-1.5"), "-1.5");
}

// Where the decimal sign is a comma, spreadsheets split lines at semicolons: `1,"x;=1+1"` becomes the cells `1,"x` and
// `=1+1"`.
#[test]
fn what_other_separators_cut_off_is_no_formula() {
    for (text, written) in [
        ("x;=1+1", "\"x;'=1+1\""),
        ("y\t=1+1", "\"y\t'=1+1\""),
        ("z|@A1", "\"z|'@A1\""),
        ("a\n-1\r\n+2", "\"a\n'-1\r\n'+2\""),
        ("a;;=1;-2", "\"a;;'=1;'-2\""),
        ("a;\"=1+1;b", "\"a;'\"\"=1+1;b\""),
        ("a; b|c", "\"a; b|c\""),
        ("a;b", "\"a;b\""),
        ("a,=1", "\"a,=1\""),
        ("a=1;b", "\"a=1;b\""),
    ] {
        assert_eq!(cell(text), written);
    }
}

#[test]
fn fullwidth_operators_are_operators() {
    for operator in ['\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'] {
        assert_eq!(
            cell(&format!("{operator}1+1")),
            format!("\"'{operator}1+1\"")
        );
        assert_eq!(
            cell(&format!("x;{operator}1")),
            format!("\"x;'{operator}1\"")
        );
    }
    assert_eq!(cell("\u{ff1b}=1"), "\u{ff1b}=1");
}

#[test]
fn a_json_text_in_a_cell_keeps_its_value() {
    for (json, written) in [
        ("[\"x;=1+1\"]", "\"[\"\"x;\\u003d1+1\"\"]\""),
        ("[\"x|-1;\u{ff20}a\"]", "\"[\"\"x|\\u002d1;\\uff20a\"\"]\""),
        ("[\"a;b\",-1]", "\"[\"\"a;b\"\",-1]\""),
        ("true", "true"),
    ] {
        assert_eq!(value(json), written);
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_cell_never_begins_as_a_formula(text in any::<String>()) {
        let written = cell(&text);
        let shown = written.trim_start_matches('"');
        prop_assert!(!shown.starts_with(['=', '+', '-', '@', '\t', '\r']) || text.starts_with('"'));
    }

    #[test]
    fn no_part_of_a_cell_begins_as_a_formula(text in "[a=+@;|\t\n\"\u{ff1d}-]{0,12}") {
        for part in cell(&text).split([';', '|', '\t', '\n']).skip(1) {
            let shown = part.trim_start_matches('"');
            let is_formula = shown.starts_with(['=', '+', '-', '@', '\u{ff1d}']);
            prop_assert!(!is_formula);
        }
    }

    #[test]
    fn a_json_text_reads_the_same_in_a_cell(text in "[a=+@;|\t\n\"\\\\\u{ff1d}-]{0,12}") {
        let json = serde_json::to_string(&[&text]).expect("JSON");
        let cell = value(&json);
        let inner = cell.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).expect("quotes");
        let read: Vec<String> = serde_json::from_str(&inner.replace("\"\"", "\"")).expect("JSON");
        prop_assert_eq!(read, [text]);
    }

    #[test]
    fn pages_concatenate_to_the_whole(total in 0_u64..500, limit in 1_u64..60) {
        let mut offset = Some(0);
        let mut seen = 0;
        while let Some(at) = offset {
            let returned = limit.min(total - at);
            prop_assert_eq!(at, seen);
            seen += returned;
            offset = Page { offset: at, returned, total }.next_offset();
        }
        prop_assert_eq!(seen, total);
    }
}
