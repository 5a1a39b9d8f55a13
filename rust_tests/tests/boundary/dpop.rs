//! Proofs of keys: the examples of RFC 9449, and what each rule refuses.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_core::auth::{Algorithm, Material, Proof, ProofRefusal, Proven, proof, screen_proof};
use mcp_core::http::Head;

/// Of section 4.1 and section 7.1, made with the key of section 6.1.
const HEADER: &str = "eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZOXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIsImNydiI6IlAtMjU2In19";
const OF_TOKEN_REQUEST: &str = "eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rva2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg";
const OF_RESOURCE: &str = "eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9wcm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlpS0NBcWtzbVFFbyJ9.2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA";

const PROVEN: Proven<'_> = Proven {
    method: "GET",
    url: "https://resource.example.org/protectedresource",
    token_hash: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo",
    now: 1_562_262_618,
    window: 300,
};

#[test]
fn the_example_of_a_protected_resource_is_taken() {
    let pending = screen_proof(&format!("{HEADER}.{OF_RESOURCE}"), &PROVEN).expect("a proof");
    assert_eq!(pending.algorithm(), Algorithm::Es256);
    assert!(matches!(pending.key(), Material::Ec { point, .. } if point.len() == 65));
    assert_eq!(
        pending.thumbprint_text(),
        r#"{"crv":"P-256","kty":"EC","x":"l8tFrhx-34tV3hRICRDY9zCkDlpBhF42UQUfWVAWBFs","y":"9VE4jf_Ok_o64zbTTlcuNJajHmt6v9TDVrU0CdvGRDA"}"#
    );
    let signature = URL_SAFE_NO_PAD.encode(pending.signature());
    let text = format!("{}.{signature}", pending.signing_input());
    assert_eq!(text, format!("{HEADER}.{OF_RESOURCE}"));
    assert_eq!(format!("{pending:?}"), "PendingProof(Es256)");
    let unique = pending.verified(Proof::of_signature());
    assert_eq!(format!("{unique:?}"), "Unique");
    assert_eq!(unique.id, "e1j3V_bKic8-LAEB");
    assert_eq!(unique.issued_at, 1_562_262_618);
    assert_eq!(unique.nonce, None);
}

#[test]
fn the_example_of_a_token_request_says_no_token() {
    let proven = Proven {
        method: "POST",
        url: "https://server.example.com/token",
        ..PROVEN
    };
    let refused = screen_proof(&format!("{HEADER}.{OF_TOKEN_REQUEST}"), &proven).err();
    assert_eq!(refused, Some(ProofRefusal::Claims));
}

#[test]
fn each_fact_counts_and_the_window_is_exact() {
    let text = format!("{HEADER}.{OF_RESOURCE}");
    let judged = |proven: Proven<'_>| screen_proof(&text, &proven).err();
    let at = |now| judged(Proven { now, ..PROVEN });
    assert_eq!(at(PROVEN.now - 300), None);
    assert_eq!(at(PROVEN.now + 300), None);
    assert_eq!(at(PROVEN.now - 301), Some(ProofRefusal::Time));
    assert_eq!(at(PROVEN.now + 301), Some(ProofRefusal::Time));
    let method = judged(Proven {
        method: "POST",
        ..PROVEN
    });
    assert_eq!(method, Some(ProofRefusal::Method));
    let url = judged(Proven {
        url: "https://resource.example.org/other",
        ..PROVEN
    });
    assert_eq!(url, Some(ProofRefusal::Target));
    let token = judged(Proven {
        token_hash: "x",
        ..PROVEN
    });
    assert_eq!(token, Some(ProofRefusal::Token));
}

#[test]
fn what_is_too_large_or_has_a_member_twice_is_malformed() {
    let [_, claims, signature] = [HEADER]
        .into_iter()
        .chain(OF_RESOURCE.split('.'))
        .collect::<Vec<_>>()[..]
    else {
        panic!("three segments");
    };
    let long = format!("{HEADER}.{claims}.{signature}{}", "A".repeat(8_192));
    let twice = URL_SAFE_NO_PAD.encode(r#"{"typ":"dpop+jwt","typ":"dpop+jwt","alg":"ES256"}"#);
    for text in [
        long,
        format!("{twice}.{claims}.{signature}"),
        format!("{HEADER}.{claims}"),
        format!("{HEADER}.{claims}.{signature}.x"),
        format!("{HEADER}.{claims}=.{signature}"),
        String::new(),
    ] {
        let refused = screen_proof(&text, &PROVEN).err();
        assert_eq!(refused, Some(ProofRefusal::Malformed), "{text}");
    }
    let short = format!("{HEADER}.{claims}.AAAA");
    let refused = screen_proof(&short, &PROVEN).err();
    assert_eq!(refused, Some(ProofRefusal::Signature));
}

#[test]
fn a_request_has_one_proof() {
    let found = |headers: &[(&str, &[u8])]| {
        let head = Head {
            method: "POST",
            target: "/mcp",
            authority: None,
            headers,
        };
        proof(&head).map(str::to_owned)
    };
    assert_eq!(found(&[("DPoP", b"a.b.c")]), Ok("a.b.c".to_owned()));
    assert_eq!(found(&[]), Err(ProofRefusal::Missing));
    let twice = found(&[("DPoP", b"a"), ("dpop", b"a")]);
    assert_eq!(twice, Err(ProofRefusal::Repeated));
    assert_eq!(found(&[("dpop", b"\xff")]), Err(ProofRefusal::Malformed));
}
