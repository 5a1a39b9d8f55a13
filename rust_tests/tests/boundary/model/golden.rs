//! The golden files of document 004, built from the structs: equal text, so equal key order too.

use mcp_core::model::*;
use serde_json::{Value, json};

use super::text;
use crate::fixture;

fn map(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other} is no object"),
    }
}

#[track_caller]
fn is_golden(file: &str, built: Vec<u8>) {
    let golden = fixture(&format!("documents/{file}.json"));
    assert_eq!(text(built), golden.to_string(), "{file}");
}

fn text_content(value: &str) -> Content {
    TextContent::new(value).into()
}

fn hints(title: &str) -> ToolAnnotations {
    ToolAnnotations {
        title: Some(title.into()),
        read_only_hint: true,
        destructive_hint: false,
        idempotent_hint: true,
        open_world_hint: false,
    }
}

fn tool(name: &str, description: &str, input_schema: JsonSchema, hints: ToolAnnotations) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: Some(description.into()),
        input_schema,
        output_schema: None,
        annotations: Some(hints),
        icons: None,
        execution: None,
        meta: None,
    }
}

// req: S4-01
#[test]
fn a_tool() {
    let schema = json!({
        "type": "object",
        "properties": {
            "operation": {
                "type": "string",
                "description": "Operation to perform",
                "enum": ["add", "subtract", "multiply", "divide"],
            },
            "a": {"type": "number", "description": "First operand"},
            "b": {"type": "number", "description": "Second operand"},
        },
        "required": ["operation", "a", "b"],
    });
    let description = "Performs arithmetic operations";
    let tool = tool(
        "calculator",
        description,
        JsonSchema(map(schema)),
        hints("Calculator"),
    );
    is_golden("s4-01-tool", tool.encode());
}

// req: S4-02
#[test]
fn a_tool_with_a_schema_struct() {
    let message = json!({"message": {"type": "string", "description": "Message to echo"}});
    let schema = Schema {
        kind: Some("object".into()),
        properties: Some(map(message)),
        required: Some(vec!["message".to_owned()]),
        ..Schema::default()
    };
    let tool = tool(
        "echo",
        "Echoes back the input",
        JsonSchema::from(&schema),
        hints("Echo"),
    );
    is_golden("derived-s4-9.1-tool", tool.encode());
}

// req: S4-06, S4-08
#[test]
fn call_results() {
    let structured = json!({"temperature": 72, "unit": "fahrenheit", "condition": "Sunny"});
    let weather = CallResult {
        structured_content: Some(Structured(structured)),
        meta: Some(Meta(map(json!({"source": "weather-api"})))),
        ..CallResult::of(vec![text_content("Weather in NYC: 72F")])
    };
    is_golden("s4-02-call-result", weather.encode());

    let extended = CallResult {
        structured_content: Some(Structured(json!({"key": "value"}))),
        meta: Some(Meta(map(json!({"timestamp": "2024-01-01"})))),
        ..CallResult::of(vec![text_content("Result text")])
    };
    is_golden("derived-s4-1.4-call-result", extended.encode());

    let plain = CallResult::of(vec![text_content("Result text")]);
    is_golden("derived-s4-1.4-content-list", plain.encode());
}

// req: S4-10
#[test]
fn a_failed_call() {
    is_golden(
        "derived-s4-1.4-error",
        CallResult::failed("Error message").encode(),
    );
}

// req: S4-20
#[test]
fn a_prompt() {
    let argument = |name: &str, description: &str| PromptArgument {
        name: name.to_owned(),
        title: None,
        description: Some(description.into()),
        required: true,
    };
    let prompt = Prompt {
        name: "code_review".to_owned(),
        description: Some("Generates a code review prompt".into()),
        arguments: Some(vec![
            argument("language", "Programming language"),
            argument("code", "Code to review"),
        ]),
        ..Prompt::default()
    };
    is_golden("s4-03-prompt", prompt.encode());
}

// req: S4-22
#[test]
fn prompt_messages() {
    let message = |role, said| PromptMessage {
        role,
        content: text_content(said),
    };
    is_golden(
        "s4-04-prompt-message",
        message(Role::User, "Hello world!").encode(),
    );

    let messages = vec![
        message(Role::System, "You are a helpful assistant."),
        message(Role::User, "Hello!"),
    ];
    is_golden(
        "derived-s4-9.2-messages",
        serde_json::to_vec(&messages).unwrap(),
    );
}

// req: S4-23
#[test]
fn message_content_as_a_struct_of_its_own() {
    let content = MessageContent {
        kind: "text".to_owned(),
        text: Some("Hello world!".into()),
        ..MessageContent::default()
    };
    assert_eq!(
        text(content.encode()),
        text(TextContent::new("Hello world!").encode())
    );
}

// req: S4-25
#[test]
fn a_completion() {
    let completion = Completion {
        values: ["Alice", "Bob", "Charlie"].map(str::to_owned).to_vec(),
        total: Some(10),
        has_more: Some(true),
    };
    is_golden("s4-05-completion", completion.encode());
}

// req: S4-30
#[test]
fn a_resource() {
    let resource = Resource {
        name: "config".to_owned(),
        uri: "file:///app/config.json".to_owned(),
        description: Some("Application configuration file".into()),
        mime_type: Some("application/json".into()),
        title: Some("App Config".into()),
        ..Resource::default()
    };
    is_golden("s4-06-resource", resource.encode());
}

// req: S4-31
#[test]
fn a_resource_template() {
    let template = ResourceTemplate {
        name: "user".to_owned(),
        uri_template: "https://api.example.com/users/{id}".to_owned(),
        description: Some("User profile data".into()),
        mime_type: Some("application/json".into()),
        title: Some("User Profile".into()),
        ..ResourceTemplate::default()
    };
    is_golden("s4-07-resource-template", template.encode());
}

// req: S4-32
#[test]
fn read_results() {
    let user = ResourceContent {
        name: Some("user_data.json".into()),
        uri: "https://api.example.com/users/123".to_owned(),
        mime_type: Some("application/json".into()),
        text: Some(r#"{"id": 123, "name": "Alice"}"#.into()),
        title: Some("User 123".into()),
        ..ResourceContent::default()
    };
    let result = ReadResult {
        contents: vec![user],
        ..ReadResult::default()
    };
    is_golden("s4-08-read-result", result.encode());

    let config = ResourceContent {
        name: Some("config.json".into()),
        uri: "file:///app/config.json".to_owned(),
        mime_type: Some("application/json".into()),
        text: Some(r#"{"setting":"value"}"#.into()),
        title: Some("Application Configuration".into()),
        ..ResourceContent::default()
    };
    let result = ReadResult {
        contents: vec![config],
        ..ReadResult::default()
    };
    is_golden("derived-s4-9.3-read-result", result.encode());
}

// req: S4-33, RES-49
#[test]
fn resource_contents() {
    let text = ResourceContent {
        name: Some("example.txt".into()),
        uri: "file:///path/to/example.txt".to_owned(),
        mime_type: Some("text/plain".into()),
        text: Some("File content here...".into()),
        title: Some("Example File".into()),
        ..ResourceContent::default()
    };
    is_golden("s4-09-resource-content-text", text.encode());

    let blob = ResourceContent {
        name: Some("image.png".into()),
        uri: "file:///path/to/image.png".to_owned(),
        mime_type: Some("image/png".into()),
        // Not valid base64, as in the document: a blob is written as it is.
        blob: Some("iVBORw0KGgoAAAANS...".into()),
        ..ResourceContent::default()
    };
    is_golden("s4-10-resource-content-blob", blob.encode());
}

// req: S4-41, S4-42, S4-43
#[test]
fn app_metadata() {
    let ui = ToolUi {
        resource_uri: Some("ui://weather/dashboard".into()),
        ..ToolUi::default()
    };
    is_golden("s4-12-app-ui", ui.encode());
    is_golden(
        "s4-11-app-meta",
        AppMeta {
            ui: Some(AppUi::Tool(ui)),
        }
        .encode(),
    );

    let meta = UiResourceMeta {
        csp: Some(Csp {
            connect_domains: Some(vec!["api.example.com".to_owned()]),
            resource_domains: Some(vec!["cdn.example.com".to_owned()]),
            ..Csp::default()
        }),
        permissions: Some(Permissions {
            camera: Grant(true),
            clipboard_write: Grant(true),
            ..Permissions::default()
        }),
        domain: Some("a904794854a047f6.claudemcpcontent.com".into()),
        prefers_border: Some(true),
    };
    is_golden("s4-13-ui-resource-meta", meta.encode());
}

// req: S4-52
#[test]
fn a_json_rpc_request() {
    let request = RpcRequest {
        jsonrpc: Version::V2,
        method: "tools/list".to_owned(),
        params: None,
        id: Some(Id::Integer(1)),
    };
    is_golden("derived-s4-jsonrpc-request", request.encode());
}

// req: S4-53, S4-54
#[test]
fn json_rpc_errors() {
    let response = |code, message: &str, id| RpcResponse {
        outcome: Err(RpcError {
            code,
            message: message.to_owned(),
            data: None,
        }),
        id,
    };
    let not_found = response(-32601, "Method not found", Some(Id::Integer(1)));
    is_golden("derived-s4-jsonrpc-error", not_found.encode());
    let unreadable = response(-32700, "Parse error", None);
    is_golden("derived-s4-jsonrpc-parse-error", unreadable.encode());
}
