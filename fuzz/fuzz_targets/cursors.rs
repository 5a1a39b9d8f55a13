//! Cursors of paged lists: only the cursors of existing pages are accepted.
#![no_main]

use std::sync::OnceLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use libfuzzer_sys::fuzz_target;
use mcp_core::catalog::ListKind;
use mcp_core::json::{Document, Limits};
use mcp_core::revision::Revision;
use mcp_fuzz::budget::within;
use mcp_fuzz::server::page;

fuzz_target!(|text: &str| {
    let given = given();
    within(|| {
        // Most texts are no cursor, so some are a cursor with one changed byte.
        let changed = changed(text, given);
        for text in [Some(text), changed.as_deref()].into_iter().flatten() {
            for kind in ListKind::ALL {
                let is_given = given
                    .iter()
                    .any(|(of, cursor)| *of == kind && cursor == text);
                for revision in Revision::ALL {
                    let page = page(kind, revision, Some(text));
                    assert_eq!(page.is_some(), is_given, "{text:?}");
                }
            }
        }
    });
});

fn changed(text: &str, given: &[(ListKind, String)]) -> Option<String> {
    let (which, rest) = text.split_at_checked(1)?;
    let (place, replacement) = rest.split_at_checked(1)?;
    let (_, cursor) = &given[usize::from(which.as_bytes()[0]) % given.len()];
    let place = usize::from(place.as_bytes()[0]) % cursor.len();
    let end = (place + replacement.len()).min(cursor.len());
    let mut changed = cursor.clone();
    changed.replace_range(place..end, replacement);
    Some(changed)
}

/// The cursors of each list's second and last page, and of its first page, which the server never
/// sends.
fn given() -> &'static [(ListKind, String)] {
    static GIVEN: OnceLock<Vec<(ListKind, String)>> = OnceLock::new();
    GIVEN.get_or_init(|| {
        let mut given = Vec::new();
        for kind in ListKind::ALL {
            let second = next(kind, None).expect("two pages of each list");
            assert_eq!(next(kind, Some(&second)), None);
            let mut bytes = URL_SAFE_NO_PAD.decode(&second).expect("Base64");
            *bytes.last_mut().expect("a page") = 0;
            given.push((kind, URL_SAFE_NO_PAD.encode(bytes)));
            given.push((kind, second));
        }
        given
    })
}

fn next(kind: ListKind, cursor: Option<&str>) -> Option<String> {
    let tail = page(kind, Revision::NEWEST, cursor).expect("a page");
    let text = [b"{\"id\":1", tail].concat();
    let document = Document::scan(&text, &Limits::default()).expect("JSON");
    let next = document.root().get("result")?.get("nextCursor")?.text()?;
    Some(next.into_owned())
}
