//! The catalogue: lists encoded once, pages, lookups, and what is refused at build time.

use mcp_core::catalog::{Catalog, CatalogError, CatalogLimits, ListKind, ReadTarget};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;
use serde_json::{Value, json};

/// A server with one of everything; tests change what they are about.
pub(crate) fn definition() -> Value {
    json!({
        "server": {
            "info": {"name": "calc", "version": "1.2.3", "title": "Calculator", "icons": null},
            "instructions": "Prefer add.",
            "ttlMs": 60000,
            "cacheScope": "public",
        },
        "tools": [
            {
                "name": "add",
                "description": "Adds",
                "inputSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "op": {"enum": ["plus", "minus"]}},
                    "required": ["a"],
                },
            },
            {"name": "ask", "inputSchema": {"type": "object"}},
        ],
        "toolRules": [{}, {"requires": ["sampling"]}],
        "prompts": [{"name": "greet", "arguments": [{"name": "who", "required": true}]}],
        "promptCompletes": [true],
        "resources": [{"name": "config", "uri": "file:///config.json"}],
        "resourceTemplates": [{"name": "user", "uriTemplate": "users://{id}/profile"}],
        "templateCompletes": [false],
    })
}

pub(crate) fn build(definition: &Value) -> Result<Catalog<SerdeJson>, CatalogError> {
    let text = definition.to_string();
    std::thread::Builder::new()
        .stack_size(64 * 1024 * 1024)
        .spawn(move || Catalog::build(text.as_bytes(), &CatalogLimits::default()))
        .expect("a thread")
        .join()
        .expect("no panic")
}

fn page(catalog: &Catalog<SerdeJson>, revision: Revision, cursor: Option<&str>) -> Value {
    let tail = catalog
        .list(ListKind::Tools, revision, cursor)
        .expect("a page");
    let text = format!("{{\"id\":1{}", String::from_utf8_lossy(tail));
    serde_json::from_str::<Value>(&text).expect("JSON")["result"].clone()
}

fn refused(change: impl FnOnce(&mut Value)) -> String {
    let mut definition = definition();
    change(&mut definition);
    build(&definition)
        .err()
        .map(|error| error.to_string())
        .unwrap_or_default()
}

#[test]
fn a_list_is_kept_in_declaration_order_for_each_revision() {
    let catalog = build(&definition()).expect("a catalogue");
    let old = page(&catalog, Revision::V2024_11_05, None);
    assert_eq!(
        old["tools"][0]["name"], "add",
        "declaration order is the order on the wire"
    );
    assert_eq!(old["tools"][1]["name"], "ask");
    assert_eq!(old.as_object().map(|members| members.len()), Some(1));

    let new = page(&catalog, Revision::V2026_07_28, None);
    assert_eq!(new["resultType"], "complete");
    assert_eq!(new["ttlMs"], 60_000);
    assert_eq!(new["cacheScope"], "public");
    assert_eq!(
        new["_meta"]["io.modelcontextprotocol/serverInfo"],
        json!({"name": "calc", "title": "Calculator", "version": "1.2.3"})
    );
}

#[test]
fn pages_concatenate_to_the_whole_and_cursors_are_checked() {
    for (count, size) in [(0, 2), (1, 2), (2, 2), (3, 2), (4, 2), (5, 2), (7, 1)] {
        let mut definition = definition();
        definition["server"]["pageSize"] = json!(size);
        definition["tools"] = (0..count)
            .map(|n| json!({"name": format!("t{n}"), "inputSchema": {"type": "object"}}))
            .collect();
        definition["toolRules"] = (0..count).map(|_| json!({})).collect();
        let catalog = build(&definition).expect("a catalogue");
        let mut names: Vec<String> = Vec::new();
        let mut cursor: Option<String> = None;
        loop {
            let page = page(&catalog, Revision::V2025_11_25, cursor.as_deref());
            let tools = page["tools"].as_array().expect("tools").clone();
            assert!(tools.len() <= size);
            names.extend(
                tools
                    .iter()
                    .map(|tool| tool["name"].as_str().unwrap_or("").to_owned()),
            );
            match page["nextCursor"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => break,
            }
        }
        let expected: Vec<String> = (0..count).map(|n| format!("t{n}")).collect();
        assert_eq!(names, expected, "{count} tools in pages of {size}");
    }
}

// req: M28
#[test]
fn a_cursor_of_another_list_another_catalogue_or_garbage_is_none() {
    let mut paged = definition();
    paged["server"]["pageSize"] = json!(1);
    let catalog = build(&paged).expect("a catalogue");
    let cursor = page(&catalog, Revision::V2025_11_25, None)["nextCursor"]
        .as_str()
        .expect("a cursor")
        .to_owned();
    assert!(
        catalog
            .list(ListKind::Tools, Revision::V2025_11_25, Some(&cursor))
            .is_some()
    );
    assert!(
        catalog
            .list(ListKind::Prompts, Revision::V2025_11_25, Some(&cursor))
            .is_none()
    );
    for garbage in [
        "",
        "AAAA",
        "not base64 !",
        "\u{0}",
        &cursor[1..],
        &format!("{cursor}A"),
    ] {
        let found = catalog.list(ListKind::Tools, Revision::V2025_11_25, Some(garbage));
        assert!(found.is_none(), "{garbage:?}");
    }
    paged["tools"][1]["name"] = json!("asks");
    let newer = build(&paged).expect("a catalogue");
    assert!(
        newer
            .list(ListKind::Tools, Revision::V2025_11_25, Some(&cursor))
            .is_none()
    );
}

#[test]
fn a_uri_names_a_static_resource_before_a_template() {
    let mut definition = definition();
    definition["resources"][0]["uri"] = json!("users://me/profile");
    let catalog = build(&definition).expect("a catalogue");
    assert_eq!(
        catalog.find_resource("users://me/profile"),
        Some(ReadTarget::Resource { index: 0 })
    );
    assert_eq!(
        catalog.find_resource("users://7/profile"),
        Some(ReadTarget::Template {
            index: 0,
            variables: vec![("id".to_owned(), "7".to_owned())]
        })
    );
    assert_eq!(catalog.find_resource("users://7/other"), None);
}

#[test]
fn capabilities_are_what_is_declared() {
    let catalog = build(&definition()).expect("a catalogue");
    assert_eq!(
        catalog.capabilities().to_value(Revision::V2025_11_25),
        json!({
            "tools": {"listChanged": true},
            "resources": {"subscribe": true, "listChanged": true},
            "prompts": {"listChanged": true},
            "logging": {},
            "completions": {},
        })
    );
    assert_eq!(
        catalog
            .capabilities()
            .to_value(Revision::V2024_11_05)
            .get("completions"),
        None,
        "the capability came with 2025-03-26"
    );
    let bare = build(&json!({"server": {"info": {"name": "n", "version": "1"}}}));
    assert_eq!(
        bare.expect("a catalogue")
            .capabilities()
            .to_value(Revision::NEWEST),
        json!({"logging": {}})
    );
}

// req: S4-40
#[test]
fn a_ui_resource_advertises_the_apps_extension() {
    let mut definition = definition();
    definition["resources"][0]["uri"] = json!("ui://weather/view");
    let catalog = build(&definition).expect("a catalogue");
    assert_eq!(
        catalog.capabilities().to_value(Revision::V2025_11_25)["extensions"],
        json!({"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}})
    );
}

// req: S4-40
#[test]
fn a_template_of_views_advertises_it_too_and_nothing_else_does() {
    let extensions = |definition: &Value| {
        let catalog = build(definition).expect("a catalogue");
        let capabilities = catalog.capabilities().to_value(Revision::NEWEST);
        capabilities.get("extensions").cloned()
    };
    let mut definition = definition();
    assert_eq!(extensions(&definition), None);
    definition["tools"][0]["_meta"] = json!({"ui": {"visibility": ["app"]}});
    assert_eq!(extensions(&definition), None, "nothing draws its result");
    definition["resourceTemplates"][0]["uriTemplate"] = json!("ui://views/{id}");
    assert_eq!(
        extensions(&definition),
        Some(json!({"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}))
    );
}

// req: S4-42
#[test]
fn the_view_of_a_tool_is_one_that_can_be_read() {
    let with_view = |view: &str, uris: &[&str]| {
        let mut definition = definition();
        definition["tools"][0]["_meta"] = json!({"ui": {"resourceUri": view}});
        let resource = |uri: &&str| json!({"name": uri, "uri": uri});
        definition["resources"] = uris.iter().map(resource).collect();
        definition["resourceTemplates"][0]["uriTemplate"] = json!("ui://views/{id}");
        build(&definition).err().map(|error| error.to_string())
    };
    assert_eq!(with_view("ui://weather", &["ui://weather"]), None);
    assert_eq!(with_view("ui://views/7", &[]), None);
    assert_eq!(
        with_view("ui://wether", &["file:///a", "ui://weather"]).as_deref(),
        Some(
            "tool \"add\": its ui is no resource of this router: ui://wether, did you mean ui://weather? \
            Its ui:// resources: ui://weather, ui://views/{id}"
        )
    );
    assert_eq!(
        with_view("ui://views/7/8", &["file:///a"]).as_deref(),
        Some(
            "tool \"add\": its ui is no resource of this router: ui://views/7/8, did you mean \
            ui://views/{id}? Its ui:// resources: ui://views/{id}"
        )
    );
    assert_eq!(
        with_view("https://a.example", &[]).as_deref(),
        Some(
            "tool \"add\": its ui must be the URI of a ui:// resource of this router, such as \
            \"ui://app/view\", got: \"https://a.example\""
        )
    );
    let many: Vec<String> = (0..25).map(|n| format!("ui://{n}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let message = with_view("ui://something/else", &many).expect("a refusal");
    assert!(
        message.ends_with("ui://18, ui://19 and 6 more"),
        "{message}"
    );
}

#[test]
fn an_icon_is_an_image_and_no_script() {
    let text = "icons[1].src: must be an https:, http: or data: URI";
    for src in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "icon.png",
        "",
        "httpx://a",
        " https://a",
    ] {
        let icons = json!([{"src": "https://a/icon.png"}, {"src": src}]);
        for list in ["tools", "prompts", "resources", "resourceTemplates"] {
            let message = refused(|definition| definition[list][0]["icons"] = icons.clone());
            assert!(message.ends_with(text), "{list} {src}: {message}");
        }
        let message = refused(|definition| definition["server"]["info"]["icons"] = icons.clone());
        assert!(
            message.starts_with("server \"") && message.ends_with(text),
            "{message}"
        );
    }
    for src in [
        "https://a/icon.png",
        "HTTP://localhost/a",
        "data:image/png;base64,AA==",
    ] {
        let mut definition = definition();
        definition["tools"][0]["icons"] = json!([{"src": src}]);
        assert!(build(&definition).is_ok(), "{src}");
    }
}

#[test]
fn what_cannot_be_served_is_named() {
    assert_eq!(
        refused(|definition| definition["resources"][0]["uri"] = json!("not a uri")),
        "resource \"config\": uri: must be an absolute URI"
    );
    assert!(
        refused(|definition| {
            definition["resourceTemplates"][0]["uriTemplate"] = json!("users://{a}{b}");
        })
        .starts_with("resource template \"user\": uriTemplate: ")
    );
    assert!(
        refused(|definition| definition["tools"][0]["inputSchema"] = json!({"type": "strin"}))
            .starts_with("tool \"add\": inputSchema: ")
    );
    assert!(
        refused(|definition| definition["tools"][0]["outputSchema"] = json!({"type": 7}))
            .starts_with("tool \"add\": outputSchema: ")
    );
    assert_eq!(
        refused(|definition| definition["dynamic"] = json!(["tool"])),
        "not a server definition: no list is called \"tool\""
    );
    assert_eq!(
        refused(|definition| definition["toolRules"] = json!([])),
        "not a server definition: as many toolRules as tools are needed"
    );
}
