//! What holds for any text.

use mcp_core::results::presentation::markdown;
use mcp_core::results::presentation::markers::{count, escape};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::generated::config;

const CARD: &str = "<!-- kind:card:v1 -->";

/// Text made of what could break a line, a cell or a count, among other characters.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just(CARD.to_owned()),
        Just("<!--\tkind:".to_owned()),
        Just("```".to_owned()),
        Just("~~~~".to_owned()),
        Just("`".to_owned()),
        Just("\n".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{2028}".to_owned()),
        Just("|".to_owned()),
        Just("\\".to_owned()),
        Just("    ".to_owned()),
        any::<String>(),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Bars that end a cell.
fn bars(row: &str) -> usize {
    let mut characters = row.chars();
    let mut bars = 0;
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '|' => bars += 1,
            _ => {}
        }
    }
    bars
}

fn lines(text: &str) -> usize {
    text.split([
        '\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}',
    ])
    .count()
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn cells_of_a_row_stay_on_its_line(cells in vec(text(), 1..6)) {
        let cells: Vec<String> = cells.iter().map(|text| markdown::cell(text)).collect();
        let row = format!("| {} |", cells.join(" | "));
        prop_assert_eq!(bars(&row), cells.len() + 1, "{}", row);
        prop_assert_eq!(lines(&row), 1);
    }

    #[test]
    fn what_was_escaped_counts_nowhere(text in text()) {
        prop_assert_eq!(count(&escape(&text), &[CARD]), vec![0]);
        prop_assert_eq!(escape(&escape(&text)), escape(&text));
        let in_a_line = format!("**A:** {}\n{CARD}", markdown::line(&text));
        prop_assert_eq!(count(&in_a_line, &[CARD]), vec![1], "{}", in_a_line);
    }

    #[test]
    fn blocks_add_no_marker_and_hide_none(text in text(), language in text()) {
        let code = markdown::code_block(&text, &language);
        let all = format!("{code}\n{CARD}\n\n{}\n{CARD}", markdown::block(&text));
        prop_assert_eq!(count(&all, &[CARD]), vec![2], "{}", all);
    }

    #[test]
    fn a_code_span_is_closed_by_its_own_marks_only(text in text()) {
        let span = markdown::code_span(&text);
        let marks = span.chars().take_while(|character| *character == '`').count();
        prop_assume!(!text.trim_start().is_empty());
        let inner = span.get(marks..span.len() - marks).unwrap_or_default();
        let longest = inner.split(|character| character != '`').map(str::len).max();
        prop_assert!(longest.unwrap_or_default() < marks, "{}", span);
    }
}
