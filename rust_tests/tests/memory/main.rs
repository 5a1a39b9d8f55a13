//! What it costs to refuse a message: at most twice the memory that the message takes, and a little.

mod counting;
mod heads;

use mcp_core::catalog::{Catalog, CatalogLimits};
use mcp_core::protocol::{Admission, Context, MessageLimits, SessionContext, admit};
use mcp_core::revision::Revision;
use mcp_core::schema::SerdeJson;

use counting::most;

/// What is remembered of a message is bounded: a few thousand values, and no answer is longer.
const LITTLE: usize = 512 * 1024;
const MIB: usize = 1024 * 1024;

const DEFINITION: &str = r#"{
    "server": {"info": {"name": "memory", "version": "1"}},
    "tools": [{"name": "echo", "inputSchema": {"type": "object"}}],
    "toolRules": [{"requires": []}]
}"#;

fn server() -> Catalog<SerdeJson> {
    Catalog::build(DEFINITION.as_bytes(), &CatalogLimits::default()).expect("a catalogue")
}

fn context(revision: Option<Revision>) -> Context<'static> {
    Context {
        session: revision.map(|revision| SessionContext { revision }),
        http: None,
        anonymous: None,
    }
}

/// The answer's code, and what admission allocated at most.
fn refused(revision: Option<Revision>, text: &[u8]) -> (i64, usize) {
    let catalog = server();
    let limits = MessageLimits::default();
    let (admission, bytes) = most(|| admit(&catalog, context(revision), text, &limits));
    let Admission::Answer(answer) = admission else {
        panic!("not refused: {} bytes", text.len());
    };
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).expect("an answer");
    (answer["error"]["code"].as_i64().expect("a code"), bytes)
}

#[track_caller]
fn costs_little(code: i64, text: &str) {
    costs_little_in(None, code, text.as_bytes());
}

#[track_caller]
fn costs_little_in(revision: Option<Revision>, code: i64, text: &[u8]) {
    let (answered, bytes) = refused(revision, text);
    assert_eq!(answered, code);
    assert!(
        bytes <= 2 * text.len() + LITTLE,
        "{bytes} bytes for {} of text",
        text.len()
    );
}

/// A request whose params are so many bytes of `item`s in an array or object.
fn request(method: &str, open: &str, item: &str, close: &str, bytes: usize) -> String {
    let items = vec![item; bytes / (item.len() + 1)].join(",");
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{open}{items}{close}}}"#)
}

/// `count` members with different names.
fn members(count: usize) -> String {
    let members: Vec<String> = (0..count).map(|name| format!("\"{name:x}\":0")).collect();
    members.join(",")
}

// req: M2
#[test]
fn depth_and_brackets_cost_nothing() {
    for text in [
        "[".repeat(129),
        "[".repeat(10_000_000),
        "{\"a\":".repeat(800_000),
    ] {
        let (code, bytes) = refused(None, text.as_bytes());
        assert_eq!(code, -32700);
        assert!(bytes <= 16 * 1024, "{bytes}");
    }
}

// req: M2
#[test]
fn one_value_too_many() {
    for item in ["0", "\"\"", "{}", "[]"] {
        costs_little(
            -32700,
            &request("x", "[", item, "]", 200_001 * (item.len() + 1)),
        );
    }
    costs_little(-32700, &format!("{{{}}}", members(200_000)));
    costs_little(-32700, &format!("[{}]", vec!["0"; 200_000].join(",")));
}

// req: M13
#[test]
fn a_repeated_key_at_the_end_of_4_mib() {
    let filler = "x".repeat(4 * MIB);
    costs_little(
        -32600,
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":"{filler}","b":1,"b":2}}}}"#
        ),
    );
    let many = members(199_000);
    costs_little(
        -32600,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{many},"0":1}}}}"#),
    );
    costs_little(
        -32600,
        &format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{{many},"0":1}}}}}}"#
        ),
    );
}

/// The shortest keys there are, all the same: each would take more room than its text.
// req: M13
#[test]
fn nothing_but_one_key() {
    let keys = vec!["\"\":0"; 190_000].join(",");
    costs_little(
        -32600,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{{keys}}}}}"#),
    );
}

/// Keys that look alike to a fingerprint are compared where they are, escaped or not.
// req: M13
#[test]
fn keys_made_to_collide() {
    for letter in ["m", "\\u006d"] {
        let key = |index: usize| format!("\"aaaaaaaa{letter}{index:06}zzzzzzzz\":0");
        let keys: Vec<String> = (0..100_000).map(key).chain([key(5)]).collect();
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{{{}}}}}}}"#,
            keys.join(",")
        );
        costs_little(-32600, &text);
    }
}

/// A few long keys that look alike, and need to be read to be told apart.
// req: M13
#[test]
fn a_few_long_keys_made_to_collide() {
    let filler = "\\n".repeat(100_000);
    let key = |index: usize| format!("\"aaaaaaaa{filler}{index:02}{filler}zzzzzzzz\":0");
    let keys: Vec<String> = (0..16).map(key).chain([key(5)]).collect();
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":{{{}}}}}}}"#,
        keys.join(",")
    );
    costs_little(-32600, &text);
}

/// What is repeated of a message is short. Beyond the limit of `_meta` nothing of it is read.
// req: M7
#[test]
fn a_version_that_is_no_version() {
    for (bytes, code) in [(15 * 1024, -32022), (4 * MIB, -32602)] {
        let version = "2".repeat(bytes);
        let meta = format!(
            r#"{{"io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientCapabilities":{{}}}}"#
        );
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#
        );
        costs_little(code, &text);
    }
}

// req: M1
#[test]
fn invalid_utf8_at_the_end() {
    let mut text = request("x", "{\"a\":[", "\"text\"", "]}", 4 * MIB / 10).into_bytes();
    text.extend_from_slice(b" \xff");
    costs_little_in(None, -32700, &text);
}

// req: M3
#[test]
fn a_wrong_envelope_with_4_mib_of_params() {
    let params = format!("{{\"a\":\"{}\"}}", "x".repeat(4 * MIB));
    for envelope in [
        r#""jsonrpc":"1.0","id":1,"method":"x""#,
        r#""jsonrpc":"2.0","id":null,"method":"x""#,
        r#""jsonrpc":"2.0","id":1,"method":7"#,
        r#""jsonrpc":"2.0","id":1"#,
    ] {
        costs_little(-32600, &format!("{{{envelope},\"params\":{params}}}"));
    }
    costs_little(-32602, &request("x", "[", "\"text\"", "]", 4 * MIB / 10));
    costs_little(
        -32600,
        &format!("{{\"jsonrpc\":\"2.0\",{}}}", members(190_000)),
    );
    costs_little(
        -32602,
        &format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{{{}}}}}",
            members(190_000)
        ),
    );
}

/// Texts that are only needed to say that they are too long: escaped ones have to be written out.
// req: M6
#[test]
fn an_id_or_a_method_of_4_mib() {
    for text in ["x".repeat(4 * MIB), "\\u0041".repeat(MIB / 2)] {
        costs_little(
            -32600,
            &format!(r#"{{"jsonrpc":"2.0","id":"{text}","method":"x"}}"#),
        );
        costs_little(
            -32600,
            &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{text}"}}"#),
        );
    }
}

// req: M9
#[test]
fn a_batch_where_there_are_none_and_one_that_is_too_long() {
    for item in ["0", "{}", "{\"jsonrpc\":\"2.0\"}"] {
        let batch = format!("[{}]", vec![item; 66_000].join(","));
        costs_little(-32600, &batch);
        costs_little_in(Some(Revision::V2025_03_26), -32600, batch.as_bytes());
    }
}

// req: M10
#[test]
fn a_method_that_does_not_exist() {
    let session = Some(Revision::V2025_11_25);
    for params in [
        request("x", "{\"a\":\"", "text", "\"}", 4 * MIB),
        request("x", "{\"a\":[", "1", "]}", 399_000),
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"arguments":{{{}}}}}}}"#,
            members(190_000)
        ),
    ] {
        costs_little_in(session, -32601, params.as_bytes());
    }
}

// req: M15
#[test]
fn a_tool_that_does_not_exist() {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"none","arguments":{{{}}}}}}}"#,
        members(190_000)
    );
    costs_little_in(Some(Revision::V2025_11_25), -32602, text.as_bytes());
}

/// Of a call with very many arguments everything is found that stands beside them.
#[test]
fn a_call_with_very_many_arguments_is_a_call() {
    let catalog = server();
    let many: Vec<String> = (0..900)
        .map(|row| format!("\"r{row}\":{{\"a\":1}}"))
        .collect();
    for arguments in [members(190_000), members(1_020), many.join(",")] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"arguments":{{{arguments}}},"name":"echo","_meta":{{"progressToken":"p"}}}}}}"#
        );
        let context = context(Some(Revision::V2025_11_25));
        let limits = MessageLimits::default();
        let (admission, bytes) = most(|| admit(&catalog, context, text.as_bytes(), &limits));
        let Admission::Request(request) = admission else {
            panic!("refused: {admission:?}");
        };
        assert!(request.progress_token.is_some());
        assert!(bytes <= 2 * text.len() + LITTLE, "{bytes}");
    }
}
