//! Events on a stream.

use mcp_core::http::{EventId, STREAM_HEADERS, sse};

fn event(id: Option<EventId>, data: &[u8]) -> String {
    let mut out = Vec::new();
    sse::write_event(&mut out, id, data);
    String::from_utf8(out).expect("text")
}

#[test]
fn an_event_is_its_id_and_its_data_and_an_empty_line() {
    let id = EventId {
        stream: 4,
        index: 2,
    };
    assert_eq!(
        event(Some(id), b"{\"a\":1}"),
        "id: 4-2\ndata: {\"a\":1}\n\n"
    );
    assert_eq!(event(None, b"{}"), "data: {}\n\n");
    assert_eq!(event(None, b""), "data: \n\n");
}

#[test]
fn every_line_end_in_data_begins_another_data_line() {
    assert_eq!(event(None, b"a\nb"), "data: a\ndata: b\n\n");
    assert_eq!(event(None, b"a\rb\r\nc"), "data: a\ndata: b\ndata: c\n\n");
    assert_eq!(event(None, b"a\n"), "data: a\ndata: \n\n");
    assert_eq!(event(None, b"\n\n"), "data: \ndata: \ndata: \n\n");
    assert_eq!(
        event(None, b"x\n\nid: 9-9\n"),
        "data: x\ndata: \ndata: id: 9-9\ndata: \n\n"
    );
}

#[test]
fn opening_and_closing_frame_one_line() {
    let id = EventId {
        stream: 1,
        index: 0,
    };
    let mut out = Vec::new();
    sse::open_event(&mut out, Some(id));
    out.extend_from_slice(b"{}");
    out.extend_from_slice(sse::CLOSE_EVENT);
    assert_eq!(out, event(Some(id), b"{}").into_bytes());
}

#[test]
fn priming_retry_and_comments() {
    let id = EventId {
        stream: 1,
        index: 0,
    };
    let written = |write: &dyn Fn(&mut Vec<u8>)| {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).expect("text")
    };
    assert_eq!(
        written(&|out| sse::write_priming(out, id, None)),
        "id: 1-0\ndata: \n\n"
    );
    assert_eq!(
        written(&|out| sse::write_priming(out, id, Some(1_500))),
        "retry: 1500\nid: 1-0\ndata: \n\n"
    );
    assert_eq!(written(&|out| sse::write_retry(out, 0)), "retry: 0\n");
    assert_eq!(sse::KEEP_ALIVE, b":\n\n");
}

#[test]
fn a_stream_says_that_nothing_may_hold_it_back() {
    assert_eq!(
        STREAM_HEADERS,
        [
            ("content-type", "text/event-stream"),
            ("cache-control", "no-cache, no-transform"),
            ("x-accel-buffering", "no"),
        ]
    );
}

#[test]
fn event_ids_are_read_as_they_are_written() {
    for id in [
        EventId {
            stream: 0,
            index: 0,
        },
        EventId {
            stream: 10,
            index: 9,
        },
        EventId {
            stream: u64::MAX,
            index: u64::MAX,
        },
    ] {
        assert_eq!(EventId::parse(&id.to_string()), Some(id));
    }
}
