//! A parser of server-sent events, written from the HTML standard (section 9.2.6) and not from the
//! core.

/// An event that a client receives.
#[derive(Debug, Default, PartialEq)]
pub struct Event {
    pub id: Option<Vec<u8>>,
    pub data: Vec<u8>,
}

/// The content of a stream.
#[derive(Debug, Default, PartialEq)]
pub struct Stream {
    pub events: Vec<Event>,
    /// The last `retry` value.
    pub retry: Option<u64>,
    pub comments: usize,
    /// Fields other than `id`, `data` and `retry`: the library never writes them.
    pub strange: usize,
}

/// Reads a complete stream; an event needs an empty line at its end.
pub fn parse(text: &[u8]) -> Stream {
    let mut stream = Stream::default();
    let (mut id, mut data): (Option<Vec<u8>>, Vec<u8>) = (None, Vec::new());
    for line in lines(text) {
        if line.is_empty() {
            if data.pop().is_some() {
                stream.events.push(Event {
                    id: id.clone(),
                    data: std::mem::take(&mut data),
                });
            }
            continue;
        }
        let colon = line
            .iter()
            .position(|byte| *byte == b':')
            .unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match &line[..colon] {
            b"" => stream.comments += 1,
            b"data" => {
                data.extend_from_slice(value);
                data.push(b'\n');
            }
            b"id" => id = Some(value.to_vec()),
            b"retry" => {
                stream.retry = std::str::from_utf8(value)
                    .ok()
                    .and_then(|ms| ms.parse().ok())
            }
            _ => stream.strange += 1,
        }
    }
    stream
}

/// The complete lines, which end with CR LF, LF or CR.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(byte) = text.get(at) {
        at += 1;
        if matches!(byte, b'\n' | b'\r') {
            lines.push(&text[start..at - 1]);
            if *byte == b'\r' && text.get(at) == Some(&b'\n') {
                at += 1;
            }
            start = at;
        }
    }
    lines
}
