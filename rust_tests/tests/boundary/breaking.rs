//! What has changed between two snapshots. The messages are asserted through `mix mcp.breaking`.

use mcp_core::breaking::{Level, compare, snapshot};
use mcp_core::schema::SchemaLimits;
use serde_json::{Value, json};

fn changes(old: &Value, new: &Value) -> Vec<(Level, &'static str)> {
    let (old, new) = (old.to_string(), new.to_string());
    let found = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let run = || compare(old.as_bytes(), new.as_bytes(), &SchemaLimits::default());
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    });
    found
        .unwrap()
        .into_iter()
        .map(|found| (found.level, found.code))
        .collect()
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
