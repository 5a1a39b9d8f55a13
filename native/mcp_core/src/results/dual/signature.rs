//! URLs that carry their own permission: `?exp=…&sig=…`.

use super::head::Action;

/// What a URL's query says of a permission.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Capability {
    /// Nothing.
    #[default]
    None,
    /// Something that no signature can be.
    Malformed,
    /// A permission, to be verified.
    Signed {
        /// Until when, in seconds since 1970.
        expires_at: u64,
        /// The signature as it stands in the query: base64url without padding.
        signature: String,
    },
}

const MAX_SIGNATURE_BYTES: usize = 128;
const MAX_DIGITS: usize = 16;

impl Capability {
    /// Reads `exp` and `sig`; other parameters say nothing.
    pub(super) fn in_query(query: &str) -> Self {
        let [mut expires_at, mut signature] = [None, None];
        for (name, value) in query.split('&').filter_map(|pair| pair.split_once('=')) {
            let place = match name {
                "exp" => &mut expires_at,
                "sig" => &mut signature,
                _ => continue,
            };
            if place.replace(value).is_some() {
                return Self::Malformed;
            }
        }
        match (expires_at, signature) {
            (None, None) => Self::None,
            (Some(expires_at), Some(signature)) => {
                Self::of(expires_at, signature).unwrap_or(Self::Malformed)
            }
            _ => Self::Malformed,
        }
    }

    fn of(expires_at: &str, signature: &str) -> Option<Self> {
        let is_number =
            expires_at.len() <= MAX_DIGITS && expires_at.bytes().all(|byte| byte.is_ascii_digit());
        let is_base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_signature = !signature.is_empty()
            && signature.len() <= MAX_SIGNATURE_BYTES
            && signature.bytes().all(is_base64);
        (is_number && is_signature).then_some(())?;
        Some(Self::Signed {
            expires_at: expires_at.parse().ok()?,
            signature: signature.to_owned(),
        })
    }
}

/// What is signed: no two permissions have the same text.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::{Action, signed_text};
/// let text = signed_text("abc123", &[Action::Fetch, Action::Metadata], Some(b"acme"), 1_736_938_800);
/// assert_eq!(text, b"mcp-dual-response\n6:abc123\nmetadata fetch\n4:acme\n1736938800");
/// assert_eq!(signed_text("a", &[Action::Pin], None, 7), b"mcp-dual-response\n1:a\npin\n-\n7");
/// ```
#[must_use]
pub fn signed_text(
    id: &str,
    actions: &[Action],
    tenant: Option<&[u8]>,
    expires_at: u64,
) -> Vec<u8> {
    let names = [
        (Action::Metadata, "metadata"),
        (Action::Fetch, "fetch"),
        (Action::Pin, "pin"),
        (Action::Delete, "delete"),
    ];
    let actions: Vec<&str> = names
        .iter()
        .filter(|(action, _)| actions.contains(action))
        .map(|(_, name)| *name)
        .collect();
    let mut text = b"mcp-dual-response\n".to_vec();
    text.extend_from_slice(format!("{}:{id}\n{}\n", id.len(), actions.join(" ")).as_bytes());
    match tenant {
        // The length in front: a tenant's name cannot pass for what follows it.
        Some(tenant) => {
            text.extend_from_slice(format!("{}:", tenant.len()).as_bytes());
            text.extend_from_slice(tenant);
        }
        None => text.push(b'-'),
    }
    text.extend_from_slice(format!("\n{expires_at}").as_bytes());
    text
}
