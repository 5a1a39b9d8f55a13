//! The response envelope: the golden files of document 002, the tables, and every rule from both sides.

// A test that fails should say so by panicking; indexing into a JSON value never does.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mcp_core::model::Envelope;
use mcp_core::results::envelope::{
    ERROR_CODES, ERROR_TYPES, FIDELITIES, Finding, Retry, Rules, SEVERITIES, SITUATIONS, VERSION,
    WARNING_CODES, advice, code_for, error_type, is_error_code, is_request_id, schema,
    severity_of_code, type_of_code,
};
use mcp_core::schema::SerdeJson;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::fixture;

fn errors(envelope: &Value) -> Vec<Finding> {
    Rules::<SerdeJson>::new().unwrap().errors(envelope)
}

fn advised(envelope: &Value) -> Vec<(String, String)> {
    let found = advice::<SerdeJson>(&envelope);
    found
        .into_iter()
        .map(|finding| (finding.pointer, finding.reason))
        .collect()
}

fn success(data: Value, meta: Value) -> Value {
    let mut all = json!({"version": VERSION});
    all.as_object_mut().unwrap().extend(object(meta));
    json!({"success": true, "data": data, "error": null, "meta": all})
}

fn failure(data: Value) -> Value {
    json!({"success": false, "data": data, "error": "Failed", "meta": {"version": VERSION}})
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("no object: {other}"),
    }
}

/// The one error of an envelope is at that place and of that keyword.
#[track_caller]
fn refuses(envelope: &Value, pointer: &str, keyword: &str) {
    let found = errors(envelope);
    let found: Vec<_> = found
        .iter()
        .map(|f| (f.pointer.as_str(), f.reason.as_str()))
        .collect();
    assert_eq!(found, [(pointer, keyword)], "{envelope}");
}

#[track_caller]
fn accepts(envelope: &Value) {
    assert_eq!(errors(envelope), [], "{envelope}");
}

/// With this meta entry an otherwise valid envelope is valid, or has its error there.
#[track_caller]
fn meta_entry(key: &str, good: &[Value], bad: &[(Value, &str, &str)]) {
    for value in good {
        accepts(&success(json!({}), json!({ key: value })));
    }
    for (value, place, keyword) in bad {
        let pointer = format!("/meta/{key}{place}");
        refuses(
            &success(json!({}), json!({ key: value })),
            &pointer,
            keyword,
        );
    }
}

const GOLDEN: [&str; 7] = [
    "s2-03-content-fidelity-example.json",
    "s2-06-error-response-example.json",
    "derived-s2-helper-feature-flag.json",
    "derived-s2-helper-missing-required.json",
    "derived-s2-helper-not-found.json",
    "derived-s2-helper-rate-limit.json",
    "derived-s2-success-empty.json",
];

#[test]
fn the_golden_envelopes_are_valid_and_survive_the_struct() {
    for name in GOLDEN {
        let Some(golden) = fixture(name) else { return };
        accepts(&golden);
        assert_eq!(advised(&golden), [], "{name}");
        let read: Envelope = serde_json::from_value(golden.clone()).unwrap();
        let written: Value = serde_json::from_slice(&read.encode()).unwrap();
        assert_eq!(written, golden, "{name}");
    }
}

#[test]
fn the_golden_failures_are_what_the_tables_make_of_their_code_and_data() {
    for name in GOLDEN
        .iter()
        .filter(|name| name.starts_with("derived-s2-helper"))
    {
        let Some(golden) = fixture(name) else { return };
        let mut data = object(golden["data"].clone());
        let code = data.remove("error_code").unwrap();
        data.remove("error_type");
        let made = Envelope::failure(golden["error"].as_str().unwrap(), code.as_str(), data);
        assert_eq!(Value::Object(made.data), golden["data"], "{name}");
    }
}

#[test]
fn s2_42_the_fragment_on_warning_details_holds_as_meta() {
    let Some(fragment) = fixture("s2-04-warning-details-schema.json") else {
        return;
    };
    let envelope = success(json!({}), fragment["meta"].clone());
    accepts(&envelope);
    assert_eq!(advised(&envelope), []);
}

#[test]
fn s2_01_all_four_keys_and_no_other() {
    let whole = success(json!({}), json!({}));
    accepts(&whole);
    for key in ["success", "data", "error", "meta"] {
        let mut less = object(whole.clone());
        less.remove(key);
        refuses(&Value::Object(less), "", "required");
    }
    let mut more = object(whole);
    more.insert("warnings".to_owned(), json!([]));
    refuses(&Value::Object(more), "/warnings", "additionalProperties");
    for other in [json!(null), json!([]), json!("x"), json!(1)] {
        refuses(&other, "", "type");
    }
}

#[test]
fn s2_02_s2_03_success_is_a_boolean_and_data_an_object() {
    let with = |key: &str, value: Value| {
        let mut envelope = object(success(json!({}), json!({})));
        envelope.insert(key.to_owned(), value);
        Value::Object(envelope)
    };
    for other in [json!(null), json!(1), json!("true")] {
        let found = errors(&with("success", other));
        assert!(
            found
                .iter()
                .any(|f| f.pointer == "/success" && f.reason == "type")
        );
    }
    for other in [json!(null), json!([]), json!("x")] {
        refuses(&with("data", other), "/data", "type");
    }
}

#[test]
fn s2_04_the_error_is_null_exactly_on_success() {
    let envelope = |success: bool, error: Value| json!({"success": success, "data": {}, "error": error, "meta": {"version": VERSION}});
    accepts(&envelope(true, Value::Null));
    accepts(&envelope(false, json!("x")));
    refuses(&envelope(true, json!("x")), "/error", "type");
    refuses(&envelope(false, Value::Null), "/error", "type");
    refuses(&envelope(false, json!("")), "/error", "pattern");
    refuses(&envelope(false, json!(" \n")), "/error", "pattern");
}

#[test]
fn s2_05_the_version_is_always_response_v2() {
    let envelope = |meta: Value| json!({"success": true, "data": {}, "error": null, "meta": meta});
    refuses(&envelope(json!({})), "/meta", "required");
    for other in [
        json!("response-v1"),
        json!("response-v2 "),
        json!(2),
        json!(null),
    ] {
        refuses(
            &envelope(json!({"version": other})),
            "/meta/version",
            "const",
        );
    }
}

#[test]
fn s2_07_s2_08_s2_32_ids_and_lists_of_texts() {
    let pattern = "pattern";
    meta_entry(
        "request_id",
        &[json!("req_abc123"), json!("A-z_09")],
        &[
            (json!(""), "", pattern),
            (json!("a b"), "", pattern),
            (json!("a\n"), "", pattern),
            (json!(1), "", "type"),
        ],
    );
    for key in ["warnings", "dropped_content_ids"] {
        meta_entry(
            key,
            &[json!(["a", "b"])],
            &[
                (json!([1]), "/0", "type"),
                (json!("a"), "", "type"),
                (json!(null), "", "type"),
            ],
        );
    }
    meta_entry(
        "content_archive_hashes",
        &[json!({"a": "sha256:00"})],
        &[(json!({"a": 1}), "/a", "type"), (json!([]), "", "type")],
    );
}

#[test]
fn s2_09_pagination() {
    meta_entry(
        "pagination",
        &[
            json!({"cursor": "x", "has_more": true, "total_count": 0, "page_size": 1, "page": 1, "own": []}),
            json!({"cursor": null}),
        ],
        &[
            (json!({"cursor": 1}), "/cursor", "type"),
            (json!({"has_more": "yes"}), "/has_more", "type"),
            (json!({"total_count": -1}), "/total_count", "minimum"),
            (json!({"total_count": 1.5}), "/total_count", "type"),
            (json!({"page_size": 0}), "/page_size", "minimum"),
            (json!({"page": 0}), "/page", "minimum"),
            (json!([]), "", "type"),
        ],
    );
    let page = |size: u64| success(json!({}), json!({"pagination": {"page_size": size}}));
    assert_eq!(advised(&page(1_000)), []);
    let large = (
        "/meta/pagination/page_size".to_owned(),
        "large_page".to_owned(),
    );
    assert_eq!(advised(&page(1_001)), [large]);
}

#[test]
fn s2_10_s2_11_rate_limit_and_telemetry() {
    meta_entry(
        "rate_limit",
        &[
            json!({"limit": 100, "remaining": 0, "period": "minute", "retry_after": 1.5, "own": 1}),
            json!({"reset_at": "2025-11-26T12:00:00Z"}),
            json!({"reset_at": "2025-11-26T12:00:00.123+01:00"}),
        ],
        &[
            (json!({"limit": -1}), "/limit", "minimum"),
            (json!({"remaining": "1"}), "/remaining", "type"),
            (
                json!({"reset_at": "2025-11-26T12:00:00"}),
                "/reset_at",
                "pattern",
            ),
            (json!({"reset_at": 1}), "/reset_at", "type"),
            (json!({"retry_after": -1}), "/retry_after", "minimum"),
        ],
    );
    meta_entry(
        "telemetry",
        &[json!({"duration_ms": 0, "downstream_calls": 3, "cache_hit": false, "own": {}})],
        &[
            (json!({"duration_ms": -0.1}), "/duration_ms", "minimum"),
            (
                json!({"downstream_calls": 1.5}),
                "/downstream_calls",
                "type",
            ),
            (json!({"cache_hit": 1}), "/cache_hit", "type"),
        ],
    );
}

#[test]
fn s2_12_what_belongs_into_meta_is_noticed_at_the_top_of_data() {
    for key in [
        "pagination",
        "warnings",
        "request_id",
        "telemetry",
        "rate_limit",
    ] {
        let misplaced = (format!("/data/{key}"), "reserved_key".to_owned());
        assert_eq!(
            advised(&success(json!({ key: null }), json!({}))),
            [misplaced]
        );
    }
    assert_eq!(
        advised(&success(json!({"spec": {"warnings": []}}), json!({}))),
        []
    );
}

#[test]
fn s2_06_what_is_empty_should_be_left_out() {
    for (key, empty) in [
        ("warnings", json!([])),
        ("pagination", json!({})),
        ("telemetry", json!({})),
    ] {
        let envelope = success(json!({}), json!({ key: empty }));
        accepts(&envelope);
        assert_eq!(
            advised(&envelope),
            [(format!("/meta/{key}"), "empty".to_owned())]
        );
    }
}

#[test]
fn s2_30_s2_33_fidelity() {
    let good: Vec<Value> = FIDELITIES.iter().map(|level| json!(level)).collect();
    meta_entry(
        "content_fidelity",
        &good,
        &[(json!("most"), "", "enum"), (json!(null), "", "enum")],
    );
    assert_eq!(FIDELITIES, ["full", "partial", "summary", "reference_only"]);

    let of = |meta: Value| advised(&success(json!({}), meta));
    let version = json!("1.0");
    assert_eq!(of(json!({"content_fidelity": "full"})), []);
    assert_eq!(
        of(json!({"content_fidelity": "partial", "content_fidelity_schema_version": version})),
        []
    );
    let missing = (
        "/meta/content_fidelity_schema_version".to_owned(),
        "missing".to_owned(),
    );
    assert_eq!(of(json!({"content_fidelity": "summary"})), [missing]);
    let dropped = (
        "/meta/content_fidelity".to_owned(),
        "dropped_content".to_owned(),
    );
    assert_eq!(
        of(json!({"dropped_content_ids": ["a"]})),
        std::slice::from_ref(&dropped)
    );
    assert_eq!(
        of(json!({"dropped_content_ids": ["a"], "content_fidelity": "full"})),
        [dropped]
    );
}

#[test]
fn s2_40_s2_43_warning_details() {
    meta_entry(
        "warning_details",
        &[
            json!([{"message": "m"}]),
            json!([{"message": "m", "code": "OWN", "severity": "error", "context": {}, "x": 1}]),
        ],
        &[
            (json!([{"code": "STALE_CACHE"}]), "/0", "required"),
            (json!([{"message": ""}]), "/0/message", "pattern"),
            (
                json!([{"message": "m", "severity": "fatal"}]),
                "/0/severity",
                "enum",
            ),
            (
                json!([{"message": "m", "context": []}]),
                "/0/context",
                "type",
            ),
        ],
    );
    assert_eq!(SEVERITIES, ["info", "warning", "error"]);
    let bare = success(json!({}), json!({"warning_details": [{"message": "m"}]}));
    let place = |key: &str| {
        (
            format!("/meta/warning_details/0/{key}"),
            "missing".to_owned(),
        )
    };
    assert_eq!(advised(&bare), [place("code"), place("severity")]);
}

#[test]
fn s2_42_the_standard_warning_codes() {
    let table = [
        ("CONTENT_TRUNCATED", "info"),
        ("STALE_CACHE", "warning"),
        ("PARTIAL_FAILURE", "warning"),
        ("DEPRECATED_FIELD", "info"),
        ("RATE_LIMIT_APPROACHING", "warning"),
        ("FALLBACK_USED", "info"),
    ];
    assert_eq!(WARNING_CODES, table);
    for (code, severity) in table {
        assert_eq!(severity_of_code(code), Some(severity));
    }
    assert_eq!(severity_of_code("OWN"), None);
}

#[test]
fn s2_50_s2_53_the_fields_of_an_error() {
    let data = json!({"error_code": "OWN_CODE2", "error_type": "internal", "remediation": "r", "details": {"x": null}});
    accepts(&failure(data));
    for (key, value, keyword) in [
        ("error_code", json!("own_code"), "pattern"),
        ("error_code", json!("A__B"), "pattern"),
        ("error_code", json!(1), "type"),
        ("error_type", json!("ai_provider"), "enum"),
        ("remediation", json!(null), "type"),
        ("details", json!([]), "type"),
    ] {
        refuses(
            &failure(json!({ key: value })),
            &format!("/data/{key}"),
            keyword,
        );
    }
    let place = |key: &str| (format!("/data/{key}"), "missing".to_owned());
    assert_eq!(
        advised(&failure(json!({}))),
        ["error_code", "error_type", "remediation"].map(place)
    );
    let other = json!({"error_code": "NOT_FOUND", "error_type": "validation", "remediation": "r"});
    assert_eq!(
        advised(&failure(other)),
        [("/data/error_type".to_owned(), "other_type".to_owned())]
    );
    // Of a success these are the user's own keys.
    accepts(&success(json!({"error_code": 1}), json!({})));
}

#[test]
fn s2_08_warnings_are_for_successes() {
    let mut envelope =
        failure(json!({"error_code": "CONFLICT", "error_type": "conflict", "remediation": "r"}));
    envelope["meta"]["warnings"] = json!(["w"]);
    accepts(&envelope);
    assert_eq!(
        advised(&envelope),
        [("/meta/warnings".to_owned(), "unexpected".to_owned())]
    );
}

#[test]
fn s2_51_the_error_types() {
    use Retry::{AfterDelay, Backoff, Maybe, No};
    let table = [
        ("validation", 400, No),
        ("authentication", 401, No),
        ("authorization", 403, No),
        ("not_found", 404, No),
        ("conflict", 409, Maybe),
        ("rate_limit", 429, AfterDelay),
        ("feature_flag", 403, No),
        ("internal", 500, Backoff),
        ("unavailable", 503, Backoff),
    ];
    let ours: Vec<_> = ERROR_TYPES
        .iter()
        .map(|kind| (kind.name, kind.status, kind.retry))
        .collect();
    assert_eq!(ours, table);
    assert_eq!(error_type("ai_provider"), None);
    for kind in ERROR_TYPES {
        assert_eq!(
            type_of_code(kind.code),
            Some(kind),
            "the code of a type is of that type"
        );
        assert!(!kind.remediation.is_empty());
    }
}

#[test]
fn s2_52_the_error_codes() {
    let table = [
        ("VALIDATION_ERROR", "validation"),
        ("INVALID_FORMAT", "validation"),
        ("MISSING_REQUIRED", "validation"),
        ("NOT_FOUND", "not_found"),
        ("SPEC_NOT_FOUND", "not_found"),
        ("TASK_NOT_FOUND", "not_found"),
        ("DUPLICATE_ENTRY", "conflict"),
        ("CONFLICT", "conflict"),
        ("UNAUTHORIZED", "authentication"),
        ("FORBIDDEN", "authorization"),
        ("FEATURE_DISABLED", "feature_flag"),
        ("RATE_LIMIT_EXCEEDED", "rate_limit"),
        ("INTERNAL_ERROR", "internal"),
        ("UNAVAILABLE", "unavailable"),
    ];
    assert_eq!(ERROR_CODES, table);
    for (code, kind) in table {
        assert_eq!(type_of_code(code).map(|kind| kind.name), Some(kind));
    }
    assert_eq!(type_of_code("OWN"), None);
}

#[test]
fn every_situation_has_a_code_of_the_table() {
    for (situation, code) in SITUATIONS {
        assert_eq!(code_for(situation), Some(*code));
        assert!(type_of_code(code).is_some(), "{situation}");
    }
    assert_eq!(code_for("else"), None);
}

#[test]
fn what_is_found_is_bounded_and_shows_no_value() {
    let many: Vec<Value> = (0..100).map(|_| json!({"severity": "secret"})).collect();
    let found = errors(&success(
        json!({}),
        json!({"warning_details": many, "request_id": "secret value"}),
    ));
    assert_eq!(found.len(), 20);
    assert!(
        found
            .iter()
            .all(|finding| !finding.message.contains("secret"))
    );
    let many: Vec<Value> = (0..100).map(|_| json!({"message": "m"})).collect();
    assert_eq!(
        advised(&success(json!({}), json!({ "warning_details": many }))).len(),
        20
    );
}

#[test]
fn the_schema_is_one_that_hosts_take_for_an_output() {
    assert_eq!(schema()["type"], "object");
    assert_eq!(schema()["additionalProperties"], false);
}

#[test]
fn m_04_the_struct_writes_four_keys_in_their_order() {
    let failed = Envelope::failure("No", None, Map::new());
    let text = String::from_utf8(failed.encode()).unwrap();
    assert_eq!(
        text,
        r#"{"success":false,"data":{"error_code":"INTERNAL_ERROR","error_type":"internal","remediation":"Call again later, with growing pauses."},"error":"No","meta":{"version":"response-v2"}}"#
    );
    assert!(serde_json::from_value::<Envelope>(json!([true, {}, null, {}])).is_err());
}

fn word() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop::sample::select(vec!['A', 'Z', 'a', '0', '9', '_', '-', ' ', '"', 'é', '\n']),
        0..8,
    )
    .prop_map(|letters| letters.into_iter().collect())
}

proptest! {
    #[test]
    fn the_patterns_of_the_schema_and_the_functions_agree(text in word()) {
        let id = errors(&success(json!({}), json!({"request_id": text})));
        prop_assert_eq!(id.is_empty(), is_request_id(&text));
        let code = errors(&failure(json!({"error_code": text})));
        prop_assert_eq!(code.is_empty(), is_error_code(&text));
    }

    #[test]
    fn whatever_is_made_here_is_valid(message in "[a-z]{1,9}", code in prop::option::of(0..ERROR_CODES.len()), keys in prop::collection::vec("[a-z_]{0,9}", 0..5)) {
        let data: Map<String, Value> = keys.into_iter().map(|key| (key, Value::Null)).collect();
        let rules = Rules::<SerdeJson>::new().unwrap();
        let envelopes = [
            Envelope::success(data.clone()),
            Envelope::failure(&message, code.map(|code| ERROR_CODES[code].0), Map::new()),
        ];
        for envelope in envelopes {
            let value: Value = serde_json::from_slice(&envelope.encode()).unwrap();
            prop_assert!(rules.is_valid(&value));
            prop_assert_eq!(value["error"].is_null(), value["success"] == true);
        }
    }
}
