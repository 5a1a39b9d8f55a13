//! One object of each kind with every field set, spelled for the newest revision.

use mcp_core::model::{self, Shape};
use serde_json::{Value, json};

fn annotations() -> Value {
    json!({"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"})
}

fn icons() -> Value {
    json!([{"src": "https://example.com/i.png", "mimeType": "image/png", "sizes": ["48x48"], "theme": "dark"}])
}

fn meta() -> Value {
    json!({"com.example/source": "test"})
}

fn resource_content() -> Value {
    json!({
        "name": "a.txt", "uri": "file:///a.txt", "mimeType": "text/plain", "text": "A", "title": "A",
        "_meta": meta(),
    })
}

/// Every content kind of results and messages.
pub(super) fn contents() -> Vec<(&'static Shape, Value)> {
    vec![
        (
            &model::TEXT_CONTENT,
            json!({
                "type": "text", "text": "T", "mimeType": "text/markdown",
                "annotations": annotations(), "_meta": meta(),
            }),
        ),
        (
            &model::IMAGE_CONTENT,
            json!({
                "type": "image", "data": "AAEC", "mimeType": "image/png",
                "annotations": annotations(), "_meta": meta(),
            }),
        ),
        (
            &model::AUDIO_CONTENT,
            json!({
                "type": "audio", "data": "AAEC", "mimeType": "audio/wav",
                "annotations": annotations(), "_meta": meta(),
            }),
        ),
        (
            &model::EMBEDDED_RESOURCE,
            json!({
                "type": "resource", "resource": resource_content(),
                "annotations": annotations(), "_meta": meta(),
            }),
        ),
        (
            &model::RESOURCE_LINK,
            json!({
                "type": "resource_link", "uri": "file:///a.txt", "name": "a", "title": "A",
                "description": "An A", "mimeType": "text/plain", "size": 1, "icons": icons(),
                "annotations": annotations(), "_meta": meta(),
            }),
        ),
    ]
}

fn content_list() -> Value {
    contents().into_iter().map(|(_, content)| content).collect()
}

fn messages() -> Value {
    let message = |(_, content)| json!({"role": "user", "content": content});
    contents().into_iter().map(message).collect()
}

fn tool() -> Value {
    json!({
        "name": "add", "title": "Add", "description": "Adds",
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": {"a": {"type": "number"}, "anything": true, "nothing": false},
            "required": ["a"],
        },
        "outputSchema": {"type": "object", "properties": {"sum": true}},
        "annotations": {
            "title": "Add", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
            "openWorldHint": false,
        },
        "icons": icons(), "execution": {"taskSupport": "optional"}, "_meta": meta(),
    })
}

fn sampling() -> Value {
    json!({
        "messages": [
            {"role": "user", "content": {"type": "text", "text": "How warm is it?"}, "_meta": meta()},
            {"role": "assistant", "content": [
                {"type": "text", "text": "I look it up."},
                {"type": "tool_use", "id": "1", "name": "weather", "input": {"city": "Paris"}, "_meta": meta()},
            ]},
            {"role": "user", "content": [{
                "type": "tool_result", "toolUseId": "1", "content": content_list(),
                "structuredContent": {"celsius": 18}, "isError": false, "_meta": meta(),
            }]},
        ],
        "modelPreferences": {
            "hints": [{"name": "sonnet"}], "costPriority": 0.1, "speedPriority": 1,
            "intelligencePriority": 0.5,
        },
        "systemPrompt": "Be brief.", "includeContext": "none", "temperature": 0.7, "maxTokens": 100,
        "stopSequences": ["END"], "metadata": {"k": "v"}, "tools": [tool()],
        "toolChoice": {"mode": "auto"},
    })
}

/// Everything a server sends as a result, a part of a list, or the params of a message.
pub(super) fn all() -> Vec<(&'static Shape, Value)> {
    let mut samples = contents();
    samples.extend([
        (&model::TOOL, tool()),
        (
            &model::CALL_RESULT,
            json!({
                "content": content_list(), "structuredContent": {"sum": 3}, "_meta": meta(),
                "isError": true,
            }),
        ),
        (
            &model::PROMPT,
            json!({
                "name": "review", "title": "Review", "description": "Reviews", "icons": icons(),
                "arguments": [
                    {"name": "code", "title": "Code", "description": "What to review", "required": true},
                ],
                "_meta": meta(),
            }),
        ),
        (
            &model::GET_RESULT,
            json!({"description": "Reviews", "messages": messages(), "_meta": meta()}),
        ),
        (&model::COMPLETION, json!({"values": ["a"], "total": 1, "hasMore": false})),
        (
            &model::RESOURCE,
            json!({
                "name": "a", "uri": "file:///a.txt", "description": "An A", "mimeType": "text/plain",
                "title": "A", "size": 1, "annotations": annotations(), "icons": icons(),
                "_meta": meta(),
            }),
        ),
        (
            &model::RESOURCE_TEMPLATE,
            json!({
                "name": "user", "uriTemplate": "file:///{id}", "description": "A user",
                "mimeType": "text/plain", "title": "User", "annotations": annotations(),
                "icons": icons(), "_meta": meta(),
            }),
        ),
        (
            &model::READ_RESULT,
            json!({
                "contents": [resource_content(), {"uri": "file:///b", "blob": "AAEC"}],
                "ttlMs": 0, "cacheScope": "private", "_meta": meta(),
            }),
        ),
        (
            &model::IMPLEMENTATION,
            json!({
                "name": "server", "title": "Server", "version": "1.0", "description": "Serves",
                "websiteUrl": "https://example.com", "icons": icons(),
            }),
        ),
        (
            &model::PROGRESS,
            json!({"progressToken": "t", "progress": 1, "total": 2.5, "message": "half", "_meta": meta()}),
        ),
        (
            &model::LOG_MESSAGE,
            json!({"level": "info", "logger": "db", "data": {"rows": 3}, "_meta": meta()}),
        ),
        (&model::RESOURCE_UPDATED, json!({"uri": "file:///a.txt", "_meta": meta()})),
        (&model::CANCELLED, json!({"requestId": 7, "reason": "timeout", "_meta": meta()})),
        (&model::SAMPLING, sampling()),
    ]);
    samples
}

/// The two forms of an elicitation: by a form (from 2025-06-18 on) and by a page (from 2025-11-25 on).
pub(super) fn elicitations() -> [Value; 2] {
    [
        json!({
            "message": "Who?", "mode": "form",
            "requestedSchema": {
                "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"],
            },
        }),
        json!({
            "message": "Sign in", "mode": "url", "url": "https://example.com/in",
            "elicitationId": "e1",
        }),
    ]
}
