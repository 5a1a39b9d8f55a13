//! Findings about a catalogue. The messages are asserted through `mix mcp.lint`; here is what is not
//! found, and that nothing is slow.

use mcp_core::catalog::CatalogLimits;
use mcp_lint::lint::{Budgets, Code, Finding, Severity, lint};
use serde_json::{Value, json};

fn found(definition: &Value) -> Vec<Finding> {
    let text = definition.to_string();
    let found = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(64 << 20);
        let run = || {
            lint(
                text.as_bytes(),
                &Budgets::default(),
                &CatalogLimits::default(),
            )
        };
        thread.spawn_scoped(scope, run).unwrap().join().unwrap()
    });
    found.unwrap()
}

fn codes(definition: &Value) -> Vec<(&'static str, String)> {
    let found = found(definition).into_iter();
    found
        .map(|found| (found.code.as_str(), found.pointer))
        .collect()
}

fn tool(schema: &Value) -> Value {
    json!({"server": {"info": {"name": "s", "version": "1"}}, "tools": [{
        "name": "t", "description": "A tool", "annotations": {"readOnlyHint": true}, "inputSchema": schema,
    }]})
}

fn of_schema(schema: &Value) -> Vec<(&'static str, String)> {
    codes(&tool(schema))
}

#[test]
fn errors_come_first_and_names_are_unique() {
    let severities = Code::ALL.iter().map(|code| code.severity());
    assert!(severities.is_sorted());
    assert_eq!(
        Code::ALL
            .iter()
            .filter(|code| code.severity() == Severity::Error)
            .count(),
        9
    );
    let mut names: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Code::ALL.len());
}

#[test]
fn a_plain_schema_has_no_findings() {
    let fine = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["a"],
        "properties": {
            "a": {"type": "string", "description": "A", "enum": ["x", "y"], "default": "x", "examples": ["y"]},
            "b": {"type": "array", "description": "B", "items": {"type": "integer", "minimum": 0}},
            "c": {"description": "C", "anyOf": [{"type": "string"}, {"type": "null"}]},
            "d": {"type": "string", "description": "D", "format": "date-time"},
        },
    });
    assert_eq!(of_schema(&fine), []);
}

#[test]
fn keywords_that_clients_refuse_at_the_root_are_found_there() {
    let plain =
        json!({"type": "object", "properties": {"a": {"type": "string", "description": "A"}}});
    for (keyword, value) in [
        ("if", json!({"required": ["a"]})),
        ("dependentSchemas", json!({"a": {}})),
        ("const", json!({"a": "x"})),
        ("propertyNames", json!({"maxLength": 8})),
        (
            "patternProperties",
            json!({"^x": {"type": "string", "description": "X"}}),
        ),
        ("not", json!({"required": ["b"]})),
    ] {
        let mut schema = plain.clone();
        schema[keyword] = value.clone();
        let expected = ("root_combinator", format!("/inputSchema/{keyword}"));
        assert!(of_schema(&schema).contains(&expected), "{keyword}");
        let mut nested = plain.clone();
        nested["properties"]["a"] = json!({"type": "object", "description": "A", "properties": {}});
        nested["properties"]["a"][keyword] = value;
        let found = of_schema(&nested);
        assert!(
            found.iter().all(|(code, _)| *code != "root_combinator"),
            "{keyword}"
        );
    }
    let mut schema = plain;
    schema["if"] = json!({"required": ["a"]});
    schema["then"] = json!({"required": ["a"]});
    schema["else"] = json!({});
    let found = of_schema(&schema);
    let at_root = found.iter().filter(|(code, _)| *code == "root_combinator");
    assert_eq!(at_root.count(), 1, "one finding for one condition");
}

#[test]
fn a_required_property_may_come_from_elsewhere() {
    let closed = |more: Value| {
        let mut schema = json!({"type": "object", "properties": {"q": {
            "type": "object", "description": "Q", "properties": {}, "required": ["b"], "additionalProperties": false,
        }}});
        schema["properties"]["q"]
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        of_schema(&schema)
    };
    assert_eq!(
        closed(json!({})),
        [(
            "required_undeclared",
            "/inputSchema/properties/q".to_owned()
        )]
    );
    assert_eq!(closed(json!({"patternProperties": {"^b$": {}}})), []);
}

#[test]
fn every_keyword_that_holds_a_schema_is_looked_behind() {
    let list = json!({"type": "array", "description": "A list"});
    let found = of_schema(&json!({
        "type": "object",
        "properties": {"a": {"type": "string", "description": "A", "contentSchema": list}},
        "dependencies": {"a": list},
    }));
    assert!(
        found.contains(&("array_items", "/inputSchema/dependencies/a".to_owned())),
        "{found:?}"
    );
    let content = "/inputSchema/properties/a/contentSchema".to_owned();
    assert!(found.contains(&("array_items", content)), "{found:?}");
}

#[test]
fn the_deepest_contradiction_is_told_once() {
    let schema = json!({"type": "object", "required": ["q"], "properties": {"q": {
        "type": "object", "description": "Q", "required": ["n"],
        "properties": {"n": {"type": "integer", "description": "N", "minimum": 2, "maximum": 1}},
    }}});
    let place = "/inputSchema/properties/q/properties/n".to_owned();
    assert_eq!(of_schema(&schema), [("unsatisfiable", place)]);
}

#[test]
fn a_default_that_refers_to_definitions_is_checked() {
    let schema = |default: Value| {
        json!({"type": "object", "$defs": {"n": {"type": "integer"}}, "properties": {
            "a": {"$ref": "#/$defs/n", "default": default},
        }})
    };
    let reference = ("reference", "/inputSchema/properties/a/$ref".to_owned());
    assert_eq!(
        of_schema(&schema(json!(1))),
        std::slice::from_ref(&reference)
    );
    let invalid = (
        "invalid_default",
        "/inputSchema/properties/a/default".to_owned(),
    );
    assert_eq!(of_schema(&schema(json!("1"))), [reference, invalid]);
}

/// The errors about a schema, with their messages.
fn errors(schema: &Value) -> Vec<String> {
    let found = found(&tool(schema)).into_iter();
    let errors = found.filter(|found| found.code.severity() == Severity::Error);
    errors
        .map(|found| format!("{}: {}", found.pointer, found.message))
        .collect()
}

#[test]
fn a_reference_beside_a_default_leads_where_it_does_in_the_whole_schema() {
    let node = |default: Value| {
        json!({"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string", "description": "N"},
            "next": {"description": "N", "$ref": "#", "default": default},
            "alias": {"description": "A", "$ref": "#/properties/name", "default": "x"},
            "a/~b %": {"description": "P", "anyOf": [{"$ref": "#/properties/name"}], "examples": ["x"]},
        }})
    };
    let unnamed = |errors: Vec<String>| -> Vec<String> {
        // Its name is one that clients refuse.
        errors
            .into_iter()
            .filter(|error| !error.contains("a~1~0b"))
            .collect()
    };
    assert_eq!(
        unnamed(errors(&node(json!({"name": "a", "next": {"name": "b"}})))),
        Vec::<String>::new()
    );
    assert_eq!(
        unnamed(errors(&node(json!({"name": "a", "next": {}})))),
        [
            r#"/inputSchema/properties/next/default: the default {"name":"a","next":{}} is refused by its own schema, at /next: must be an object with the property "name" (required)"#
        ]
    );
    // The same where the schema has a name, and in an older draft.
    for (key, id, dialect) in [
        (
            "$id",
            "https://example.com/node",
            "https://json-schema.org/draft/2020-12/schema",
        ),
        (
            "$id",
            "https://example.com/node#",
            "http://json-schema.org/draft-07/schema#",
        ),
        (
            "id",
            "https://example.com/node",
            "http://json-schema.org/draft-04/schema#",
        ),
        (
            "$id",
            "node",
            "https://json-schema.org/draft/2020-12/schema",
        ),
    ] {
        let mut named = node(json!({"name": "a"}));
        named[key] = json!(id);
        named["$schema"] = json!(dialect);
        assert_eq!(unnamed(errors(&named)), Vec::<String>::new(), "{id}");
        named["properties"]["next"]["default"] = json!({});
        assert_eq!(
            unnamed(errors(&named)),
            [
                r#"/inputSchema/properties/next/default: the default {} is refused by its own schema, which wants an object with the property "name" (required)"#
            ],
            "{id} {dialect}"
        );
    }
    // Where it leads depends on the way to it.
    let mut dynamic = node(json!({}));
    dynamic["$dynamicAnchor"] = json!("node");
    dynamic["properties"]["next"]["$dynamicRef"] = json!("#node");
    assert_eq!(unnamed(errors(&dynamic)), Vec::<String>::new());
}

#[test]
fn members_of_an_enum_are_asked_of_what_stands_beside_it() {
    let schema = |members: Value| {
        json!({"type": "object", "properties": {
            "size": {"type": "string", "description": "S", "maxLength": 2},
            "other": {"description": "O", "$ref": "#/properties/size", "enum": members},
        }})
    };
    assert_eq!(errors(&schema(json!(["s", "m"]))), Vec::<String>::new());
    assert_eq!(
        errors(&schema(json!(["s", "large"]))),
        [
            r#"/inputSchema/properties/other/enum/1: the member "large" is refused by the rest of its schema, which wants a string of at most 2 characters (maxLength)"#
        ]
    );
}

#[test]
fn formats_that_are_asserted_are_asked_of_defaults() {
    let ruled = |formats: Value, member: &str| {
        let mut definition = tool(&json!({"type": "object"}));
        definition["tools"][0][member] = json!({"type": "object", "properties": {
            "on": {"type": "string", "description": "O", "format": "date", "default": "today"},
        }});
        definition["toolRules"] = json!([{"requires": [], "formats": formats}]);
        let found = found(&definition).into_iter();
        let errors = found.filter(|found| found.code.severity() == Severity::Error);
        errors
            .map(|found| format!("{}: {}", found.pointer, found.message))
            .collect::<Vec<_>>()
    };
    let refused = [
        r#"/inputSchema/properties/on/default: the default "today" is refused by its own schema, which wants a date such as 2026-01-31 (format)"#,
    ];
    assert_eq!(ruled(json!("assert"), "inputSchema"), refused);
    assert_eq!(ruled(json!(["date"]), "inputSchema"), refused);
    assert_eq!(ruled(json!(["time"]), "inputSchema"), Vec::<String>::new());
    assert_eq!(
        ruled(json!("annotate"), "inputSchema"),
        Vec::<String>::new()
    );
    // No result is refused for a format.
    assert_eq!(ruled(json!("assert"), "outputSchema"), Vec::<String>::new());
}

#[test]
fn property_names_have_64_characters_at_most() {
    let named = |length: usize| {
        let property = json!({"type": "string", "description": "A"});
        of_schema(&json!({"type": "object", "properties": {"a".repeat(length): property}}))
    };
    assert_eq!(named(64), []);
    assert_eq!(named(65).len(), 1);
}

#[test]
fn a_read_only_tool_need_not_say_what_it_destroys() {
    let hinted = |hints: Value| {
        let mut definition = tool(&json!({"type": "object"}));
        definition["tools"][0]["annotations"] = hints;
        codes(&definition)
    };
    let missing = [("missing_annotations", "/annotations".to_owned())];
    assert_eq!(hinted(json!({"readOnlyHint": true})), []);
    assert_eq!(
        hinted(json!({"readOnlyHint": false, "destructiveHint": true})),
        []
    );
    assert_eq!(hinted(json!({"readOnlyHint": false})), missing);
    assert_eq!(hinted(json!({"destructiveHint": false})), missing);
    assert_eq!(hinted(json!({})), missing);
    assert_eq!(hinted(json!(null)), missing);
}

#[test]
fn a_tool_that_destroys_needs_a_scope_where_others_need_one() {
    let found = |asked: [&str; 2], hints: Value| {
        let mut definition = tool(&json!({"type": "object"}));
        let mut other = definition["tools"][0].clone();
        other["name"] = json!("other_one");
        definition["tools"][0]["annotations"] = hints;
        definition["tools"]
            .as_array_mut()
            .expect("a list")
            .push(other);
        definition["toolRules"] = json!([{"asks": asked[0]}, {"asks": asked[1]}]);
        codes(&definition)
    };
    let destroys = || json!({"readOnlyHint": false, "destructiveHint": true});
    let missing = [("missing_scopes", String::new())];
    assert_eq!(found(["nothing", "scopes"], destroys()), missing);
    for asked in ["scopes", "function", "public"] {
        assert_eq!(found([asked, "scopes"], destroys()), []);
    }
    assert_eq!(found(["nothing", "function"], destroys()), []);
    let harmless = json!({"readOnlyHint": false, "destructiveHint": false});
    assert_eq!(found(["nothing", "scopes"], harmless), []);
    assert_eq!(
        found(["nothing", "scopes"], json!({"readOnlyHint": true})),
        []
    );
}

fn templates(texts: &[&str]) -> Vec<(&'static str, String)> {
    let entry = |(index, text): (usize, &&str)| json!({"name": format!("t{index}"), "uriTemplate": text, "description": "T"});
    let entries: Vec<Value> = texts.iter().enumerate().map(entry).collect();
    codes(&json!({"server": {"info": {"name": "s", "version": "1"}}, "resourceTemplates": entries}))
}

#[test]
fn templates_overlap_where_a_uri_shows_it() {
    let overlap = ("template_overlap", "/uriTemplate".to_owned());
    let same = ("same_template", "/uriTemplate".to_owned());
    assert_eq!(
        templates(&["a://{x}/b", "a://c/{y}"]),
        std::slice::from_ref(&overlap)
    );
    assert_eq!(
        templates(&["a://{+path}", "a://c/{y}"]),
        std::slice::from_ref(&overlap)
    );
    assert_eq!(
        templates(&["a://c/{y}", "a://{+path}"]),
        std::slice::from_ref(&overlap)
    );
    assert_eq!(templates(&["a://{x}{?q}", "a://{x}"]), [overlap]);
    assert_eq!(
        templates(&["a://{x}/b", "a://{other}/b"]),
        std::slice::from_ref(&same)
    );
    assert_eq!(
        templates(&["a://{x}{?q,r}", "a://{y}{?q,r}"]),
        std::slice::from_ref(&same)
    );
    assert_eq!(templates(&["a://{x}/b", "a://{x}/c"]), []);
    assert_eq!(templates(&["a://{x}", "a://{x}/{y}"]), []);
    assert_eq!(templates(&["a://{x}", "b://{x}"]), []);
}

#[test]
fn names_in_a_query_are_part_of_the_uri() {
    let entry =
        |name: &str, text: &str| json!({"name": name, "uriTemplate": text, "description": "T"});
    let definition = json!({"server": {"info": {"name": "s", "version": "1"}}, "resourceTemplates": [
        entry("a", "x://y{?a}"), entry("b", "x://y{?b}"),
    ]});
    // A URI without a query is matched by both.
    let found: Vec<String> = found(&definition)
        .into_iter()
        .map(|found| format!("{}: {} {}", found.code, found.name, found.message))
        .collect();
    assert_eq!(
        found,
        [
            r#"template_overlap: b "a" (x://y{?a}) matches x://y too; it was declared first and answers it"#
        ]
    );
}

#[test]
fn a_resource_in_front_of_a_template_may_be_meant() {
    let definition = json!({"server": {"info": {"name": "s", "version": "1"}},
        "resources": [{"name": "me", "uri": "users://me", "description": "R"}],
        "resourceTemplates": [{"name": "user", "uriTemplate": "users://{id}", "description": "T"}],
    });
    let found = found(&definition);
    assert_eq!(
        (found.len(), found[0].code, found[0].advice.as_str()),
        (
            1,
            Code::TemplateShadowed,
            "If that is meant, `lint ignore: [:template_shadowed]` in the resource says so; otherwise give one of them another URI."
        )
    );
}

// Earlier, nothing told that the guard of the one does not protect what the other reads.
#[test]
fn a_guard_that_another_template_bypasses_is_found() {
    let found = |guards: [Option<usize>; 3], texts: [&str; 2]| -> Vec<String> {
        let template =
            |name: &str, text: &str| json!({"name": name, "uriTemplate": text, "description": "T"});
        let definition = json!({"server": {"info": {"name": "s", "version": "1"}},
            "resources": [{"name": "key", "uri": "f:///key", "description": "R"}],
            "resourceTemplates": [template("a", texts[0]), template("b", texts[1])],
            "guards": {"resources": [guards[0]], "resourceTemplates": guards[1..]},
        });
        found(&definition)
            .into_iter()
            .map(|found| {
                format!(
                    "{} {} {}: {}",
                    found.code, found.name, found.pointer, found.message
                )
            })
            .collect()
    };
    let nested = ["f:///private/{name}", "f:///{+path}"];
    assert_eq!(
        found([Some(0), Some(1), None], nested),
        [
            r#"guard_overlap key /uri: the template "b" (f:///{+path}) matches f:///key too, and has no guard: it answers clients that this resource is hidden from, and other forms of the path"#,
            r#"guard_overlap a /uriTemplate: the template "b" (f:///{+path}) matches f:///private/x too, and has no guard: it answers clients that this resource is hidden from, and other forms of the path"#,
        ]
    );
    assert_eq!(
        found([None, Some(1), Some(0)], nested),
        [
            r#"template_shadowed key /uri: the template "b" (f:///{+path}) matches f:///key too; this resource answers it"#,
            r#"guard_overlap a /uriTemplate: the template "b" (f:///{+path}) matches f:///private/x too, and has another guard: it answers clients that this resource is hidden from, and other forms of the path"#,
        ]
    );
    // The same guard, and an exception inside of a guarded template.
    let shadowed = |name: &str| {
        format!(
            r#"template_shadowed key /uri: the template "{name}" (f:///{{+path}}) matches f:///key too; this resource answers it"#
        )
    };
    let overlap = |name: &str, text: &str, rest: &str| {
        format!(
            r#"template_overlap b /uriTemplate: "{name}" ({text}) matches f:///private/x too; it was declared first and answers it{rest}"#
        )
    };
    assert_eq!(
        found([Some(0), Some(0), Some(0)], nested),
        [shadowed("b"), overlap("a", nested[0], "")]
    );
    assert_eq!(
        found([Some(0), None, Some(0)], nested),
        [shadowed("b"), overlap("a", nested[0], "")]
    );
    assert_eq!(
        found([Some(0), Some(0), None], [nested[1], nested[0]]),
        [
            shadowed("a"),
            overlap("a", nested[1], ", unless it is hidden from the client")
        ]
    );
    // The open one is asked first.
    assert_eq!(
        found([None, None, Some(0)], [nested[1], nested[0]]),
        [
            shadowed("a"),
            r#"guard_overlap b /uriTemplate: the template "a" (f:///{+path}) matches f:///private/x too, and has no guard: it was declared first and answers it"#.to_owned(),
        ]
    );
    // Neither is wider.
    assert_eq!(
        found([None, Some(0), None], ["g://{x}/b", "g://c/{y}"]),
        [
            r#"guard_overlap a /uriTemplate: the template "b" (g://c/{y}) matches g://c/b too, and has no guard: it answers clients that this resource is hidden from, and other forms of the path"#
        ]
    );
    // What is hidden from some clients leaves its URIs to the next.
    assert_eq!(
        found([None, Some(0), None], ["g://{x}", "g://{y}"]),
        [
            r#"guard_overlap a /uriTemplate: the template "b" (g://{y}) matches g://x too, and has no guard: it answers clients that this resource is hidden from, and other forms of the path"#
        ]
    );
    assert_eq!(
        found([None, None, Some(0)], ["g://{x}", "g://{y}"]).len(),
        1
    );
}

#[test]
fn five_hundred_templates_and_a_thousand_tools_are_no_trouble() {
    let texts: Vec<String> = (0..500)
        .map(|index| format!("a{index}://{{x}}/{{y}}"))
        .collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(templates(&texts), []);

    let schema =
        json!({"type": "object", "properties": {"q": {"type": "string", "description": "Q"}}});
    let mut definition = tool(&schema);
    let one = definition["tools"][0].clone();
    let named = |index: usize| {
        let mut tool = one.clone();
        tool["name"] = json!(format!("t{index}"));
        tool
    };
    definition["tools"] = (0..1_000).map(named).collect();
    let found = codes(&definition);
    assert_eq!(
        found.iter().map(|(code, _)| *code).collect::<Vec<_>>(),
        ["catalogue_budget", "tool_count"]
    );
}
