//! The vectors of event streams: a reader that follows the standard gives what they say, and what
//! our writer has written it reads back.

use base64::Engine;
use mcp_core::http::{EventId, sse};
use serde_json::{Value, json};

use crate::json::corpora;

/// What a client knows of a stream, by the rules of the WHATWG HTML standard.
#[derive(Default)]
struct Reader {
    events: Vec<Value>,
    last_event_id: String,
    retry: Option<u64>,
    id: String,
    name: String,
    data: String,
}

impl Reader {
    fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        let mut reader = Self::default();
        let mut lines: Vec<&str> = text.split('\n').collect();
        // What has no line end yet is no line.
        lines.pop();
        for line in lines {
            reader.line(line);
        }
        reader
    }

    fn line(&mut self, line: &str) {
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.name),
            "data" => {
                self.data.push_str(value);
                self.data.push('\n');
            }
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok();
            }
            _ => {}
        }
    }

    fn dispatch(&mut self) {
        self.last_event_id.clone_from(&self.id);
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        if let Some(data) = data.strip_suffix('\n') {
            let name = if name.is_empty() { "message" } else { &name };
            self.events
                .push(json!({"event": name, "data": data, "id": self.id}));
        }
    }
}

fn bytes(case: &Value) -> Vec<u8> {
    let engine = base64::engine::general_purpose::STANDARD;
    let chunks = case["chunks_base64"].as_array().unwrap().iter();
    chunks
        .flat_map(|chunk| engine.decode(chunk.as_str().unwrap()).unwrap())
        .collect()
}

#[test]
fn corpus_event_streams_are_read_as_the_vectors_say_and_written_so() {
    let Some(vectors) = corpora::json("sse-vectors/sse.json") else {
        return;
    };
    let cases = vectors["cases"].as_array().unwrap();
    for (index, case) in cases.iter().enumerate() {
        let name = &case["name"];
        let reader = Reader::read(&bytes(case));
        assert_eq!(json!(reader.events), case["events"], "{name}");
        assert_eq!(reader.last_event_id, case["last_event_id"], "{name}");
        assert_eq!(json!(reader.retry), case["retry"], "{name}");

        let id = EventId {
            stream: 7,
            index: index.try_into().unwrap(),
        };
        let mut written = Vec::new();
        for event in case["events"].as_array().unwrap() {
            let data = event["data"].as_str().unwrap();
            sse::write_event(&mut written, Some(id), data.as_bytes());
        }
        let events = Reader::read(&written).events;
        assert_eq!(events.len(), case["events"].as_array().unwrap().len());
        for (event, given) in events.iter().zip(case["events"].as_array().unwrap()) {
            let expected =
                json!({"event": "message", "data": given["data"], "id": format!("7-{index}")});
            assert_eq!(event, &expected, "{name}");
        }
    }
    println!("corpus: sse-vectors: {}", cases.len());
}
