//! The state that clients carry: sealed for one request, opened for no other.

use mcp_core::protocol::{Binding, NONCE_BYTES, SECRET_BYTES, StateError, open, seal};

const SECRET: [u8; SECRET_BYTES] = [7; SECRET_BYTES];
const NONCE: [u8; NONCE_BYTES] = [9; NONCE_BYTES];
const CALL: Binding<'_> = Binding {
    principal: b"ada",
    router: "Shop",
    mount: "http /mcp",
    method: "tools/call",
    name: "pay",
    arguments: b"digest",
};

fn sealed() -> String {
    seal(&SECRET, &NONCE, &CALL, 1_000, b"step 2").unwrap()
}

#[test]
fn a_state_opens_for_its_own_request_until_it_expires() {
    assert_eq!(open(&SECRET, &CALL, 999, &sealed()), Ok(b"step 2".to_vec()));
    assert_eq!(
        open(&SECRET, &CALL, 1_000, &sealed()),
        Err(StateError::Expired)
    );
}

#[test]
fn every_part_of_the_binding_counts() {
    let others = [
        Binding {
            principal: b"eve",
            ..CALL
        },
        Binding {
            router: "Bank",
            ..CALL
        },
        Binding {
            mount: "http /admin",
            ..CALL
        },
        Binding { mount: "", ..CALL },
        Binding {
            method: "prompts/get",
            ..CALL
        },
        Binding {
            name: "refund",
            ..CALL
        },
        Binding {
            arguments: b"other",
            ..CALL
        },
        // The same bytes in a row, cut elsewhere.
        Binding {
            principal: b"adaS",
            router: "hop",
            ..CALL
        },
    ];
    for other in others {
        assert_eq!(
            open(&SECRET, &other, 0, &sealed()),
            Err(StateError::Invalid),
            "{other:?}"
        );
    }
}

#[test]
fn another_secret_or_a_changed_byte_is_invalid() {
    let good = sealed();
    assert_eq!(
        open(&[8; SECRET_BYTES], &CALL, 0, &good),
        Err(StateError::Invalid)
    );
    assert_eq!(
        open(&SECRET, &CALL, 0, &format!("{good}-TAMPERED")),
        Err(StateError::Invalid)
    );
    for place in 0..good.len() {
        let mut bytes = good.clone().into_bytes();
        if let Some(byte) = bytes.get_mut(place) {
            *byte = if *byte == b'A' { b'B' } else { b'A' };
        }
        let changed = String::from_utf8_lossy(&bytes).into_owned();
        assert_eq!(
            open(&SECRET, &CALL, 0, &changed),
            Err(StateError::Invalid),
            "byte {place}"
        );
    }
    assert_eq!(open(&SECRET, &CALL, 0, ""), Err(StateError::Invalid));
}
