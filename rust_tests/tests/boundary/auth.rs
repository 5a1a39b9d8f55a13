//! Access tokens: what is printed of one, and the order of what refuses it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_core::auth::{KeySet, Policy, PolicyOptions, Proof, Refusal, screen};

const NOW: u64 = 1_700_000_000;

fn token(signature: &[u8]) -> String {
    let claims = format!(
        r#"{{"iss":"https://auth.example","aud":"https://mcp.example/mcp","sub":"ada","exp":{NOW}}}"#
    );
    [br#"{"alg":"HS256"}"#, claims.as_bytes(), signature]
        .map(|part| URL_SAFE_NO_PAD.encode(part))
        .join(".")
}

fn policy() -> Policy {
    Policy::new(PolicyOptions {
        issuer: "https://auth.example".to_owned(),
        audience: vec!["https://mcp.example/mcp".to_owned()],
        algorithms: vec!["HS256".to_owned()],
        ..PolicyOptions::default()
    })
    .expect("a policy")
}

#[test]
fn nothing_of_a_token_is_printed() {
    let keys = KeySet::secret(&[7; 32]).expect("a secret");
    let pending = screen(&token(&[1; 32]), &policy(), &keys, NOW).expect("a token");
    assert_eq!(format!("{pending:?}"), "Pending(Hs256)");
    let grant = pending.verified(Proof::of_signature());
    assert_eq!(format!("{grant:?}"), "Grant");
    assert!(!format!("{keys:?}").contains('7'));
}

#[test]
fn the_time_comes_before_the_key_and_the_key_before_the_signature() {
    let secret = KeySet::secret(&[7; 32]).expect("a secret");
    let none = KeySet::published(br#"{"keys":[]}"#).expect("a key set");
    let judged = |keys, now| screen(&token(&[1; 31]), &policy(), keys, now).err();
    assert_eq!(judged(&none, NOW + 30), Some(Refusal::Expired));
    assert_eq!(judged(&none, NOW + 29), Some(Refusal::Key));
    assert_eq!(judged(&secret, NOW + 29), Some(Refusal::Signature));
}
