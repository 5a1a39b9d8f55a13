//! What has changed between two snapshots. The messages are asserted through `mix mcp.breaking`.

use mcp_core::schema::SchemaLimits;
use mcp_lint::breaking::{Change, Level, compare, snapshot};
use serde_json::{Value, json};

fn found(old: &Value, new: &Value) -> Vec<Change> {
    let (old, new) = (old.to_string(), new.to_string());
    let found = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let run = || compare(old.as_bytes(), new.as_bytes(), &SchemaLimits::default());
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    });
    found.unwrap()
}

fn changes(old: &Value, new: &Value) -> Vec<(Level, &'static str)> {
    let found = found(old, new).into_iter();
    found.map(|found| (found.level, found.code)).collect()
}

/// What is told of two tools.
fn told(old: Value, new: Value) -> Vec<String> {
    let found = found(&tool(old), &tool(new)).into_iter();
    let lines = found.map(|found| {
        let example = found
            .example
            .map_or_else(String::new, |text| format!(" e.g. {text}"));
        format!(
            "{}: {} [{}]{example}",
            found.level.as_str(),
            found.message,
            found.code
        )
    });
    lines.collect()
}

fn tool(members: Value) -> Value {
    json!({"mcpSnapshot": 1, "tools": {"t": members}})
}

fn inputs(old: &Value, new: &Value) -> Vec<(Level, &'static str)> {
    changes(
        &tool(json!({"inputSchema": old})),
        &tool(json!({"inputSchema": new})),
    )
}

fn outputs(old: &Value, new: &Value) -> Vec<(Level, &'static str)> {
    changes(
        &tool(json!({"outputSchema": old})),
        &tool(json!({"outputSchema": new})),
    )
}

#[test]
fn input_may_widen_and_output_may_narrow() {
    let wide = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    let narrow = json!({"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}});
    assert_eq!(
        inputs(&wide, &narrow),
        [(Level::Breaking, "input_narrowed")]
    );
    assert_eq!(
        inputs(&narrow, &wide),
        [(Level::Compatible, "input_widened")]
    );
    assert_eq!(
        outputs(&wide, &narrow),
        [(Level::Compatible, "output_narrowed")]
    );
    assert_eq!(
        outputs(&narrow, &wide),
        [(Level::Breaking, "output_widened")]
    );
}

#[test]
fn a_schema_written_in_other_words_is_no_change() {
    let one = json!({"type": "object", "properties": {"a": {"enum": ["x"]}}, "description": "One"});
    let other =
        json!({"type": "object", "properties": {"a": {"const": "x"}}, "description": "Other"});
    assert_eq!(inputs(&one, &other), []);
    assert_eq!(outputs(&one, &other), []);
}

#[test]
fn what_is_not_known_is_said() {
    let pattern = |pattern: &str| json!({"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}});
    assert_eq!(
        inputs(&pattern("^ab"), &pattern("^a")),
        [(Level::Unknown, "input_unknown")]
    );
    assert_eq!(
        outputs(&pattern("^a"), &pattern("^ab")),
        [(Level::Unknown, "output_unknown")]
    );
    // A snapshot that was edited by hand.
    assert_eq!(
        inputs(&json!({"type": "objekt"}), &json!({"type": "object"})),
        [(Level::Unknown, "input_unknown")]
    );
}

#[test]
fn hints_may_be_added_and_not_withdrawn() {
    let hinted = |hints: Value| tool(json!({"annotations": hints}));
    let change = |old: Value, new: Value| changes(&hinted(old), &hinted(new));
    let withdrawn = [(Level::Breaking, "hint_withdrawn")];
    assert_eq!(
        change(
            json!({"readOnlyHint": true}),
            json!({"readOnlyHint": false})
        ),
        withdrawn
    );
    assert_eq!(change(json!({"readOnlyHint": true}), json!({})), withdrawn);
    assert_eq!(
        change(
            json!({"destructiveHint": false}),
            json!({"destructiveHint": true})
        ),
        withdrawn
    );
    assert_eq!(change(json!({}), json!({"readOnlyHint": true})), []);
    assert_eq!(
        change(
            json!({"destructiveHint": true}),
            json!({"destructiveHint": false})
        ),
        []
    );
}

#[test]
fn formats_may_be_let_go_and_not_asserted() {
    let formatted = |formats: Value, format: &str| {
        let schema =
            json!({"type": "object", "properties": {"a": {"type": "string", "format": format}}});
        tool(json!({"formats": formats, "inputSchema": schema}))
    };
    let change = |old: (Value, &str), new: (Value, &str)| {
        changes(&formatted(old.0, old.1), &formatted(new.0, new.1))
    };
    let asserted = [(Level::Breaking, "format_asserted")];
    assert_eq!(
        change((json!([]), "date"), (json!("assert"), "date")),
        asserted
    );
    assert_eq!(
        change((json!(["date"]), "date"), (json!(["date", "time"]), "time")),
        asserted
    );
    assert_eq!(
        change((json!("assert"), "date"), (json!("assert"), "time")),
        asserted
    );
    assert_eq!(
        change((json!("assert"), "date"), (json!(["date"]), "date")),
        []
    );
    assert_eq!(change((json!("assert"), "date"), (json!([]), "date")), []);
    assert_eq!(change((json!([]), "date"), (json!([]), "time")), []);
    // A format that is not known is never asserted.
    assert_eq!(
        change((json!([]), "colour"), (json!("assert"), "colour")),
        []
    );
}

#[test]
fn arguments_may_be_repaired_and_not_let_go() {
    let with = |repair: bool, schema: Value| tool(json!({"repair": repair, "inputSchema": schema}));
    let numbers = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    let [plain, repaired] = [with(false, numbers.clone()), with(true, numbers)];
    assert_eq!(
        changes(&repaired, &plain),
        [(Level::Breaking, "repair_withdrawn")]
    );
    assert_eq!(changes(&plain, &repaired), []);
    // Strings are never repaired, and neither are the arguments as a whole.
    let texts = json!({"type": "object", "properties": {"s": {"type": ["string"]}}});
    assert_eq!(changes(&with(true, texts.clone()), &with(false, texts)), []);
}

#[test]
fn a_tool_may_be_shown_and_not_hidden() {
    let of = |visibility: Value| tool(json!({"visibility": visibility}));
    let (both, model, app) = (
        of(json!(["model", "app"])),
        of(json!(["model"])),
        of(json!(["app"])),
    );
    let hidden = [(Level::Breaking, "visibility_withdrawn")];
    assert_eq!(changes(&both, &app), hidden);
    assert_eq!(changes(&both, &model), hidden);
    assert_eq!(changes(&tool(json!({})), &app), hidden);
    assert_eq!(changes(&app, &both), []);
    assert_eq!(changes(&both, &tool(json!({}))), []);
}

#[test]
fn a_snapshot_of_another_form_is_refused() {
    let refused = |text: &str| {
        let new = br#"{"mcpSnapshot": 1}"#;
        compare(text.as_bytes(), new, &SchemaLimits::default())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        refused("{}"),
        "it is not a snapshot of the form 1, which \"mcpSnapshot\" names"
    );
    assert_eq!(refused(r#"{"mcpSnapshot": 2}"#), refused("{}"));
    assert_eq!(
        refused("<<<<<<<"),
        "it is not a snapshot: expected value at line 1 column 1"
    );
}

#[test]
fn a_snapshot_does_not_depend_on_the_order_of_declarations() {
    let definition = |tools: [&str; 2]| {
        let tools = tools.map(|name| json!({"name": name, "inputSchema": {"type": "object", "required": [], "properties": {}}}));
        json!({"server": {"info": {"name": "s"}}, "tools": tools}).to_string()
    };
    let [one, other] =
        [["a", "b"], ["b", "a"]].map(|names| snapshot(definition(names).as_bytes()).unwrap());
    assert_eq!(one, other);
}

#[test]
fn calls_may_come_to_run_as_tasks_and_go_on_to() {
    let support = |support: &str| match support {
        "" => json!({}),
        support => json!({"taskSupport": support}),
    };
    let change = |old: &str, new: &str| told(support(old), support(new));
    let withdrawn = ["breaking: calls may no longer run as tasks [task_withdrawn]"];
    for allowed in ["optional", "required"] {
        for refused in ["", "forbidden"] {
            assert_eq!(change(allowed, refused), withdrawn);
        }
        assert_eq!(change(allowed, "optional"), Vec::<String>::new());
    }
    for plain in ["", "forbidden", "optional"] {
        assert_eq!(
            change(plain, "required"),
            ["breaking: calls now have to run as tasks [task_required]"]
        );
    }
    assert_eq!(change("", "optional"), Vec::<String>::new());
    assert_eq!(change("forbidden", ""), Vec::<String>::new());
}

#[test]
fn headers_that_repeat_arguments() {
    let schema = |a: Value, b: Value| {
        json!({"inputSchema": {"type": "object", "additionalProperties": false, "properties": {
            "a": a, "b": {"type": "object", "additionalProperties": false, "properties": {"c": b}},
        }}})
    };
    let plain = json!({"type": "string"});
    let repeated = |header: &str| json!({"type": "string", "x-mcp-header": header});
    let none = || schema(plain.clone(), plain.clone());
    let in_a = |header: &str| schema(repeated(header), plain.clone());
    let in_c = |header: &str| schema(plain.clone(), repeated(header));
    assert_eq!(
        told(none(), in_a("Region")),
        [
            "breaking: the header Mcp-Param-Region now has to repeat /inputSchema/properties/a [header_required]"
        ]
    );
    assert_eq!(
        told(none(), in_c("Region")),
        [
            "breaking: the header Mcp-Param-Region now has to repeat /inputSchema/properties/b/properties/c [header_required]"
        ]
    );
    assert_eq!(
        told(in_a("Region"), in_a("Zone")),
        [
            "breaking: the header Mcp-Param-Region repeated /inputSchema/properties/a; Mcp-Param-Zone has to repeat it now [header_changed]"
        ]
    );
    assert_eq!(
        told(in_a("Region"), in_c("Region")),
        [
            "breaking: the header Mcp-Param-Region repeated /inputSchema/properties/a and has to repeat /inputSchema/properties/b/properties/c [header_changed]"
        ]
    );
    // Who still sends it is not refused.
    assert_eq!(
        told(in_a("Region"), none()),
        [
            "compatible: the header Mcp-Param-Region no longer has to repeat /inputSchema/properties/a [header_removed]"
        ]
    );
    // Header names have no case.
    assert_eq!(told(in_a("Region"), in_a("region")), Vec::<String>::new());
    // No call of the old schema has the argument.
    let closed = |properties: Value| json!({"inputSchema": {"type": "object", "additionalProperties": false, "properties": properties}});
    assert_eq!(
        told(closed(json!({})), closed(json!({"a": repeated("Region")}))),
        ["compatible: the tool accepts what it accepted, and may accept more [input_widened]"]
    );
}

fn asserting(schema: Value) -> Value {
    json!({"formats": "assert", "inputSchema": schema})
}

#[test]
fn a_format_that_no_old_call_could_break_is_no_change() {
    let closed = |properties: Value| {
        asserting(
            json!({"type": "object", "additionalProperties": false, "properties": properties}),
        )
    };
    let date = json!({"type": "string", "format": "date"});
    let widened =
        ["compatible: the tool accepts what it accepted, and may accept more [input_widened]"];
    // A closed schema did not take the new property.
    assert_eq!(
        told(closed(json!({})), closed(json!({"on": date}))),
        widened
    );
    // An open one took anything there.
    assert_eq!(
        told(
            asserting(json!({"type": "object", "properties": {}})),
            asserting(json!({"type": "object", "properties": {"on": {"format": "date"}}}))
        ),
        [
            "breaking: a string at /inputSchema/properties/on now has to be of the format \"date\" [format_asserted] e.g. {\"on\":\"a\"}"
        ]
    );
    // The same format behind a reference, and in front of it again.
    let here = closed(json!({"on": date}));
    let there = |format: &str| {
        asserting(
            json!({"type": "object", "additionalProperties": false, "properties": {"on": {"$ref": "#/$defs/day"}},
            "$defs": {"day": {"type": "string", "format": format}}}),
        )
    };
    assert_eq!(told(here.clone(), there("date")), Vec::<String>::new());
    assert_eq!(told(there("date"), here.clone()), Vec::<String>::new());
    assert_eq!(
        told(here, there("time")),
        [
            "breaking: a string at /inputSchema/$defs/day now has to be of the format \"time\" [format_asserted] e.g. {\"on\":\"2026-01-31\"}"
        ]
    );
    // An enum of dates.
    let days = |format: Value| {
        closed(json!({"on": {"type": "string", "enum": ["2026-01-31"], "format": format}}))
    };
    assert_eq!(
        told(days(json!("colour")), days(json!("date"))),
        Vec::<String>::new()
    );
    // Beside one that has had a format, and is required.
    let both = |until: Value| {
        asserting(
            json!({"type": "object", "required": ["on"], "additionalProperties": false,
            "properties": {"on": date, "until": until}}),
        )
    };
    assert_eq!(
        told(both(json!({"type": "string"})), both(date.clone())),
        [
            "breaking: a string at /inputSchema/properties/until now has to be of the format \"date\" [format_asserted] e.g. {\"on\":\"2026-01-31\",\"until\":\"a\"}"
        ]
    );
    // A property that comes to refer to what stood there already.
    let defined =
        |on: Value| closed(json!({"on": on, "until": {"$ref": "#/properties/from"}, "from": date}));
    assert_eq!(
        told(
            defined(json!({"type": "string"})),
            defined(json!({"$ref": "#/properties/from"}))
        ),
        ["breaking: a string now has to be of a format [format_asserted] e.g. {\"on\":\"a\"}"]
    );
}

#[test]
fn where_it_cannot_be_told_a_format_is_unknown() {
    let coded = |format: Value| {
        asserting(
            json!({"type": "object", "properties": {"on": {"type": "string", "pattern": "^[0-9]{4}-01-01$", "format": format}}}),
        )
    };
    assert_eq!(
        told(coded(json!("colour")), coded(json!("date"))),
        [
            "unknown: a string at /inputSchema/properties/on now has to be of the format \"date\"; whether it could be another is not known [format_unknown]"
        ]
    );
    // Beside a change of something else, formats that stay are no change.
    let limited = |most: u64| {
        asserting(
            json!({"type": "object", "properties": {"on": {"type": "string", "format": "date"}, "n": {"type": "integer", "maximum": most}}}),
        )
    };
    assert_eq!(
        told(limited(9), limited(5)),
        [
            "breaking: the tool no longer accepts all arguments that it accepted [input_narrowed] e.g. {\"n\":9}"
        ]
    );
    assert_eq!(
        told(limited(5), limited(9)),
        ["compatible: the tool accepts what it accepted, and may accept more [input_widened]"]
    );
}

#[test]
fn a_type_that_a_string_is_read_as_is_a_rule() {
    let of = |schema: Value, casts: Value| json!({"inputSchema": {"properties": {"at": schema}}, "casts": casts});
    let text = json!({"type": "string"});
    let (none, time) = (json!({}), json!({"/properties/at": "time"}));
    let is_told = |cast: &str| {
        vec![format!(
            "breaking: a string at /inputSchema/properties/at now has to be one of the type :{cast} [cast_added]"
        )]
    };
    let timed = json!({"type": "string", "format": "time"});
    assert_eq!(
        told(
            of(text.clone(), none.clone()),
            of(timed.clone(), time.clone())
        ),
        is_told("time")
    );
    assert!(
        told(
            of(timed.clone(), time.clone()),
            of(timed.clone(), time.clone())
        )
        .is_empty()
    );
    assert!(told(of(timed.clone(), time), of(text.clone(), none.clone())).is_empty());
    // Formats that are asserted are told of as such.
    let dated = json!({"type": "string", "format": "date"});
    let date = json!({"/properties/at": "date"});
    let mut new = of(dated.clone(), date.clone());
    assert_eq!(
        told(of(text.clone(), none.clone()), new.clone()),
        is_told("date")
    );
    new["formats"] = json!(["date"]);
    let asserted = told(of(text.clone(), none.clone()), new.clone());
    assert_eq!(asserted.len(), 1);
    assert!(asserted[0].contains("[format_asserted]"));
    let mut old = of(dated, none.clone());
    old["formats"] = json!("assert");
    assert!(told(old, new).is_empty());
    // So is a pattern.
    let number = json!({"type": "string", "pattern": "^[0-9]+$"});
    let decimal = json!({"/properties/at": "decimal"});
    let narrowed = told(of(text, none.clone()), of(number.clone(), decimal.clone()));
    assert_eq!(narrowed.len(), 1);
    assert!(narrowed[0].contains("[input_narrowed]"));
    assert_eq!(
        told(of(number.clone(), none.clone()), of(number, decimal)),
        is_told("decimal")
    );
    // A place that is new is a matter of the schema.
    let closed = json!({"inputSchema": {"additionalProperties": false}});
    let mut new = of(json!({"type": "string"}), date);
    new["inputSchema"]["additionalProperties"] = json!(false);
    assert_eq!(
        changes(&tool(closed), &tool(new)),
        [(Level::Compatible, "input_widened")]
    );
}

#[test]
fn undeclared_members_that_are_dropped_no_longer_reach_the_tool() {
    let of = |places: Value| json!({"inputSchema": {"properties": {"in": {"type": "object"}}}, "dropped": places});
    let (none, all) = (of(json!([])), of(json!(["", "/properties/in"])));
    let lines = |places: &[&str]| -> Vec<String> {
        let lines = places.iter().map(|place| {
            format!(
                "breaking: members of /inputSchema{place} that are not declared no longer reach the tool [undeclared_dropped]"
            )
        });
        lines.collect()
    };
    assert_eq!(
        told(none.clone(), all.clone()),
        lines(&["", "/properties/in"])
    );
    assert_eq!(
        told(of(json!([""])), all.clone()),
        lines(&["/properties/in"])
    );
    assert!(told(all.clone(), none).is_empty());
    let refused = json!({"inputSchema": {"additionalProperties": false, "properties": {"in": {"type": "object", "additionalProperties": false}}}});
    let changes = changes(&tool(refused), &tool(all));
    assert_eq!(changes, [(Level::Compatible, "input_widened")]);
}

#[test]
fn a_snapshot_has_the_types_and_what_is_dropped() {
    let definition = json!({
        "server": {"info": {"name": "s"}},
        "tools": [{"name": "t", "inputSchema": {}}],
        "toolRules": [{"arguments": {
            "keys": "atoms",
            "undeclared": "drop",
            "properties": {
                "a/b": {"cast": "naive_datetime"},
                "list": {"items": {"undeclared": "drop", "properties": {"on": {"cast": "date"}}}},
            },
        }}],
    });
    let text = snapshot(definition.to_string().as_bytes()).unwrap();
    let kept: Value = serde_json::from_str(&text).unwrap();
    let casts = json!({"/properties/a~1b": "naive_datetime", "/properties/list/items/properties/on": "date"});
    assert_eq!(kept["tools"]["t"]["casts"], casts);
    assert_eq!(
        kept["tools"]["t"]["dropped"],
        json!(["", "/properties/list/items"])
    );
}
