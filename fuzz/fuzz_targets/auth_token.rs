//! Access tokens: a token passes the screening exactly if it follows the rules, which this target
//! implements again. Its grant equals its claims, and no other text is the same token. The claims
//! are also judged as an issuer's introspection response.
//!
//! The input: a byte for the policy, a byte for the form, a byte for a change, then a token; or a
//! header, claims and a signature between NULs, which this target encodes.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mcp_core::auth::{
    Grant, KeySet, Pending, Policy, PolicyOptions, Proof, Refusal, introspected, issuer, screen,
};
use mcp_core::json::Limits;
use mcp_fuzz::auth::{decode, encode, member, object, seconds, text};
use mcp_fuzz::budget::within;
use mcp_fuzz::tree::Tree;

const NOW: u64 = 1_700_000_000;
const ISSUER: &str = "https://auth.example";
const SECRET: [u8; 48] = [7; 48];
const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_values: 1024,
    max_digits: 20,
};

/// The policy, the keys, and a description of each key: `kid`, its algorithms, and the bytes of its
/// signatures.
struct Server {
    options: PolicyOptions,
    policy: Policy,
    keys: KeySet,
    known: &'static [(Option<&'static str>, &'static [&'static str], usize)],
}

const RSA: &[&str] = &["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const EDWARDS: &[&str] = &["EdDSA", "Ed25519"];

static SERVERS: LazyLock<[Server; 3]> = LazyLock::new(|| {
    let standard = PolicyOptions {
        issuer: ISSUER.to_owned(),
        audience: vec!["HTTPS://mcp.example:443/mcp/".to_owned()],
        ..PolicyOptions::default()
    };
    let strict = PolicyOptions {
        audience: vec!["app".to_owned()],
        audience_claim: "client_id".to_owned(),
        algorithms: vec!["ES256".to_owned(), "Ed25519".to_owned()],
        leeway: 0,
        expires: false,
        strict_type: true,
        subject: false,
        scope_claims: vec![
            vec!["realm_access".to_owned(), "roles".to_owned()],
            vec!["scp".to_owned()],
        ],
        claims: vec![("token_use".to_owned(), "access".to_owned())],
        max_token_bytes: 600,
        ..standard.clone()
    };
    let shared = PolicyOptions {
        algorithms: ["HS256", "HS384", "HS512"].map(str::to_owned).to_vec(),
        ..standard.clone()
    };
    let modulus = encode(&[0xC5; 256]);
    let other = encode(&[0xC7; 256]);
    let part = |length: usize| encode(&vec![3; length]);
    let several = format!(
        r#"{{"keys":[{{"kty":"RSA","kid":"r","n":"{modulus}","e":"AQAB"}},
        {{"kty":"RSA","kid":"p","n":"{other}","e":"AQAB","alg":"PS256"}},
        {{"kty":"EC","kid":"e","crv":"P-256","x":"{0}","y":"{0}"}},
        {{"kty":"EC","crv":"P-384","x":"{1}","y":"{1}"}},
        {{"kty":"EC","kid":"e5","crv":"P-521","x":"{2}","y":"{2}","use":"sig"}},
        {{"kty":"OKP","kid":"o","crv":"Ed25519","x":"{0}","alg":"EdDSA"}}]}}"#,
        part(32),
        part(48),
        part(66),
    );
    let nameless = format!(
        r#"{{"keys":[{{"kty":"EC","crv":"P-256","x":"{0}","y":"{0}"}},{{"kty":"OKP","crv":"Ed25519","x":"{0}"}}]}}"#,
        part(32)
    );
    let server = |options: PolicyOptions, keys, known| Server {
        policy: Policy::new(options.clone()).expect("a policy"),
        keys,
        known,
        options,
    };
    let published = |json: &str| {
        let keys = KeySet::published(json.as_bytes()).expect("a key set");
        assert_eq!(keys.skipped(), 0);
        keys
    };
    [
        server(
            standard,
            published(&several),
            &[
                (Some("r"), RSA, 256),
                (Some("p"), &["PS256"], 256),
                (Some("e"), &["ES256"], 64),
                (None, &["ES384"], 96),
                (Some("e5"), &["ES512"], 132),
                (Some("o"), EDWARDS, 64),
            ],
        ),
        server(
            strict,
            published(&nameless),
            &[(None, &["ES256"], 64), (None, EDWARDS, 64)],
        ),
        server(
            shared,
            KeySet::secret(&SECRET).expect("a secret"),
            &[(None, &["HS256", "HS384"], 0)],
        ),
    ]
});

fuzz_target!(|bytes: &[u8]| within(|| {
    let [server, form, change, rest @ ..] = bytes else {
        return;
    };
    let server = &SERVERS[usize::from(*server) % SERVERS.len()];
    introspection(rest);
    let Some(token) = assembled(rest, *form) else {
        return;
    };
    let outcome = screen(&token, &server.policy, &server.keys, NOW);
    let expected = judge(server, &token);
    match (&outcome, &expected) {
        (Ok(pending), Some(granted)) => {
            is_sound(server, &token, pending, granted);
            changed(server, &token, pending, usize::from(*change));
        }
        (Err(refusal), None) => tells_nothing(&token, &format!("{refusal} {refusal:?}")),
        _ => panic!("{token}: {outcome:?}, but {expected:?}"),
    }
}));

/// A complete token, or its encoded parts; some forms resize the signature to the length of an
/// algorithm.
fn assembled(rest: &[u8], form: u8) -> Option<String> {
    if form % 4 == 0 {
        return std::str::from_utf8(rest).ok().map(str::to_owned);
    }
    let mut parts = rest.splitn(3, |byte| *byte == 0);
    let [header, claims, mut signature] = [0; 3].map(|_| parts.next().unwrap_or_default().to_vec());
    let lengths = [64, 256, 96, 132, 32, 48];
    if form % 4 == 1 {
        signature.resize(lengths[usize::from(form / 4) % lengths.len()], 1);
    }
    Some(format!(
        "{}.{}.{}",
        encode(&header),
        encode(&claims),
        encode(&signature)
    ))
}

/// Judges the text after the first NUL as an introspection response: with this server's audience,
/// and with none.
fn introspection(rest: &[u8]) {
    let answer = rest.splitn(3, |byte| *byte == 0).nth(1).unwrap_or(rest);
    for audience in [SERVERS[0].options.audience.clone(), Vec::new()] {
        let options = PolicyOptions {
            audience,
            expires: false,
            introspected: true,
            ..SERVERS[0].options.clone()
        };
        let policy = Policy::new(options.clone()).expect("a policy");
        let found = introspected(answer, &policy, NOW);
        tells_nothing(
            &String::from_utf8_lossy(answer),
            &format!("{:?}", found.as_ref().err()),
        );
        let found = found.ok().map(|grant| {
            assert_eq!(
                (grant.issuer.as_str(), grant.claims.as_slice()),
                (ISSUER, answer)
            );
            Granted::from(grant)
        });
        let said = object(answer, &LIMITS).filter(|said| {
            let kind = member(said, "token_type");
            let is_bearer = match kind {
                None => true,
                Some(Tree::Text(kind)) => kind.eq_ignore_ascii_case("bearer"),
                Some(_) => false,
            };
            is_bearer && member(said, "active") == Some(&Tree::Boolean(true))
        });
        assert_eq!(found, said.and_then(|said| granted(&options, &said)));
    }
}

/// Applies the rules to a token without its signature; `Some` is the grant.
fn judge(server: &Server, token: &str) -> Option<Granted> {
    let options = &server.options;
    let segments: Vec<&str> = token.split('.').collect();
    let [header, claims, signature] = segments[..] else {
        return None;
    };
    if token.len() > options.max_token_bytes || header.len() > 1368 {
        return None;
    }
    let signature = decode(signature)?;
    let header = object(&decode(header)?, &LIMITS)?;
    let claims = object(&decode(claims)?, &LIMITS)?;

    let algorithm = text(&header, "alg").ok()??;
    let edwards = |name: &str| EDWARDS.contains(&name);
    let is_allowed = options
        .algorithms
        .iter()
        .any(|allowed| allowed == algorithm || (edwards(allowed) && edwards(algorithm)));
    let refused = ["jwk", "jku", "x5u", "crit", "b64", "zip", "cty"];
    if !is_allowed || refused.iter().any(|name| member(&header, name).is_some()) {
        return None;
    }
    let kind = text(&header, "typ").ok()?.map(str::to_ascii_lowercase);
    let kinds: &[&str] = if options.strict_type {
        &["at+jwt", "application/at+jwt"]
    } else {
        &["jwt", "at+jwt", "application/at+jwt"]
    };
    match kind.as_deref() {
        Some(kind) if !kinds.contains(&kind) => return None,
        None if options.strict_type => return None,
        _ => {}
    }
    let kid = text(&header, "kid").ok()?;
    if kid.is_some_and(|kid| kid.len() > 256) {
        return None;
    }
    let is_named = server.known.iter().any(|(kid, ..)| kid.is_some());
    let fitting: Vec<_> = server
        .known
        .iter()
        .filter(|(name, algorithms, _)| {
            algorithms.contains(&algorithm) && (!is_named || kid.is_none() || *name == kid)
        })
        .collect();
    let [(_, _, length)] = fitting[..] else {
        return None;
    };
    let length = match algorithm {
        "HS256" => 32,
        "HS384" => 48,
        _ => *length,
    };
    (signature.len() == length).then_some(())?;
    granted(options, &claims)
}

#[derive(Debug, PartialEq)]
struct Granted {
    subject: Option<String>,
    client_id: Option<String>,
    scopes: Vec<String>,
    expires_at: Option<u64>,
}

impl From<Grant> for Granted {
    fn from(grant: Grant) -> Self {
        let Grant {
            subject,
            client_id,
            scopes,
            expires_at,
            ..
        } = grant;
        Self {
            subject,
            client_id,
            scopes,
            expires_at,
        }
    }
}

fn granted(options: &PolicyOptions, claims: &[(String, Tree)]) -> Option<Granted> {
    let has = |name: &str| member(claims, name).is_some();
    let is_issued = text(claims, "iss")
        .ok()?
        .map_or(options.introspected, |issuer| issuer == ISSUER);
    if claims.len() > 100 || !is_issued || has("cnf") {
        return None;
    }
    let expires_at = seconds(claims, "exp")?;
    let begins = [seconds(claims, "nbf")?, seconds(claims, "iat")?];
    let is_late = expires_at.is_some_and(|at| at + options.leeway <= NOW);
    let is_early = begins
        .into_iter()
        .flatten()
        .any(|at| at > NOW + options.leeway);
    if is_late || is_early || (options.expires && expires_at.is_none()) {
        return None;
    }
    if !options.audience.is_empty() {
        let audience = texts(member(claims, &options.audience_claim)?)?;
        audience
            .iter()
            .any(|name| is_ours(options, name))
            .then_some(())?;
    }
    let is_for_clients = has("nonce") || has("at_hash");
    if is_for_clients
        && !["scope", "scp", "client_id", "azp"]
            .iter()
            .any(|name| has(name))
    {
        return None;
    }
    for (name, expected) in &options.claims {
        (text(claims, name).ok()? == Some(expected)).then_some(())?;
    }
    let subject = text(claims, "sub").ok()?;
    let mut client_id = None;
    for name in ["client_id", "azp", "cid"] {
        if client_id.is_none() {
            client_id = text(claims, name).ok()?;
        }
    }
    let is_known = subject.is_some() || (options.introspected && client_id.is_some());
    if subject.is_some_and(|subject| subject.len() > 256) || (options.subject && !is_known) {
        return None;
    }
    Some(Granted {
        subject: subject.map(str::to_owned),
        client_id: client_id.map(str::to_owned),
        scopes: scopes(options, claims)?,
        expires_at,
    })
}

fn texts(value: &Tree) -> Option<Vec<&str>> {
    let one = |value| match value {
        &Tree::Text(ref text) => Some(text.as_str()),
        _ => None,
    };
    match value {
        Tree::Array(values) => values.iter().map(one).collect(),
        value => Some(vec![one(value)?]),
    }
}

fn is_ours(options: &PolicyOptions, name: &str) -> bool {
    if options.audience_claim != "aud" {
        return name == "app";
    }
    let origin = "https://mcp.example";
    let Some(start) = name.get(..origin.len()) else {
        return false;
    };
    let rest = &name[origin.len()..];
    let path = rest.strip_prefix(":443").unwrap_or(rest);
    start.eq_ignore_ascii_case(origin) && (path == "/mcp" || path == "/mcp/")
}

fn scopes(options: &PolicyOptions, claims: &[(String, Tree)]) -> Option<Vec<String>> {
    let found = options.scope_claims.iter().find_map(|path| {
        let mut value = member(claims, &path[0])?;
        for name in &path[1..] {
            let Tree::Object(members) = value else {
                return None;
            };
            value = member(members, name)?;
        }
        Some(value)
    });
    let mut scopes: Vec<String> = Vec::new();
    let texts = found.map_or(Some(Vec::new()), texts)?;
    for scope in texts.iter().flat_map(|text| text.split(' ')) {
        if !scope.is_empty() && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    Some(scopes)
}

fn is_sound(server: &Server, token: &str, pending: &Pending<Grant>, granted: &Granted) {
    tells_nothing(token, &format!("{pending:?}"));
    let signature = encode(pending.signature());
    assert_eq!(format!("{}.{signature}", pending.signing_input()), token);
    assert_eq!(issuer(token, token.len()), Ok(Some(ISSUER.to_owned())));
    assert_eq!(issuer(token, token.len() - 1), Err(Refusal::TooLarge));

    let grant = pending.verified(Proof::of_signature());
    tells_nothing(token, &format!("{grant:?}"));
    assert_eq!(
        grant.claims,
        decode(token.split('.').nth(1).unwrap()).unwrap()
    );
    assert_eq!(grant.issuer, ISSUER);
    assert_eq!(&Granted::from(grant), granted);

    if let Some(at) = granted.expires_at {
        let end = at + server.options.leeway;
        let at = |now| screen(token, &server.policy, &server.keys, now).err();
        assert_eq!(at(end), Some(Refusal::Expired));
        assert_ne!(at(end - 1), Some(Refusal::Expired));
    }
}

/// No part of a token occurs in the printed text. Parts that are not base64url may be ordinary
/// words.
fn tells_nothing(token: &str, printed: &str) {
    let is_telling = |part: &&str| part.len() > 24 && decode(part).is_some();
    for part in token.split('.').filter(is_telling) {
        assert!(!printed.contains(part), "{printed}");
    }
}

/// A changed text is another message or another signature: no two texts are the same token.
fn changed(server: &Server, token: &str, pending: &Pending<Grant>, place: usize) {
    let place = place * token.len() / 256;
    for letter in ['A', 'B', '_', '=', ' '] {
        let mut other = token.to_owned();
        other.replace_range(place..=place, &letter.to_string());
        if let Ok(found) = screen(&other, &server.policy, &server.keys, NOW) {
            let is_same = found.signing_input() == pending.signing_input()
                && found.signature() == pending.signature();
            assert_eq!(is_same, other == token, "{other}");
        }
    }
}
