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
