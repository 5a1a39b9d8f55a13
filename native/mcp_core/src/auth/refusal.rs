//! Reasons for refusing a token.

/// The reason for refusing a token. Its text is safe to send: it contains nothing of the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The token has too many bytes.
    #[error("The access token is too large")]
    TooLarge,
    /// Not three segments of base64url with JSON objects in the first two.
    #[error("The access token is malformed")]
    Malformed,
    /// The algorithm is not allowed.
    #[error("The algorithm of the access token is not allowed")]
    Algorithm,
    /// An unsupported header, or one with a key.
    #[error("The header of the access token is not allowed")]
    Header,
    /// An ID token, a refresh token or a proof.
    #[error("The token is not an access token")]
    Type,
    /// An unknown issuer.
    #[error("The issuer of the access token is not known")]
    Issuer,
    /// No key fits the token.
    #[error("The key of the access token is not known")]
    Key,
    /// The signature is invalid for the key.
    #[error("The signature of the access token is wrong")]
    Signature,
    /// The token has expired.
    #[error("The access token has expired")]
    Expired,
    /// The token is not valid yet.
    #[error("The access token is not valid yet")]
    NotYet,
    /// The token is for another server.
    #[error("The access token is for another resource")]
    Audience,
    /// A claim is missing, or has a wrong type or value.
    #[error("The claims of the access token are not sufficient")]
    Claims,
    /// The issuer does not know the token, or no longer accepts it.
    #[error("The access token is not active")]
    Inactive,
    /// The token is bound to a key (RFC 7800) without a proof of that key.
    #[error("The access token is bound to a key")]
    Bound,
}

impl Refusal {
    /// The refusal's name for metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooLarge => "too_large",
            Self::Malformed => "malformed",
            Self::Algorithm => "algorithm",
            Self::Header => "header",
            Self::Type => "type",
            Self::Issuer => "issuer",
            Self::Key => "key",
            Self::Signature => "signature",
            Self::Expired => "expired",
            Self::NotYet => "not_yet",
            Self::Audience => "audience",
            Self::Claims => "claims",
            Self::Inactive => "inactive",
            Self::Bound => "bound",
        }
    }
}
