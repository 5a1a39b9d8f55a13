//! What is read into a struct is written back as it was.

use mcp_core::model::*;
use mcp_core::revision::Revision;
use serde_json::Value;

use super::{encoded, samples};
use crate::fixture;

/// Reads a fixture into its struct and writes it again.
fn round_trip(file: &str, fixture: Value) -> String {
    macro_rules! of {
        ($object:ty) => {
            serde_json::to_string(&serde_json::from_value::<$object>(fixture).unwrap()).unwrap()
        };
    }
    match file {
        "s4-01-tool.json" | "derived-s4-9.1-tool.json" => of!(Tool),
        "s4-02-call-result.json"
        | "derived-s4-1.4-call-result.json"
        | "derived-s4-1.4-content-list.json"
        | "derived-s4-1.4-error.json" => of!(CallResult),
        "s4-03-prompt.json" => of!(Prompt),
        "s4-04-prompt-message.json" => of!(PromptMessage),
        "derived-s4-9.2-messages.json" => of!(Vec<PromptMessage>),
        "s4-05-completion.json" => of!(Completion),
        "s4-06-resource.json" => of!(Resource),
        "s4-07-resource-template.json" => of!(ResourceTemplate),
        "s4-08-read-result.json" | "derived-s4-9.3-read-result.json" => of!(ReadResult),
        "s4-09-resource-content-text.json" | "s4-10-resource-content-blob.json" => {
            of!(ResourceContent)
        }
        "s4-11-app-meta.json" => of!(AppMeta),
        "s4-12-app-ui.json" => of!(ToolUi),
        "s4-13-ui-resource-meta.json" => of!(UiResourceMeta),
        "derived-s4-jsonrpc-request.json" => of!(RpcRequest),
        "derived-s4-jsonrpc-error.json" | "derived-s4-jsonrpc-parse-error.json" => {
            of!(RpcResponse)
        }
        other => panic!("the golden file {other} has no struct"),
    }
}

#[test]
fn every_golden_file_of_the_document_is_read_and_written_back_as_it_was() {
    let manifest = fixture("documents/manifest.json");
    let entries = manifest["entries"].as_array().unwrap();
    let golden = |entry: &&Value| entry["document"] == "004" && entry["golden"] == true;
    let files: Vec<_> = entries
        .iter()
        .filter(golden)
        .filter_map(|e| e["file"].as_str())
        .collect();
    assert_eq!(files.len(), 22);
    for file in files {
        let golden = fixture(&format!("documents/{file}"));
        assert_eq!(
            round_trip(file, golden.clone()),
            golden.to_string(),
            "{file}"
        );
    }
}

/// A sample read into its struct and written by serde.
fn by_struct(shape: &Shape, sample: Value) -> String {
    macro_rules! first_of {
        ($($object:ty),* $(,)?) => {
            $(if std::ptr::eq(shape, <$object>::SHAPE) {
                let object: $object = serde_json::from_value(sample).unwrap();
                return String::from_utf8(object.encode_at(Revision::NEWEST)).unwrap();
            })*
        };
    }
    first_of!(
        TextContent,
        ImageContent,
        AudioContent,
        EmbeddedResource,
        ResourceLink,
        Tool,
        CallResult,
        Prompt,
        GetResult,
        Completion,
        Resource,
        ResourceTemplate,
        ReadResult,
        Implementation,
        Progress,
        LogMessage,
        ResourceUpdated,
        Cancelled,
        Sampling,
        Elicit,
    );
    panic!("{} has no struct here", shape.name)
}

#[test]
fn the_structs_and_the_tables_write_the_same() {
    for (shape, sample) in samples::all() {
        assert_eq!(
            by_struct(shape, sample.clone()),
            encoded(shape, &sample, Revision::NEWEST)
        );
    }
    for sample in samples::elicitations() {
        assert_eq!(
            by_struct(&ELICIT, sample.clone()),
            encoded(&ELICIT, &sample, Revision::NEWEST)
        );
    }
}
