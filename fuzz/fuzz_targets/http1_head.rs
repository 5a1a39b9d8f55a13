//! Request heads: the result does not depend on the cut, limits are exact, and an accepted head
//! equals its lines.
//!
//! The first byte selects the limits; the rest arrives on the connection.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::http1::{HeadError, Limits, Progress, RequestHead, read_head};
use mcp_fuzz::budget::within;
use mcp_fuzz::http1::is_sound;

/// Up to this length every cut of an input is tried; of longer inputs only some cuts.
const EVERY_CUT: usize = 200;

fuzz_target!(|bytes: &[u8]| {
    let Some((choice, bytes)) = bytes.split_first() else {
        return;
    };
    within(|| {
        let limits = limits(*choice);
        let whole = read_head(bytes, 0, &limits);
        match &whole {
            Ok(Progress::Complete(head)) => is_taken(bytes, head, &limits),
            Ok(Progress::Partial { scanned }) => {
                assert_eq!(*scanned, bytes.len());
                assert!(bytes.len() < limits.max_head_bytes);
            }
            Err(error) => assert!([400, 414, 417, 431, 501, 505].contains(&error.status())),
        }
        does_not_depend_on_the_cut(bytes, &whole, &limits);
    });
});

fn limits(choice: u8) -> Limits {
    match choice {
        0..=63 => Limits {
            max_head_bytes: 8 * usize::from(choice),
            max_fields: usize::from(choice % 8),
        },
        _ => Limits::default(),
    }
}

fn is_taken(bytes: &[u8], head: &RequestHead<'_>, limits: &Limits) {
    assert!(head.bytes <= limits.max_head_bytes);
    assert!(head.fields.len() <= limits.max_fields);
    is_sound(bytes, head);
    let again = |max_head_bytes, max_fields| {
        let limits = Limits {
            max_head_bytes,
            max_fields,
        };
        read_head(bytes, 0, &limits)
    };
    let taken = Ok(Progress::Complete(head.clone()));
    assert_eq!(again(head.bytes, head.fields.len()), taken);
    assert_eq!(
        again(head.bytes - 1, head.fields.len()),
        Err(HeadError::TooLarge)
    );
    if let Some(fewer) = head.fields.len().checked_sub(1) {
        assert_eq!(again(head.bytes, fewer), Err(HeadError::TooLarge));
    }
    // Bytes after a head do not change the head.
    assert_eq!(read_head(&bytes[..head.bytes], 0, limits), taken);
}

type Answer<'b> = Result<Progress<'b>, HeadError>;

fn does_not_depend_on_the_cut(bytes: &[u8], whole: &Answer<'_>, limits: &Limits) {
    let step = bytes.len().div_ceil(EVERY_CUT).max(1);
    let mut scanned = 0;
    for cut in (0..bytes.len()).step_by(step) {
        match read_head(&bytes[..cut], scanned, limits) {
            Ok(Progress::Partial { scanned: now }) => scanned = now,
            early => {
                assert_eq!(early, *whole);
                return;
            }
        }
    }
    assert_eq!(read_head(bytes, scanned, limits), *whole);
}
