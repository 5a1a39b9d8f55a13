//! Sealed request state: it opens only unchanged, for its request, and before it expires.
#![no_main]

use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use mcp_core::protocol::{Binding, NONCE_BYTES, SECRET_BYTES, StateError, open, seal};
use mcp_fuzz::budget::within;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    secret: [u8; SECRET_BYTES],
    nonce: [u8; NONCE_BYTES],
    asked: Asked<'a>,
    state: &'a [u8],
    expires_at: u64,
    now: u64,
    attack: Attack<'a>,
}

#[derive(Arbitrary, Clone, Debug)]
struct Asked<'a> {
    principal: &'a [u8],
    router: &'a str,
    mount: &'a str,
    method: &'a str,
    name: &'a str,
    arguments: &'a [u8],
}

#[derive(Arbitrary, Debug)]
enum Attack<'a> {
    /// Replaces a byte.
    Change(u16, u8),
    /// Keeps only the start.
    Cut(u16),
    Append(&'a str),
    /// Replaces the whole text.
    Forge(&'a str),
    /// Opens the state for another request.
    Ask(Asked<'a>),
    /// Moves the border between two neighbouring parts of the binding.
    Shift(u16),
    /// Uses another server's secret.
    Secret([u8; SECRET_BYTES]),
}

impl<'a> Asked<'a> {
    fn binding(&self) -> Binding<'a> {
        let Self {
            principal,
            router,
            mount,
            method,
            name,
            arguments,
        } = *self;
        Binding {
            principal,
            router,
            mount,
            method,
            name,
            arguments,
        }
    }

    fn is(&self, other: &Self) -> bool {
        let parts = |asked: &Self| {
            (
                (asked.principal, asked.router, asked.mount),
                (asked.method, asked.name, asked.arguments),
            )
        };
        parts(self) == parts(other)
    }
}

fuzz_target!(|case: Case<'_>| within(|| {
    let Case {
        secret,
        nonce,
        asked,
        state,
        expires_at,
        now,
        ..
    } = &case;
    let sealed = seal(secret, nonce, &asked.binding(), *expires_at, state).expect("sealed");
    assert!(
        sealed
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    );

    let opened = open(secret, &asked.binding(), *now, &sealed);
    if now < expires_at {
        assert_eq!(opened.as_deref(), Ok(*state));
    } else {
        assert_eq!(opened, Err(StateError::Expired));
    }
    attack(&case, &sealed);
}));

/// Runs at time 0, so that no state is refused for its age.
fn attack(case: &Case<'_>, sealed: &str) {
    let refuses = |secret: &[u8; SECRET_BYTES], asked: &Asked<'_>, text: &str| {
        assert_eq!(
            open(secret, &asked.binding(), 0, text),
            Err(StateError::Invalid)
        );
    };
    let touched = |text: &str| {
        if text != sealed {
            refuses(&case.secret, &case.asked, text);
        }
    };
    match &case.attack {
        Attack::Change(place, byte) => {
            let mut bytes = sealed.as_bytes().to_vec();
            let place = usize::from(*place) % bytes.len();
            bytes[place] = *byte;
            touched(&String::from_utf8_lossy(&bytes));
        }
        Attack::Cut(place) => touched(&sealed[..usize::from(*place) % sealed.len()]),
        Attack::Append(tail) => touched(&format!("{sealed}{tail}")),
        Attack::Forge(text) => touched(text),
        Attack::Ask(other) if !other.is(&case.asked) => refuses(&case.secret, other, sealed),
        Attack::Ask(_) => {}
        Attack::Shift(place) => {
            let both = format!("{}{}", case.asked.method, case.asked.name);
            let place = usize::from(*place) % (both.len() + 1);
            if let Some((method, name)) = both.split_at_checked(place) {
                let other = Asked {
                    method,
                    name,
                    ..case.asked.clone()
                };
                if !other.is(&case.asked) {
                    refuses(&case.secret, &other, sealed);
                }
            }
        }
        Attack::Secret(other) if *other != case.secret => refuses(other, &case.asked, sealed),
        Attack::Secret(_) => {}
    }
}
