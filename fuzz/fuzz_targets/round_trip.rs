//! A value that is read, written and read again stays the same, and its text is one line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::json::{Limits, NotUtf8, write_escaped, write_json_text, write_string, write_utf8};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::{Repeated, Tree, parse};

fuzz_target!(|bytes: &[u8]| within(|| {
    text(bytes);
    let Ok(tree) = read(bytes) else { return };
    let written = tree.to_json();
    assert!(
        written.iter().all(|byte| *byte >= 0x20),
        "a message is one line"
    );
    let again = read(&written).expect("what was written is JSON");
    assert_eq!(again, tree);
    assert_eq!(again.to_json(), written);

    let mut quoted = Vec::new();
    write_json_text(&mut quoted, &written);
    let inside = String::from_utf8(written).expect("JSON is text");
    assert_eq!(read(&quoted), Ok(Tree::Text(inside)), "JSON inside of JSON");
}));

/// Reads without a limit on digits: a float of few digits may be written with more.
fn read(bytes: &[u8]) -> Result<Tree, mcp_core::json::JsonError> {
    parse(bytes, &Limits::default(), Repeated::Keep)
}

/// Writes any bytes as a string.
fn text(bytes: &[u8]) {
    let mut out = b"before".to_vec();
    match (write_utf8(&mut out, bytes), std::str::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => {
            let mut plain = b"before".to_vec();
            write_string(&mut plain, text);
            assert_eq!(out, plain);
            assert_eq!(read(&out[6..]), Ok(Tree::Text(text.to_owned())));
            let mut escaped = Vec::new();
            write_escaped(&mut escaped, bytes);
            assert_eq!(escaped, out[7..out.len() - 1]);
            assert!(out.iter().all(|byte| *byte >= 0x20), "a string is one line");
        }
        (Err(NotUtf8), Err(_)) => assert_eq!(out, b"before", "nothing of a refused text is left"),
        (written, checked) => panic!("{written:?} and {checked:?}"),
    }
}
