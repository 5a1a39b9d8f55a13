//! Lists that are not the same for every client, and requests for what is not there for some.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_core::catalog::{Catalog, Entry, Grant, ListKind};
use mcp_core::protocol::{Admission, Context, Hidden, MessageLimits, SessionContext, admit};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

use crate::catalog::{build, definition};

/// Five tools: `t0` for everybody, `t1` and `t3` by rule 0, `t2` by rule 1, `t4` by rule 9.
fn server() -> Catalog<SerdeJson> {
    let mut definition = definition();
    definition["server"]["pageSize"] = json!(2);
    let tool = |index| json!({"name": format!("t{index}"), "inputSchema": {"type": "object", "required": ["a"]}});
    definition["tools"] = (0..5).map(tool).collect();
    definition["toolRules"] = json!([{}, {}, {}, {}, {}]);
    definition["rules"] = json!({
        "tools": [null, 0, 1, 0, 9],
        "prompts": [0],
        "resources": [0],
    });
    build(&definition).expect("a catalogue")
}

fn page(catalog: &Catalog<SerdeJson>, grant: &[u8], cursor: Option<&str>) -> Option<Value> {
    let revision = Revision::V2026_07_28;
    let tail = catalog.granted_list(ListKind::Tools, revision, cursor, Grant(grant), (&[], &[]))?;
    let text = format!("{{\"id\":1{}", String::from_utf8_lossy(&tail));
    Some(serde_json::from_str::<Value>(&text).expect("JSON")["result"].clone())
}

fn names(page: &Value) -> Vec<&str> {
    let tools = page["tools"].as_array().expect("a list");
    tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect()
}

#[test]
fn a_list_has_what_the_grant_allows_in_declaration_order() {
    let catalog = server();
    for (grant, first, second) in [
        (&[][..], vec!["t0"], vec![]),
        (&[0b01], vec!["t0", "t1"], vec!["t3"]),
        (&[0b10], vec!["t0", "t2"], vec![]),
        (&[0b00, 0b10], vec!["t0", "t4"], vec![]),
        (&[0b11, 0b10], vec!["t0", "t1"], vec!["t2", "t3"]),
    ] {
        // The second time it is kept.
        for _ in 0..2 {
            let page_1 = page(&catalog, grant, None).expect("a page");
            assert_eq!(names(&page_1), first);
            assert_eq!(
                page_1["cacheScope"], "private",
                "although the server says public"
            );
            let cursor = page_1["nextCursor"].as_str();
            assert_eq!(cursor.is_some(), !second.is_empty());
            if let Some(cursor) = cursor {
                let page_2 = page(&catalog, grant, Some(cursor)).expect("a page");
                assert_eq!(names(&page_2), second);
            }
        }
    }
}

#[test]
fn a_cursor_is_that_of_one_grant() {
    let catalog = server();
    let first = page(&catalog, &[0b01], None).expect("a page");
    let cursor = first["nextCursor"].as_str().expect("a second page");
    assert!(page(&catalog, &[0b01], Some(cursor)).is_some());
    assert!(page(&catalog, &[0b11], Some(cursor)).is_none());
    assert!(page(&catalog, &[], Some(cursor)).is_none());
    assert!(page(&catalog, &[0b01], Some("nothing")).is_none());
    let open = catalog.list(ListKind::Tools, Revision::V2026_07_28, Some(cursor));
    assert!(open.is_none());
}

/// Earlier, a client could compute its grant from a cursor, and so learned how many entries are
/// hidden from it.
#[test]
fn a_cursor_does_not_tell_its_grant() {
    let catalog = server();
    let revision = Revision::V2026_07_28;
    let cursor = |version: &[u8]| {
        let grant = Grant(&[0b01]);
        let tail = catalog.granted_list(ListKind::Tools, revision, None, grant, (&[], version));
        let tail = String::from_utf8(tail.expect("a page")).expect("text");
        let page: Value = serde_json::from_str(&format!("{{\"id\":1{tail}")).expect("JSON");
        let cursor = page["result"]["nextCursor"]
            .as_str()
            .expect("a second page");
        let bytes = URL_SAFE_NO_PAD.decode(cursor).expect("base64");
        u64::from_be_bytes(bytes[1..9].try_into().expect("8 bytes"))
    };
    // The change of one byte at the end of what is hashed says nothing about the rest.
    let differences: Vec<u32> = (0_u8..32)
        .map(|byte| (cursor(&[byte]) ^ cursor(&[byte ^ 1])).count_ones())
        .collect();
    assert!(
        differences.iter().all(|bits| (12..=52).contains(bits)),
        "{differences:?}"
    );
}

fn admitted(
    catalog: &Catalog<SerdeJson>,
    method: &str,
    params: &Value,
) -> (Option<u16>, Option<String>) {
    let context = Context {
        session: Some(SessionContext {
            revision: Revision::V2025_11_25,
        }),
        http: None,
        anonymous: None,
    };
    let message =
        json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    match admit(
        catalog,
        context,
        message.as_bytes(),
        &MessageLimits::default(),
    ) {
        Admission::Request(request) => {
            let hidden = request.hidden.map(|hidden| match hidden {
                Hidden::Answer(answer) | Hidden::Token(answer) => {
                    String::from_utf8_lossy(&answer.body).into_owned()
                }
                Hidden::Request(_) => "another".to_owned(),
            });
            (request.unmet.map(|answer| answer.status), hidden)
        }
        Admission::Answer(answer) => (Some(answer.status), None),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_request_for_what_may_be_hidden_brings_both_answers() {
    let catalog = server();
    let unknown = |name: &str| {
        let message = format!("Tool '{name}' not found");
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": -32602, "message": message}})
    };
    let told = |params: Value| {
        let (refused, hidden) = admitted(&catalog, "tools/call", &params);
        (
            refused,
            hidden.map(|text| serde_json::from_str::<Value>(&text).expect("JSON")),
        )
    };
    assert_eq!(told(json!({"name": "t1"})), (None, Some(unknown("t1"))));
    // A task that the tool does not allow: told only to those who may know of the tool.
    let asked = json!({"name": "t1", "task": {}});
    assert_eq!(told(asked), (Some(200), Some(unknown("t1"))));
    // What is wrong whatever the name is, is answered at once.
    assert_eq!(
        told(json!({"name": "t1", "arguments": []})),
        (Some(400), None)
    );
    assert_eq!(told(json!({"name": "t0"})), (None, None));
    // An unknown name goes the way of a hidden one, so that nothing but the name differs.
    assert_eq!(told(json!({"name": "t9"})), (None, Some(unknown("t9"))));
    let asked = json!({"name": "t9", "task": {}});
    assert_eq!(told(asked), (Some(200), Some(unknown("t9"))));
    assert_eq!(
        told(json!({"name": "t9", "arguments": []})),
        (Some(400), None)
    );
}

#[test]
fn an_unknown_name_always_has_the_same_stand_in() {
    let catalog = server();
    let stand_in = |name: &str| catalog.stand_in_for(&[ListKind::Tools], name, |_| true);
    for name in ["t9", "", "another", "日本"] {
        let entry = stand_in(name).expect("a hidden tool");
        assert!(catalog.is_guarded(entry));
        assert_eq!(stand_in(name), Some(entry));
    }
    assert_eq!(
        catalog.stand_in_for(&[ListKind::ResourceTemplates], "t9", |_| true),
        None
    );
}

// Earlier everybody could compute which entry stands in, and find hidden names by their time.
#[test]
fn the_key_of_the_catalogue_decides_which_entry_stands_in() {
    let names: Vec<String> = (0..64).map(|number| format!("unknown {number}")).collect();
    let stand_ins = |key: u8| -> Vec<Option<Entry>> {
        let catalog = server().with_stand_in_key([key; 32]);
        let stand_in =
            |name| catalog.stand_in_for(&[ListKind::Tools, ListKind::Prompts], name, |_| true);
        names.iter().map(|name| stand_in(name)).collect()
    };
    assert_eq!(stand_ins(1), stand_ins(1));
    assert_ne!(stand_ins(1), stand_ins(2));
}

#[test]
fn prompts_and_completions_are_hidden_too() {
    let catalog = server();
    let (refused, hidden) = admitted(&catalog, "prompts/get", &json!({"name": "greet"}));
    assert_eq!(refused, Some(200), "its argument is missing");
    assert!(
        hidden
            .expect("an answer")
            .contains("Prompt 'greet' not found")
    );
    let params = json!({"ref": {"type": "ref/prompt", "name": "greet"}, "argument": {"name": "nobody", "value": ""}});
    let (refused, hidden) = admitted(&catalog, "completion/complete", &params);
    assert_eq!(refused, Some(200), "it has no such argument");
    assert!(
        hidden
            .expect("an answer")
            .contains("Prompt 'greet' not found")
    );
}
