//! The keyword `format`, asserted.

use mcp_core::schema::{Formats, SchemaError, SchemaOptions, SerdeJson, Validator, compile_with};
use serde_json::{Value, json};

use super::on_stack;

fn compile(schema: &Value, formats: Formats) -> Result<Validator<SerdeJson>, SchemaError> {
    let options = SchemaOptions {
        formats,
        ..SchemaOptions::default()
    };
    on_stack(64 << 20, || {
        compile_with(schema.to_string().as_bytes(), &options)
    })
}

// req: M16
#[test]
fn each_format_says_what_it_looks_like() {
    let cases = [
        ("date", "a date such as 2026-01-31"),
        (
            "date-time",
            "a date and time with an offset such as 2026-01-31T09:30:00Z",
        ),
        ("duration", "a duration such as PT1H30M"),
        ("email", "an e-mail address such as name@example.com"),
        ("hostname", "a host name such as example.com"),
        ("ipv4", "an IPv4 address such as 192.0.2.1"),
        ("ipv6", "an IPv6 address such as 2001:db8::1"),
        ("iri", "an absolute IRI such as https://example.com/path"),
        (
            "iri-reference",
            "an IRI or a relative reference such as ../path",
        ),
        ("json-pointer", "a JSON Pointer such as /items/0"),
        ("regex", "a regular expression of ECMA-262"),
        (
            "relative-json-pointer",
            "a relative JSON Pointer such as 1/items",
        ),
        ("time", "a time with an offset such as 09:30:00Z"),
        ("uri", "an absolute URI such as https://example.com/path"),
        (
            "uri-reference",
            "a URI or a relative reference such as ../path",
        ),
        ("uri-template", "a URI template such as /users/{id}"),
        (
            "uuid",
            "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
        ),
    ];
    assert!(Formats::known().eq(cases.iter().map(|(name, _)| *name)));
    for (format, words) in cases {
        let validator = compile(&json!({"format": format}), Formats::Assert).unwrap();
        // The example in the words has the format; this has none of them.
        let example = words.rsplit(' ').next().unwrap();
        assert!(validator.is_valid(&json!(example)), "{format}: {example}");
        let problems = validator.check(&json!("\u{0} ({[\\")).unwrap_err();
        assert_eq!(
            problems[0].to_string(),
            format!("(root): must be {words} (format)")
        );
        assert!(validator.is_valid(&json!(1)), "only strings have a format");
    }
}

#[test]
fn formats_are_asserted_as_asked_for() {
    let schema = json!({"properties": {
        "on": {"format": "date"}, "from": {"format": "ipv4"}, "own": {"format": "colour"}, "idn": {"format": "idn-email"},
    }});
    let wrong = |name: &str| json!({name: "x"});
    let refused = |formats: Formats| {
        let validator = compile(&schema, formats).unwrap();
        let names = ["on", "from", "own", "idn"];
        let names = names
            .into_iter()
            .filter(|name| !validator.is_valid(&wrong(name)));
        names.collect::<Vec<_>>()
    };
    assert_eq!(refused(Formats::Annotate), [""; 0]);
    assert_eq!(refused(Formats::Assert), ["on", "from"]);
    assert_eq!(refused(Formats::Only(vec!["date".to_owned()])), ["on"]);
    assert_eq!(refused(Formats::Only(Vec::new())), [""; 0]);
    let error = compile(&schema, Formats::Only(vec!["dat".to_owned()])).unwrap_err();
    assert_eq!(error.kind(), "unknown_format");
    assert!(
        error
            .to_string()
            .starts_with(r#"unknown format "dat"; known are date, date-time, duration, email, "#),
        "{error}"
    );
}

#[test]
fn formats_of_later_drafts_are_annotations_in_earlier_ones() {
    let schema = |draft: &str| json!({"$schema": draft, "format": "uuid"});
    let draft7 = compile(
        &schema("http://json-schema.org/draft-07/schema#"),
        Formats::Assert,
    );
    assert!(draft7.unwrap().is_valid(&json!("x")));
    let newest = compile(
        &schema("https://json-schema.org/draft/2020-12/schema"),
        Formats::Assert,
    );
    assert!(!newest.unwrap().is_valid(&json!("x")));
}

// req: Y3
#[test]
fn the_format_of_regular_expressions_is_checked_in_linear_time() {
    let validator = compile(&json!({"format": "regex"}), Formats::Assert).unwrap();
    for (pattern, valid) in [
        ("(a{1000}){1000}".to_owned(), true),
        (r"(\p{L}{100}){100}".to_owned(), true),
        ("(".repeat(100_000), false),
        (
            format!("{}a{}", "(".repeat(100_000), ")".repeat(100_000)),
            true,
        ),
        ("a|".repeat(100_000), true),
    ] {
        let is_valid = on_stack(320 * 1024, || validator.is_valid(&json!(pattern)));
        assert_eq!(is_valid, valid);
    }
}

const TOO_LONG: &str =
    "(root): must be a value simple enough to be checked against the schema (schema)";

/// The steps of a check of `text`, whose format is valid.
fn steps(format: &str, text: &str) -> u64 {
    let validator = compile(&json!({"format": format}), Formats::Assert).unwrap();
    let meter = validator.meter(u64::MAX);
    let value = json!(text);
    assert_eq!(validator.verdict_by(&value, &meter), Some(true), "{format}");
    meter.spent()
}

// req: Y3
#[test]
fn a_string_costs_what_its_format_costs() {
    // A step, and four times as much as reading 1,600 bytes; for the regular expression 128 times.
    assert_eq!(steps("regex", &"a".repeat(1_600)), 1 + 128 * 100);
    for (format, text) in [
        ("json-pointer", "/a".repeat(800)),
        ("uri-template", "{a}b".repeat(400)),
        ("uri-reference", "ab".repeat(800)),
        ("iri-reference", "ab".repeat(800)),
        ("relative-json-pointer", "11".repeat(800)),
    ] {
        assert_eq!(steps(format, &text), 1 + 4 * 100, "{format}");
    }
    // An annotation reads no string.
    assert_eq!(steps("colour", &"a".repeat(1_600)), 0);
}

// req: Y3
#[test]
fn a_regular_expression_of_250_000_bytes_exceeds_the_steps_of_a_check() {
    let validator = compile(&json!({"format": "regex"}), Formats::Assert).unwrap();
    assert!(validator.is_valid(&json!("a".repeat(249_999))));
    let problems = validator.check(&json!("a".repeat(250_000))).unwrap_err();
    assert_eq!(problems[0].to_string(), TOO_LONG);
}

fn named_groups(count: usize, more: &str) -> Value {
    let group = |index| format!("(?<n{index}>a){more}").replace('#', &format!("n{index}"));
    json!((0..count).map(group).collect::<String>())
}

// The parser compares the names of groups with each other.
// req: Y3
#[test]
fn a_regular_expression_with_very_many_names_exceeds_the_steps_of_a_check() {
    let validator = compile(&json!({"format": "regex"}), Formats::Assert).unwrap();
    for (more, count) in [("", 60), (r"\k<#>", 40), ("(a)(b)(c)", 50)] {
        assert_eq!(
            validator.check(&named_groups(count, more)),
            Ok(()),
            "{more}"
        );
        let problems = validator.check(&named_groups(4_000, more)).unwrap_err();
        assert_eq!(problems[0].to_string(), TOO_LONG, "{more}");
    }
    // Whoever checks it with fewer steps is told to do it again elsewhere.
    assert_eq!(validator.verdict(&named_groups(4_000, ""), 1_000), None);
}

// req: Y3
#[test]
fn names_that_must_have_a_format_are_counted() {
    let schema = json!({"propertyNames": {"format": "regex"}});
    let validator = compile(&schema, Formats::Assert).unwrap();
    let object = |bytes| json!({"a".repeat(bytes): 1});
    assert!(validator.is_valid(&object(200_000)));
    assert!(!validator.is_valid(&object(260_000)));
    let unasserted = compile(&schema, Formats::Annotate).unwrap();
    assert!(unasserted.is_valid(&object(260_000)));
}
