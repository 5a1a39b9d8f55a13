//! What becomes of arguments that have been checked.

use mcp_core::arguments::{ArgumentRule, Cast, CastValue, Date, Keys, Plan, Time, Undeclared};
use serde_json::{Value, json};

fn read(cast: Cast, text: &str) -> Option<CastValue<'_>> {
    cast.read(text, &String::new).ok()
}

fn time(hour: u8, minute: u8, second: u8, microsecond: u32, precision: u8) -> Time {
    Time {
        hour,
        minute,
        second,
        microsecond,
        precision,
    }
}

const fn date(year: u16, month: u8, day: u8) -> Date {
    Date { year, month, day }
}

#[test]
fn dates_are_days_of_the_calendar() {
    for (text, expected) in [
        ("2026-01-31", date(2026, 1, 31)),
        ("2024-02-29", date(2024, 2, 29)),
        ("2000-02-29", date(2000, 2, 29)),
        ("0000-12-31", date(0, 12, 31)),
    ] {
        assert_eq!(
            read(Cast::Date, text),
            Some(CastValue::Date(expected)),
            "{text}"
        );
    }
    for text in [
        "",
        "2026-02-29",
        "1900-02-29",
        "2026-04-31",
        "2026-13-01",
        "2026-00-01",
        "2026-01-00",
        "2026-1-1",
        "02026-01-1",
        "+026-01-01",
        "2026-01-31T",
        "2026/01/31",
        "٢٠٢٦-01-31",
    ] {
        assert_eq!(read(Cast::Date, text), None, "{text}");
    }
}

#[test]
fn times_have_no_offset_but_z() {
    for (text, expected) in [
        ("09:30", time(9, 30, 0, 0, 0)),
        ("23:59:59", time(23, 59, 59, 0, 0)),
        ("09:30:00.5Z", time(9, 30, 0, 500_000, 1)),
        ("09:30:00.1234567", time(9, 30, 0, 123_456, 6)),
        ("00:00:00z", time(0, 0, 0, 0, 0)),
    ] {
        assert_eq!(
            read(Cast::Time, text),
            Some(CastValue::Time(expected)),
            "{text}"
        );
    }
    for text in [
        "24:00",
        "09:60",
        "09:30:60",
        "9:30",
        "09:30.5",
        "09:30:00.",
        "09:30:00+00:00",
        "09:30:00:00",
        "Z",
    ] {
        assert_eq!(read(Cast::Time, text), None, "{text}");
    }
}

#[test]
fn date_times_are_in_utc() {
    let at = |date, time| Some(CastValue::DateTime(date, time));
    let noon = time(12, 0, 0, 0, 0);
    for (text, expected) in [
        ("2026-01-31T12:00:00Z", at(date(2026, 1, 31), noon)),
        ("2026-01-31t12:00:00z", at(date(2026, 1, 31), noon)),
        ("2026-01-31T13:30:00+01:30", at(date(2026, 1, 31), noon)),
        (
            "2026-01-01T00:30:00+01:00",
            at(date(2025, 12, 31), time(23, 30, 0, 0, 0)),
        ),
        (
            "2024-02-28T23:30:00-01:00",
            at(date(2024, 2, 29), time(0, 30, 0, 0, 0)),
        ),
        (
            "2025-12-31T23:30:00-01:00",
            at(date(2026, 1, 1), time(0, 30, 0, 0, 0)),
        ),
        (
            "2026-03-01T00:00:00+00:01",
            at(date(2026, 2, 28), time(23, 59, 0, 0, 0)),
        ),
    ] {
        assert_eq!(read(Cast::DateTime, text), expected, "{text}");
    }
    for text in [
        "2026-01-31",
        "2026-01-31T12:00:00",
        "2026-01-31T12:00:00+24:00",
        "2026-01-31T12:00:60Z",
        "0000-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-00:01",
        "Z",
        "+01:00",
        "é+01:00",
    ] {
        assert_eq!(read(Cast::DateTime, text), None, "{text}");
    }
    let local = Some(CastValue::NaiveDateTime(date(2026, 1, 31), noon));
    assert_eq!(read(Cast::NaiveDateTime, "2026-01-31T12:00:00"), local);
    assert_eq!(read(Cast::NaiveDateTime, "2026-01-31T12:00:00Z"), None);
}

#[test]
fn decimals_keep_their_digits() {
    for (text, is_negative, digits, exponent) in [
        ("12.50", false, "1250", -2),
        ("-0", true, "0", 0),
        ("+1e3", false, "1", 3),
        ("1.5E-3", false, "15", -4),
    ] {
        let Some(CastValue::Decimal(decimal)) = read(Cast::Decimal, text) else {
            panic!("{text}");
        };
        let read = (decimal.is_negative, decimal.digits(), decimal.exponent);
        assert_eq!(read, (is_negative, digits.to_owned(), exponent), "{text}");
    }
    let long = "9".repeat(1_001);
    for text in [
        "", ".5", "1.", "1,5", "--1", "1e", "1e1001", "NaN", "Infinity", " 1", &long,
    ] {
        assert_eq!(read(Cast::Decimal, text), None, "{text}");
    }
}

#[test]
fn uris_are_absolute_and_in_parts() {
    let Some(CastValue::Uri(uri)) = read(Cast::Uri, "HTTPS://a:b@[::1]:8443/x?y#z") else {
        panic!("a URI");
    };
    assert_eq!(
        (uri.scheme.as_str(), uri.user_info, uri.host),
        ("https", Some("a:b"), Some("::1"))
    );
    assert_eq!(
        (uri.port, uri.path, uri.query, uri.fragment),
        (Some(8443), Some("/x"), Some("y"), Some("z"))
    );
    let Some(CastValue::Uri(uri)) = read(Cast::Uri, "urn:isbn:1") else {
        panic!("a URI");
    };
    assert_eq!((uri.host, uri.port, uri.path), (None, None, Some("isbn:1")));
    for text in ["/x", "x", "http://a b", "http://a:99999/", ""] {
        assert_eq!(read(Cast::Uri, text), None, "{text}");
    }
}

#[test]
fn a_problem_says_where_and_what() {
    let problem = Cast::Uuid.read("x", &|| "/id".to_owned()).unwrap_err();
    assert_eq!(
        problem.to_string(),
        "/id: must be a UUID such as 123e4567-e89b-12d3-a456-426614174000 (format)"
    );
    let upper = "123E4567-E89B-12D3-A456-426614174000";
    assert_eq!(
        read(Cast::Uuid, upper),
        Some(CastValue::Uuid(upper.to_lowercase()))
    );
    assert_eq!(
        read(Cast::Uuid, "123e4567-e89b-12d3-a456-42661417400g"),
        None
    );
}

fn rule(rule: Value) -> ArgumentRule {
    serde_json::from_value(rule).expect("a rule")
}

#[test]
fn a_plan_is_only_what_there_is_to_do() {
    let schema = json!({
        "type": "object",
        "properties": {
            "plain": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "rows": {"type": "array", "items": {"properties": {"on": {"type": "string"}}}},
            "refers": {"$ref": "#/$defs/d"},
            "either": {"anyOf": [{"properties": {"a": {"default": 1}}}]},
        },
        "$defs": {"d": {"properties": {"a": {"default": 1}}}},
    });
    let plan = Plan::of(&schema, None).unwrap().unwrap();
    let object = plan.root.object.unwrap();
    let names: Vec<&str> = object
        .members
        .iter()
        .map(|member| member.name.as_str())
        .collect();
    assert_eq!(names, ["limit"]);
    assert_eq!(
        (object.keys, object.undeclared, object.r#struct),
        (Keys::Strings, Undeclared::Pass, None)
    );

    let dates =
        rule(json!({"properties": {"rows": {"items": {"properties": {"on": {"cast": "date"}}}}}}));
    let plan = Plan::of(&schema, Some(&dates)).unwrap().unwrap();
    let members = plan.root.object.unwrap().members;
    let rows = members.iter().find(|member| member.name == "rows").unwrap();
    let row = rows.place.as_ref().unwrap().items.as_ref().unwrap();
    let on = &row.object.as_ref().unwrap().members[0];
    assert_eq!(
        (on.name.as_str(), on.place.as_ref().unwrap().cast),
        ("on", Some(Cast::Date))
    );

    let plain = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(Plan::of(&plain, None), Ok(None));
    let atoms = Plan::of(&plain, Some(&rule(json!({"keys": "atoms"}))))
        .unwrap()
        .unwrap();
    assert_eq!(atoms.root.object.unwrap().members.len(), 1);
}

#[test]
fn numbers_are_integers_where_nothing_else_is_declared() {
    for (types, expected) in [
        (json!("integer"), true),
        (json!(["integer", "null"]), true),
        (json!(["integer", "number"]), false),
        (json!("number"), false),
    ] {
        let schema = json!({"properties": {"n": {"type": types, "default": 1}}});
        let plan = Plan::of(&schema, None).unwrap().unwrap();
        let member = &plan.root.object.unwrap().members[0];
        let is_integer = member.place.as_ref().is_some_and(|place| place.is_integer);
        assert_eq!(is_integer, expected, "{types}");
    }
}

#[test]
fn a_default_has_to_be_what_it_is_read_as() {
    let schema = json!({"properties": {"on/at": {"type": "array", "items": {}, "default": ["2026-01-31", "soon"]}}});
    let dates = rule(json!({"properties": {"on/at": {"items": {"cast": "date"}}}}));
    let refused = Plan::of(&schema, Some(&dates)).unwrap_err();
    assert_eq!(
        refused,
        "the schema is invalid: /properties/on~1at/default: must be a date such as 2026-01-31 (format)"
    );
}
