//! Prompts and completion.

use mcp_core::model::*;
use serde_json::{from_value, json};

use super::text;

// req: S4-20
#[test]
fn an_empty_list_of_arguments_is_written() {
    let prompt = |arguments| Prompt {
        name: "p".to_owned(),
        arguments,
        ..Prompt::default()
    };
    assert_eq!(
        text(prompt(Some(vec![])).encode()),
        r#"{"name":"p","arguments":[]}"#
    );
    assert_eq!(text(prompt(None).encode()), r#"{"name":"p"}"#);
}

// req: S4-21
#[test]
fn required_is_always_written() {
    let argument: PromptArgument = from_value(json!({"name": "a"})).unwrap();
    assert_eq!(text(argument.encode()), r#"{"name":"a","required":false}"#);
}

// req: S4-22
#[test]
fn the_three_roles_and_no_other() {
    let message = |role: &str| {
        from_value::<PromptMessage>(
            json!({"role": role, "content": {"type": "text", "text": "Hi"}}),
        )
    };
    for role in ["user", "assistant", "system"] {
        assert_eq!(message(role).unwrap().role.as_str(), role);
    }
    assert_eq!(
        message("tool").unwrap_err().to_string(),
        "role: expected one of user, assistant, system"
    );
}

// req: S4-23
#[test]
fn the_text_is_under_text_whatever_the_kind() {
    let content = MessageContent {
        kind: "summary".to_owned(),
        text: Some("S".to_owned()),
        ..MessageContent::default()
    };
    assert_eq!(text(content.encode()), r#"{"type":"summary","text":"S"}"#);
}

// req: S4-25
#[test]
fn zero_and_false_are_kept() {
    let completion = Completion {
        values: vec![],
        total: Some(0),
        has_more: Some(false),
    };
    assert_eq!(
        text(completion.encode()),
        r#"{"values":[],"total":0,"hasMore":false}"#
    );
    assert_eq!(text(Completion::default().encode()), r#"{"values":[]}"#);
    assert_eq!(Completion::MAX_VALUES, 100);
}
