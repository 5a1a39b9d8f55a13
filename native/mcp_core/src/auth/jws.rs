//! The compact form of a signed token (RFC 7515), and the rules for its header.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::algorithm::Algorithm;
use super::keys::MAX_KID_BYTES;
use super::refusal::Refusal;
use crate::json::{Document, Kind, Limits};

/// Encoded bytes of a header: 1 KiB when decoded.
const MAX_HEADER_BYTES: usize = 1368;
/// Limits on header and claims.
pub(super) const LIMITS: Limits = Limits {
    max_bytes: 64 * 1024,
    max_depth: 8,
    max_values: 1024,
    max_digits: 20,
};
/// Headers that contain a key, name its address, or change how the token is read. `x5c` and `x5t`
/// are only hints, and Entra sends them.
const REFUSED: [&str; 7] = ["jwk", "jku", "x5u", "crit", "b64", "zip", "cty"];
const TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// The parts of a token.
#[derive(Debug)]
pub(super) struct Jws<'t> {
    pub(super) header: Header,
    pub(super) payload: Vec<u8>,
    pub(super) signing_input: &'t str,
    pub(super) signature: Vec<u8>,
}

#[derive(Debug)]
pub(super) struct Header {
    pub(super) algorithm: Algorithm,
    pub(super) kid: Option<String>,
    /// Whether `typ` names an access token.
    pub(super) is_access_token: bool,
}

/// Whether a token looks like a signed one: three segments.
pub(super) fn is_jws(token: &str) -> bool {
    token.bytes().filter(|byte| *byte == b'.').count() == 2
}

/// The signed text, and the three segments.
pub(super) fn segments(token: &str) -> Result<(&str, [&str; 3]), Refusal> {
    if !is_jws(token) {
        return Err(Refusal::Malformed);
    }
    let (signing_input, signature) = token.rsplit_once('.').ok_or(Refusal::Malformed)?;
    let (header, payload) = signing_input.split_once('.').ok_or(Refusal::Malformed)?;
    Ok((signing_input, [header, payload, signature]))
}

impl<'t> Jws<'t> {
    pub(super) fn read(token: &'t str) -> Result<Self, Refusal> {
        let (signing_input, [header, payload, signature]) = segments(token)?;
        if header.len() > MAX_HEADER_BYTES {
            return Err(Refusal::TooLarge);
        }
        Ok(Self {
            header: Header::read(&decode(header)?)?,
            payload: decode(payload)?,
            signing_input,
            signature: decode(signature)?,
        })
    }
}

impl Header {
    fn read(json: &[u8]) -> Result<Self, Refusal> {
        let document = object(json)?;
        let header = document.root();
        let text = |name: &str| match header.get(name) {
            None => Ok(None),
            Some(value) => value.text().map(Some).ok_or(Refusal::Malformed),
        };
        let name = text("alg")?.ok_or(Refusal::Algorithm)?;
        let algorithm = Algorithm::parse(&name).ok_or(Refusal::Algorithm)?;
        if REFUSED.iter().any(|name| header.get(name).is_some()) {
            return Err(Refusal::Header);
        }
        let kid = text("kid")?.map(std::borrow::Cow::into_owned);
        if kid.as_ref().is_some_and(|kid| kid.len() > MAX_KID_BYTES) {
            return Err(Refusal::Key);
        }
        let declared = text("typ")?.map(|name| name.to_ascii_lowercase());
        if declared
            .as_ref()
            .is_some_and(|name| !TYPES.contains(&name.as_str()))
        {
            return Err(Refusal::Type);
        }
        let is_access_token = declared.is_some_and(|name| name.ends_with("at+jwt"));
        Ok(Self {
            algorithm,
            kid,
            is_access_token,
        })
    }
}

/// A JSON object without duplicate members at any depth.
pub(super) fn object(json: &[u8]) -> Result<Document<'_>, Refusal> {
    let document = Document::scan(json, &LIMITS).map_err(|_| Refusal::Malformed)?;
    let sound = document.root().kind() == Kind::Object && document.duplicate().is_none();
    sound.then_some(document).ok_or(Refusal::Malformed)
}

/// Decodes base64url without padding, white space or unused bits.
pub(super) fn decode(segment: &str) -> Result<Vec<u8>, Refusal> {
    URL_SAFE_NO_PAD
        .decode(segment.as_bytes())
        .map_err(|_| Refusal::Malformed)
}
