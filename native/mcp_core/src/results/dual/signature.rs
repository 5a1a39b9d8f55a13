//! Signed URLs: `?exp=…&sig=…`.

/// The permission in a URL's query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Capability {
    /// No permission.
    #[default]
    None,
    /// A value that cannot be a signature.
    Malformed,
    /// A permission whose signature is not yet verified.
    Signed {
        /// The end of the permission, in seconds since 1970.
        expires_at: u64,
        /// The signature from the query: base64url without padding.
        signature: String,
    },
}

const MAX_SIGNATURE_BYTES: usize = 128;
const MAX_DIGITS: usize = 16;

impl Capability {
    /// Reads `exp` and `sig`; other parameters are ignored.
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
