//! MCP Apps.

use mcp_core::apps::{EXTENSION, MIME_TYPE};
use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::{from_value, json};

use super::{encoded, text};

// req: S4-40
#[test]
fn the_extension_and_its_media_type() {
    assert_eq!(EXTENSION, "io.modelcontextprotocol/ui");
    assert_eq!(MIME_TYPE, "text/html;profile=mcp-app");
}

// req: S4-41
#[test]
fn no_ui_is_an_empty_object() {
    assert_eq!(text(AppMeta::default().encode()), "{}");
    let tool = AppMeta {
        ui: Some(AppUi::Tool(ToolUi::default())),
    };
    assert_eq!(
        serde_json::to_string(&Meta::from(&tool)).unwrap(),
        r#"{"ui":{"visibility":["model","app"]}}"#
    );
}

// req: S4-41
#[test]
fn what_is_under_ui_is_told_by_its_keys() {
    let read = |ui| {
        from_value::<AppMeta>(json!({"ui": ui}))
            .unwrap()
            .ui
            .unwrap()
    };
    assert!(matches!(
        read(json!({"visibility": ["app"]})),
        AppUi::Tool(_)
    ));
    assert!(matches!(
        read(json!({"prefersBorder": false})),
        AppUi::Resource(_)
    ));
    assert!(matches!(read(json!({})), AppUi::Resource(_)));
    let meta = json!({"ui": {"resourceUri": "ui://a"}});
    assert_eq!(
        encoded(&APP_META, &meta, Revision::NEWEST),
        r#"{"ui":{"resourceUri":"ui://a","visibility":["model","app"]}}"#
    );
}

// req: S4-42
#[test]
fn visibility_is_always_written_and_limited_to_model_and_app() {
    let read = |visibility| from_value::<ToolUi>(json!({"visibility": visibility}));
    assert_eq!(
        text(read(json!(null)).unwrap().encode()),
        r#"{"visibility":["model","app"]}"#
    );
    assert_eq!(
        text(read(json!([])).unwrap().encode()),
        r#"{"visibility":[]}"#
    );
    let app = read(json!(["app"])).unwrap();
    assert!(app.visibility == [Visibility::App]);
    assert_eq!(
        read(json!(["user"])).unwrap_err().to_string(),
        "visibility: expected one of model, app"
    );
}

// req: S4-43
#[test]
fn prefers_border_false_is_kept() {
    let meta = UiResourceMeta {
        prefers_border: Some(false),
        ..UiResourceMeta::default()
    };
    assert_eq!(text(meta.encode()), r#"{"prefersBorder":false}"#);
}

// req: S4-44, RES-56
#[test]
fn absent_lists_are_left_out_and_empty_ones_written() {
    let csp = Csp {
        frame_domains: Some(vec![]),
        ..Csp::default()
    };
    let meta = UiResourceMeta {
        csp: Some(csp),
        ..UiResourceMeta::default()
    };
    assert_eq!(text(meta.encode()), r#"{"csp":{"frameDomains":[]}}"#);
    let order: Vec<_> = CSP
        .fields
        .iter()
        .map(|field| (field.name, field.wire))
        .collect();
    assert_eq!(
        order,
        [
            ("connect_domains", "connectDomains"),
            ("resource_domains", "resourceDomains"),
            ("frame_domains", "frameDomains"),
            ("base_uri_domains", "baseUriDomains"),
        ]
    );
}

// req: S4-45, RES-55
#[test]
fn a_permission_is_an_empty_object_however_it_was_given() {
    let given = json!({"permissions": {
        "camera": true, "microphone": {"why": "calls"}, "geolocation": false, "clipboardWrite": null,
    }});
    let written = r#"{"permissions":{"camera":{},"microphone":{}}}"#;
    assert_eq!(
        text(
            from_value::<UiResourceMeta>(given.clone())
                .unwrap()
                .encode()
        ),
        written
    );
    assert_eq!(
        encoded(&UI_RESOURCE_META, &given, Revision::NEWEST),
        written
    );
    assert!(from_value::<Permissions>(json!({"camera": "yes"})).is_err());
}

// req: RES-55
#[test]
fn a_csp_or_permissions_that_declare_nothing_are_left_out() {
    let given =
        json!({"csp": {"connectDomains": null}, "permissions": {"camera": false}, "domain": "d"});
    let written = r#"{"domain":"d"}"#;
    assert_eq!(
        text(
            from_value::<UiResourceMeta>(given.clone())
                .unwrap()
                .encode()
        ),
        written
    );
    assert_eq!(
        encoded(&UI_RESOURCE_META, &given, Revision::NEWEST),
        written
    );
}

// req: S4-47
#[test]
fn structured_content_does_not_replace_content() {
    let field = CALL_RESULT.field("content").unwrap();
    assert_eq!(field.presence, Presence::Required);
}
