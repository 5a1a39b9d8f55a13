//! Requests judged by their tokens, before any signature is verified; and the table of tokens that were.

use mcp_core::auth::{
    Denial, Guard, InForce, Policy, PolicyOptions, Refusal, Verdict, Verified, VerifiedTokens,
    digest,
};
use mcp_core::http::Head;

const NOW: u64 = 1_700_000_000;
/// `{"alg":"ES256"}`
const HEADER: &str = "eyJhbGciOiJFUzI1NiJ9";

fn guard() -> Guard {
    let policy = Policy::new(PolicyOptions {
        issuer: "https://a.example".to_owned(),
        audience: vec!["https://mcp.example/mcp".to_owned()],
        ..PolicyOptions::default()
    })
    .unwrap();
    Guard {
        policies: vec![policy],
        max_token_bytes: 1024,
        ..Guard::default()
    }
}

fn token(issuer: &str, expires_at: u64) -> String {
    use base64::Engine;
    let claims = format!(
        r#"{{"iss":"{issuer}","sub":"ada","aud":"https://mcp.example/mcp","exp":{expires_at}}}"#
    );
    let claims = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(claims);
    format!("{HEADER}.{claims}.c2lnbmF0dXJl")
}

fn judge(guard: &Guard, token: &str, known: Option<bool>) -> Verdict {
    let value = format!("Bearer {token}");
    let headers = [("authorization", value.as_bytes())];
    guard.judge(&head("/mcp", &headers), NOW, |_| known)
}

fn head<'h>(target: &'h str, headers: &'h [(&'h str, &'h [u8])]) -> Head<'h> {
    Head {
        method: "POST",
        target,
        authority: None,
        headers,
    }
}

fn refused(refusal: Refusal) -> Verdict {
    Verdict::Denied(Denial::Token(refusal))
}

#[test]
fn a_rule_refuses_without_a_signature() {
    let guard = guard();
    let good = token("https://a.example", NOW + 60);
    let cases = [
        (good.clone(), Verdict::Open),
        (
            token("https://a.example", NOW - 60),
            refused(Refusal::Expired),
        ),
        (
            token("https://b.example", NOW + 60),
            refused(Refusal::Issuer),
        ),
        ("opaque".to_owned(), refused(Refusal::Malformed)),
        ("a.b.c".to_owned(), refused(Refusal::Malformed)),
        ("a".repeat(1025), refused(Refusal::TooLarge)),
    ];
    for (token, verdict) in cases {
        assert_eq!(judge(&guard, &token, None), verdict, "{token}");
    }
    assert_eq!(
        judge(&guard, &good, Some(true)),
        Verdict::Known(digest(&good))
    );
    assert_eq!(
        judge(&guard, &good, Some(false)),
        Verdict::Denied(Denial::Scope)
    );
}

#[test]
fn a_request_without_a_token_is_refused_unless_it_may_be_anonymous() {
    let verdict = |guard: &Guard, target| guard.judge(&head(target, &[]), NOW, |_| None);
    let missing = Verdict::Denied(Denial::Missing);
    assert_eq!(verdict(&guard(), "/mcp"), missing);
    let open = Guard {
        anonymous: true,
        ..guard()
    };
    assert_eq!(verdict(&open, "/mcp"), Verdict::Open);
    let malformed = Verdict::Denied(Denial::MalformedRequest);
    assert_eq!(verdict(&open, "/mcp?access_token=x"), malformed);
}

#[test]
fn others_are_asked_about_tokens_of_no_known_issuer() {
    let asking = Guard {
        others: true,
        ..guard()
    };
    for token in ["opaque", "a.b.c", &token("https://b.example", NOW)] {
        assert_eq!(judge(&asking, token, None), Verdict::Open, "{token}");
    }
    let expired = token("https://a.example", NOW - 60);
    assert_eq!(judge(&asking, &expired, None), refused(Refusal::Expired));
    let tenants = Guard {
        tenants: true,
        ..guard()
    };
    let of_another = token("https://b.example", NOW);
    assert_eq!(judge(&tenants, &of_another, None), Verdict::Open);
    assert_eq!(judge(&tenants, &expired, None), refused(Refusal::Expired));
    for token in ["opaque", "a.b.c"] {
        let verdict = judge(&tenants, token, None);
        assert_eq!(verdict, refused(Refusal::Malformed), "{token}");
    }
    let fixed = Guard {
        fixed: [digest("opaque"), digest(&expired)].into(),
        ..guard()
    };
    for token in ["opaque", &expired] {
        assert_eq!(judge(&fixed, token, None), Verdict::Open, "{token}");
    }
}

#[test]
fn a_denial_names_scopes_and_metadata() {
    let answer = |denial: Denial| {
        let answer = denial.answer(&["mcp:use"], Some("https://mcp.example/m"));
        let (name, value) = answer.headers.last().unwrap().clone();
        assert_eq!(name, "www-authenticate");
        (answer.status, value)
    };
    let tail = r#"scope="mcp:use", resource_metadata="https://mcp.example/m""#;
    for (denial, name, status, error) in [
        (Denial::Missing, "missing", 401, ""),
        (
            Denial::MalformedRequest,
            "malformed_request",
            400,
            r#"error="invalid_request", error_description="A request has one access token, in the header Authorization", "#,
        ),
        (
            Denial::Scope,
            "scope",
            403,
            r#"error="insufficient_scope", "#,
        ),
        (
            Denial::Token(Refusal::Expired),
            "expired",
            401,
            r#"error="invalid_token", error_description="The access token has expired", "#,
        ),
    ] {
        assert_eq!(denial.name(), name);
        assert_eq!(answer(denial), (status, format!("Bearer {error}{tail}")));
    }
}

fn verified(until: u64, keys: Option<InForce>) -> Verified {
    Verified {
        until,
        sufficient: true,
        keys,
        holder: 1,
    }
}

fn of_holder(holder: u64) -> Verified {
    Verified {
        holder,
        ..verified(NOW, None)
    }
}

#[test]
fn a_token_is_known_until_its_time_is_over() {
    let mut table = VerifiedTokens::new(2);
    assert_eq!(table.insert(digest("a"), verified(NOW, None)), None);
    assert_eq!(table.find(&digest("a"), NOW - 1), Some(true));
    assert_eq!(table.find(&digest("a"), NOW), None);
    assert_eq!(table.find(&digest("A"), NOW - 1), None);
    table.clear();
    assert_eq!(table.find(&digest("a"), NOW - 1), None);
}

#[test]
fn withdrawn_keys_take_their_tokens_along() {
    let mut table = VerifiedTokens::new(24);
    let [old, new] = [InForce::default(), InForce::default()];
    table.insert(digest("old"), verified(NOW, Some(old.clone())));
    table.insert(digest("new"), verified(NOW, Some(new)));
    old.withdraw();
    // It was verified while the keys were replaced.
    table.insert(digest("late"), verified(NOW, Some(old)));
    let found = ["old", "new", "late"].map(|token| table.find(&digest(token), 0));
    assert_eq!(found, [None, Some(true), None]);
}

#[test]
fn in_a_full_table_the_oldest_token_makes_room() {
    let mut table = VerifiedTokens::new(2);
    assert_eq!(table.insert(digest("a"), of_holder(1)), None);
    assert_eq!(table.insert(digest("b"), of_holder(2)), None);
    // It has been verified anew, and is the youngest.
    assert_eq!(table.insert(digest("a"), of_holder(1)), None);
    assert_eq!(table.insert(digest("c"), of_holder(3)), Some(digest("b")));
    assert_eq!(table.insert(digest("d"), of_holder(4)), Some(digest("a")));
    let found = ["a", "b", "c", "d"].map(|token| table.find(&digest(token), 0));
    assert_eq!(found, [None, None, Some(true), Some(true)]);
    let mut none = VerifiedTokens::new(0);
    assert_eq!(none.insert(digest("a"), of_holder(1)), None);
    assert_eq!(none.find(&digest("a"), 0), None);
}

#[test]
fn who_has_many_tokens_pushes_out_its_own() {
    let mut table = VerifiedTokens::new(16);
    table.insert(digest("of another"), of_holder(2));
    let pushed_out: Vec<_> = (0..100)
        .filter_map(|n: u8| table.insert(digest(&n.to_string()), of_holder(1)))
        .collect();
    let oldest: Vec<_> = (0..98).map(|n: u8| digest(&n.to_string())).collect();
    assert_eq!(pushed_out, oldest);
    let found = ["of another", "97", "98", "99"].map(|token| table.find(&digest(token), 0));
    assert_eq!(found, [Some(true), None, Some(true), Some(true)]);
}
