//! Presentations: the rules, one by one, and what holds for any text.

mod properties;

use mcp_core::results::presentation::extraction::{Finding, NotFound, reason};
use mcp_core::results::presentation::format::{Format, UnknownFormat};
use mcp_core::results::presentation::kind::{Kind, MalformedKind, Verdict, judge};
use mcp_core::results::presentation::markers::{
    Contract, Mismatch, count, escape, is_name, marker,
};
use mcp_core::results::presentation::needs_input::{self, grouped};
use mcp_core::results::presentation::provenance::{holds_secret, is_secret_name, names_local_path};
use mcp_core::results::presentation::search::{is_empty_query, is_too_broad, rendered_cards};
use mcp_core::results::presentation::summary::summarize;
use mcp_core::results::presentation::tool_error::{self, Code, of_reason, of_status};
use mcp_core::results::presentation::{MAX_OUTPUT_BYTES, markdown, search};
use serde_json::Value;

use super::fixture;

const CARD: &str = "<!-- kind:pattern-card:v1 -->";

/// S0-05 to S0-08.
#[test]
fn a_format_says_which_blocks_there_are() {
    let blocks =
        |given| Format::resolve(given).map(|format| (format.has_markdown(), format.has_json()));
    assert_eq!(blocks(None), Ok((true, false)));
    assert_eq!(blocks(Some("markdown")), Ok((true, false)));
    assert_eq!(blocks(Some("json")), Ok((false, true)));
    assert_eq!(blocks(Some("both")), Ok((true, true)));
    for name in ["", "JSON", " json", "html", "both\n"] {
        assert_eq!(blocks(Some(name)), Err(UnknownFormat), "{name:?}");
    }
    assert!(!UnknownFormat.to_string().contains("html"));
}

/// S0-15, S0-16.
#[test]
fn a_kind_is_a_name_and_a_version() {
    let kind = |name, version| Ok(Kind { name, version });
    assert_eq!(Kind::parse("needsInput:v1"), kind("needsInput", 1));
    assert_eq!(Kind::parse("a-b_c:v4294967295"), kind("a-b_c", u32::MAX));
    for text in [
        "",
        "a",
        "a:",
        "a:1",
        "a:v",
        "a:v0",
        "a:v01",
        "a:v1 ",
        "a:v+1",
        ":v1",
        "1:v1",
        "é:v1",
        "a:v4294967296",
        "a:v1:v2",
    ] {
        assert_eq!(Kind::parse(text), Err(MalformedKind), "{text:?}");
    }
    let known = ["a:v1", "b:v2"];
    assert_eq!(judge("b:v2", known), Verdict::Known);
    assert_eq!(judge("b:v3", known), Verdict::OtherVersion("b:v2"));
    assert_eq!(judge("c:v1", known), Verdict::Unknown);
    assert_eq!(judge("no kind", known), Verdict::Unknown);
}

/// S0-29, S0-30, RES-60.
#[test]
fn a_marker_counts_alone_on_its_line_and_outside_of_code() {
    assert_eq!(marker("pattern-card", "v1"), CARD);
    assert!(is_name("pattern-card") && is_name("v1.2_a"));
    assert!(!is_name("") && !is_name("a b") && !is_name("a-->") && !is_name("é"));
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

/// S0-32, S0-33.
#[test]
fn a_text_keeps_its_contract_or_says_what_it_breaks() {
    let check = |index, cards, rendered| {
        let contract = Contract {
            index,
            cards,
            rendered,
        };
        contract.check()
    };
    assert_eq!(check(0, 0, 0), Ok(()));
    assert_eq!(check(1, 3, 3), Ok(()));
    assert_eq!(
        check(1, 2, 3),
        Err(Mismatch::Cards {
            cards: 2,
            rendered: 3
        })
    );
    assert_eq!(check(2, 3, 3), Err(Mismatch::Index(2)));
}

/// S3-13 and the rest of what is written around text of others.
#[test]
fn text_of_others_stays_where_it_is_put() {
    assert_eq!(markdown::line("a\u{2028}\r\n\tb  c "), "a b  c");
    assert_eq!(markdown::row(["a|b", "c\nd", r"\"]), r"| a\|b | c d | \\ |");
    assert_eq!(markdown::code_span("`"), "`` ` ``");
    assert_eq!(
        markdown::code_block("a\n\n", "C++ `x`"),
        "```C++x\na\n\n```"
    );
    assert_eq!(markdown::block("~~~\na"), "~~~\na\n~~~");
    assert_eq!(markdown::block(CARD), "&lt;!-- kind:pattern-card:v1 -->");
}

/// S0-34 to S0-36, RES-01, RES-59.
#[test]
fn a_search_asks_back_or_shows_some_of_what_it_found() {
    for query in [None, Some(""), Some(" \t\n"), Some("\u{3000}")] {
        assert!(is_empty_query(query), "{query:?}");
    }
    assert!(!is_empty_query(Some(" x ")));
    assert!(!is_too_broad(20, false, search::TOO_BROAD));
    assert!(is_too_broad(21, false, search::TOO_BROAD));
    assert!(!is_too_broad(1_000, true, search::TOO_BROAD));
    assert_eq!(rendered_cards(2, search::CARDS, Format::Both), 2);
    assert_eq!(rendered_cards(4, search::CARDS, Format::Markdown), 3);
    assert_eq!(rendered_cards(20, 10, Format::Markdown), 10);
    assert_eq!(rendered_cards(20, 11, Format::Markdown), 10);
    assert_eq!(rendered_cards(20, 11, Format::Json), 0);
    assert_eq!(MAX_OUTPUT_BYTES, 1_048_576);
}

/// S0-51.
#[test]
fn a_summary_is_cut_at_a_space_where_there_is_one_late_enough() {
    let words =
        |first: usize, second: usize| format!("{} {}", "a".repeat(first), "b".repeat(second));
    assert_eq!(summarize(&"é".repeat(200)), "é".repeat(200));
    assert_eq!(summarize(&"é".repeat(201)), "é".repeat(200) + "...");
    assert_eq!(summarize(&words(161, 50)), "a".repeat(161) + "...");
    assert_eq!(summarize(&words(160, 50)), words(160, 39) + "...");
    // The space has to be among the first 200 characters.
    assert_eq!(summarize(&words(200, 5)), "a".repeat(200) + "...");
    assert_eq!(summarize(&words(199, 5)), "a".repeat(199) + "...");
}

/// S0-57.
#[test]
fn where_data_is_from_says_nothing_of_this_machine() {
    for text in [
        "/x", "a /x", "C:/x", r"c:\x", "file:x", "~/x", r"\\h\s", "at:/x", "(/x)",
    ] {
        assert!(names_local_path(text), "{text}");
    }
    for text in ["", "/", "x/y", "a/b c", "https://h/x", "ab:/", "é:/"] {
        assert!(!names_local_path(text), "{text}");
    }
    for text in ["bearer x", "Authorization:x", "a://u:p@h", "-----BEGIN RSA"] {
        assert!(holds_secret(text), "{text}");
    }
    for text in ["bearer", "a://h:1/x", "a://u@h", "a://h/u:p@x", "sk-"] {
        assert!(!holds_secret(text), "{text}");
    }
    assert!(is_secret_name("API-KEY") && is_secret_name("my_Token") && !is_secret_name("key"));
}

/// S0-63.
#[test]
fn options_of_one_field_stand_together() {
    assert_eq!(grouped(&[], &[]), Vec::<usize>::new());
    let options = [Some("b"), None, Some("a"), Some("x"), Some("b"), Some("a")];
    assert_eq!(grouped(&["a", "b"], &options), [2, 5, 0, 4, 1, 3]);
}

/// S0-71, S0-72.
#[test]
fn failures_have_one_of_six_codes() {
    for code in Code::ALL {
        assert_eq!(Code::parse(code.name()), Some(code));
    }
    assert_eq!(Code::parse("network_error"), None);
    for (statuses, code, retryable) in [
        (500..=u16::MAX, Code::Server, true),
        (404..=404, Code::NotFound, false),
        (401..=401, Code::Authentication, false),
        (403..=403, Code::Authentication, false),
        (429..=429, Code::Client, true),
        (400..=400, Code::Client, false),
        (405..=428, Code::Client, false),
        (430..=499, Code::Client, false),
        (0..=399, Code::Unknown, false),
    ] {
        for status in statuses {
            let classified = of_status(status);
            assert_eq!(
                (classified.code, classified.retryable),
                (code, retryable),
                "{status}"
            );
        }
    }
    let unknown = of_reason("Timeout");
    assert_eq!((unknown.code, unknown.retryable), (Code::Unknown, false));
}

/// Every situation that an envelope has a code for means the same as a tool error.
#[test]
fn situations_of_envelopes_are_known() {
    for (situation, _) in mcp_core::results::envelope::SITUATIONS {
        let code = of_reason(situation).code;
        assert!(code != Code::Unknown || *situation == "bug", "{situation}");
    }
}

/// S0-75.
#[test]
fn a_result_without_data_says_why() {
    let nothing = NotFound::Nothing;
    assert_eq!(reason([Finding::Other, Finding::Other]), nothing);
    assert_eq!(
        nothing.to_string(),
        "No structured JSON content block found (or schema mismatch)."
    );
    let findings = [
        Finding::Other,
        Finding::Mismatch("a:v1"),
        Finding::UnknownKind("b:v1"),
    ];
    assert_eq!(reason(findings), NotFound::Mismatch("a:v1"));
}

/// S0-60, S0-70: the documents' own schemas.
#[test]
fn the_two_kinds_of_every_server_look_as_documented() {
    for schema in [needs_input::SCHEMA, tool_error::SCHEMA] {
        assert!(serde_json::from_str::<Value>(schema).is_ok());
    }
    let Some(all) = fixture("schemas/tool-structured-content.schema.json") else {
        return;
    };
    for (kind, schema) in [
        (needs_input::KIND, needs_input::SCHEMA),
        (tool_error::KIND, tool_error::SCHEMA),
    ] {
        let documented = all["oneOf"].as_array().and_then(|kinds| {
            kinds
                .iter()
                .find(|candidate| candidate["properties"]["kind"]["const"] == kind)
        });
        assert_eq!(
            documented,
            serde_json::from_str(schema).ok().as_ref(),
            "{kind}"
        );
    }
}
