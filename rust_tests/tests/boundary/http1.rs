//! HTTP/1.1 without I/O: tables of heads, lengths, targets, chunks and answers, each read at every cut.

mod answers;
mod chunks;
mod cost;
mod framing;
mod heads;
mod limits;
mod properties;
mod targets;

use mcp_core::http1::{HeadError, Limits, Progress, RequestHead, read_head};

/// Reads a head whole and in every two pieces; each way gives the same.
#[track_caller]
fn read_within<'b>(bytes: &'b [u8], limits: &Limits) -> Result<Progress<'b>, HeadError> {
    let whole = read_head(bytes, 0, limits);
    for cut in 0..bytes.len() {
        let pieces = match read_head(&bytes[..cut], 0, limits) {
            Ok(Progress::Partial { scanned }) => read_head(bytes, scanned, limits),
            early => early,
        };
        assert_eq!(pieces, whole, "cut at {cut} of {}", bytes.escape_ascii());
    }
    whole
}

#[track_caller]
fn read(bytes: &[u8]) -> Result<Progress<'_>, HeadError> {
    read_within(bytes, &Limits::default())
}

#[track_caller]
fn taken(text: &str) -> RequestHead<'_> {
    match read(text.as_bytes()) {
        Ok(Progress::Complete(head)) => head,
        other => panic!("{text:?} gave {other:?}"),
    }
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>) -> (u16, String) {
    let bytes = bytes.as_ref();
    match read(bytes) {
        Err(error) => (error.status(), error.to_string()),
        other => panic!("{} gave {other:?}", bytes.escape_ascii()),
    }
}

#[track_caller]
fn refuses(bytes: impl AsRef<[u8]>, status: u16, text: &str) {
    let shown = bytes.as_ref().escape_ascii().to_string();
    assert_eq!(refused(bytes), (status, text.to_owned()), "{shown}");
}
