//! Presentations: the rules, one by one, and what holds for any text.

mod properties;

use mcp_core::results::presentation::markdown;
use mcp_core::results::presentation::markers::{count, escape};

const CARD: &str = "<!-- kind:pattern-card:v1 -->";

// req: S0-29, S0-30, RES-60
#[test]
fn a_marker_counts_alone_on_its_line_and_outside_of_code() {
    for (text, expected) in [
        (CARD.to_owned(), 1),
        (format!("{CARD}\n{CARD}\r\n  {CARD}\t"), 3),
        (format!("    {CARD}"), 0),
        (format!("> {CARD}"), 0),
        (format!("{CARD} {CARD}"), 0),
        (format!("```\n{CARD}\n```\n{CARD}"), 1),
        (format!("~~~\n```\n{CARD}\n~~~\n{CARD}"), 1),
        (format!("`````\n```\n{CARD}\n`````"), 0),
        (format!("``` info `x`\n{CARD}"), 1),
        (format!("```\n    ```\n{CARD}"), 0),
        ("<!-- kind:pattern-card:v2 -->".to_owned(), 0),
        (String::new(), 0),
    ] {
        assert_eq!(count(&text, &[CARD]), [expected], "{text:?}");
    }
    assert_eq!(escape("<!--\n kind:x:v1 -->"), "&lt;!--\n kind:x:v1 -->");
    assert_eq!(escape("<!-- k --><!--kind:"), "<!-- k -->&lt;!--kind:");
}

// req: S3-13
#[test]
fn text_of_others_stays_where_it_is_put() {
    assert_eq!(markdown::line("a\u{2028}\r\n\tb  c "), "a b  c");
    assert_eq!(markdown::cell("a|b"), r"a\|b");
    assert_eq!(markdown::cell("c\nd"), "c d");
    assert_eq!(markdown::cell(r"\"), r"\\");
    assert_eq!(markdown::code_span("`"), "`` ` ``");
    assert_eq!(
        markdown::code_block("a\n\n", "C++ `x`"),
        "```C++x\na\n\n```"
    );
    assert_eq!(markdown::block("~~~\na"), "~~~\na\n~~~");
    assert_eq!(markdown::block(CARD), "&lt;!-- kind:pattern-card:v1 -->");
}
