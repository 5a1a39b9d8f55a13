//! Validates the claims of an access token (RFC 7519, 9068).

use super::audience::canonical;
use super::policy::{Policy, PolicyOptions};
use super::refusal::Refusal;
use crate::json::{Document, Kind, View, elements};

const MAX_CLAIMS: usize = 100;
const MAX_SUBJECT_BYTES: usize = 256;
const MAX_LIST: usize = 1024;
/// Up to this second a float is exact.
const MAX_SECONDS: f64 = 9_007_199_254_740_992.0;

/// The rights that a token grants.
#[derive(Clone, PartialEq, Eq)]
pub struct Grant {
    /// `iss`
    pub issuer: String,
    /// `sub`
    pub subject: Option<String>,
    /// `client_id`, `azp`, or Okta's `cid`.
    pub client_id: Option<String>,
    /// The scopes, without duplicates, in the token's order.
    pub scopes: Vec<String>,
    /// `exp`, in seconds since 1970.
    pub expires_at: Option<u64>,
    /// All claims as JSON text.
    pub claims: Vec<u8>,
}

impl std::fmt::Debug for Grant {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Grant")
    }
}

/// The grant of a token's claims, before the signature is verified; `document` is the scanned
/// `payload`.
pub(super) fn judge(
    payload: &[u8],
    document: &Document<'_>,
    is_access_token: bool,
    policy: &Policy,
    now: u64,
) -> Result<Grant, Refusal> {
    let claims = document.root();
    let options = &policy.options;
    if claims.is_crowded() || claims.members().count() > MAX_CLAIMS {
        return Err(Refusal::TooLarge);
    }
    let issuer = text(&claims, "iss")?;
    if issuer.as_ref() != Some(&options.issuer) && !(options.introspected && issuer.is_none()) {
        return Err(Refusal::Issuer);
    }
    if options.strict_type && !is_access_token {
        return Err(Refusal::Type);
    }
    let expires_at = in_time(&claims, options, now)?;
    is_audience(&claims, options)?;
    is_access(&claims, options)?;
    let client_id = client(&claims)?;
    // An empty name names nobody.
    let subject = text(&claims, "sub")?.filter(|subject| !subject.is_empty());
    let is_known = subject.is_some() || (options.introspected && client_id.is_some());
    if subject
        .as_ref()
        .is_some_and(|subject| subject.len() > MAX_SUBJECT_BYTES)
        || (options.subject && !is_known)
    {
        return Err(Refusal::Claims);
    }
    Ok(Grant {
        issuer: options.issuer.clone(),
        subject,
        client_id,
        scopes: scopes(&claims, options)?,
        expires_at,
        claims: payload.to_vec(),
    })
}

fn in_time(
    claims: &View<'_, '_>,
    options: &PolicyOptions,
    now: u64,
) -> Result<Option<u64>, Refusal> {
    let expires_at = seconds(claims, "exp")?;
    if options.expires && expires_at.is_none() {
        return Err(Refusal::Claims);
    }
    if expires_at.is_some_and(|at| now >= at.saturating_add(options.leeway)) {
        return Err(Refusal::Expired);
    }
    let latest = now.saturating_add(options.leeway);
    let early = |name| Ok::<bool, Refusal>(seconds(claims, name)?.is_some_and(|at| at > latest));
    if early("nbf")? || early("iat")? {
        return Err(Refusal::NotYet);
    }
    Ok(expires_at)
}

/// Seconds since 1970, without the fraction. A claim of another type is an error, not absent.
pub(super) fn seconds(claims: &View<'_, '_>, name: &str) -> Result<Option<u64>, Refusal> {
    let Some(claim) = claims.get(name) else {
        return Ok(None);
    };
    let at = claim.number().ok_or(Refusal::Claims)?;
    if !(0.0..=MAX_SECONDS).contains(&at) {
        return Err(Refusal::Claims);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and 2⁵³, and a fraction is cut off"
    )]
    let at = at as u64;
    Ok(Some(at))
}

fn is_audience(claims: &View<'_, '_>, options: &PolicyOptions) -> Result<(), Refusal> {
    if options.audience.is_empty() {
        return Ok(());
    }
    let claim = claims
        .get(&options.audience_claim)
        .ok_or(Refusal::Audience)?;
    let named = texts(&claim).ok_or(Refusal::Audience)?;
    let ours = |audience: &String| options.audience.contains(&canonical(audience));
    if named.iter().any(ours) {
        Ok(())
    } else {
        Err(Refusal::Audience)
    }
}

/// The first claim with a client id. Without it two applications of one user could not be told
/// apart.
fn client(claims: &View<'_, '_>) -> Result<Option<String>, Refusal> {
    for name in ["client_id", "azp", "cid"] {
        // An empty name names nobody.
        if let Some(client) = text(claims, name)?.filter(|client| !client.is_empty()) {
            return Ok(Some(client));
        }
    }
    Ok(None)
}

/// Refuses ID tokens, which are for clients, and bound tokens whose key is not checked.
fn is_access(claims: &View<'_, '_>, options: &PolicyOptions) -> Result<(), Refusal> {
    let has = |name: &&str| claims.get(name).is_some();
    if claims
        .get("cnf")
        .is_some_and(|key| !(options.bound && is_thumbprint(&key)))
    {
        return Err(Refusal::Bound);
    }
    let is_id_token = ["nonce", "at_hash"].iter().any(has)
        && !["scope", "scp", "client_id", "azp"].iter().any(has);
    if is_id_token {
        return Err(Refusal::Type);
    }
    for (name, expected) in &options.claims {
        if text(claims, name)?.as_ref() != Some(expected) {
            return Err(Refusal::Claims);
        }
    }
    Ok(())
}

/// Whether a token is bound only to the thumbprint of a key: other bindings cannot be checked.
fn is_thumbprint(key: &View<'_, '_>) -> bool {
    let is_text = key.get("jkt").is_some_and(|jkt| jkt.text().is_some());
    is_text && key.members().count() == 1
}

fn scopes(claims: &View<'_, '_>, options: &PolicyOptions) -> Result<Vec<String>, Refusal> {
    let Some(claim) = options
        .scope_claims
        .iter()
        .find_map(|path| at(*claims, path))
    else {
        return Ok(Vec::new());
    };
    let named = texts(&claim).ok_or(Refusal::Claims)?;
    let mut scopes: Vec<String> = Vec::new();
    for scope in named.iter().flat_map(|text| text.split(' ')) {
        if !scope.is_empty() && !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.to_owned());
        }
    }
    Ok(scopes)
}

fn at<'d, 'a>(claims: View<'d, 'a>, path: &[String]) -> Option<View<'d, 'a>> {
    path.iter().try_fold(claims, |view, name| view.get(name))
}

fn text(claims: &View<'_, '_>, name: &str) -> Result<Option<String>, Refusal> {
    match claims.get(name) {
        None => Ok(None),
        Some(claim) => claim
            .text()
            .map(|text| Some(text.into_owned()))
            .ok_or(Refusal::Claims),
    }
}

/// A string, or a list of strings only.
fn texts(claim: &View<'_, '_>) -> Option<Vec<String>> {
    if claim.kind() == Kind::Array {
        let of = |raw: &&[u8]| {
            let document = Document::scan(raw, &super::jws::LIMITS).ok()?;
            document.root().text().map(std::borrow::Cow::into_owned)
        };
        return elements(claim.raw(), MAX_LIST).iter().map(of).collect();
    }
    claim.text().map(|text| vec![text.into_owned()])
}
