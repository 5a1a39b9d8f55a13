//! Why a token is refused.

/// Why a token is refused, in words that are safe to send: none of them is the token's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// More bytes than are read.
    #[error("The access token is too large")]
    TooLarge,
    /// No three segments of base64url with JSON objects in the first two.
    #[error("The access token is malformed")]
    Malformed,
    /// Another algorithm than those that are allowed.
    #[error("The algorithm of the access token is not allowed")]
    Algorithm,
    /// A header that is not understood, or that brings its own key.
    #[error("The header of the access token is not allowed")]
    Header,
    /// An ID token, a refresh token, a proof.
    #[error("The token is not an access token")]
    Type,
    /// Another issuer than the expected one.
    #[error("The issuer of the access token is not known")]
    Issuer,
    /// No key that could have signed it.
    #[error("The key of the access token is not known")]
    Key,
    /// A signature that no such key makes.
    #[error("The signature of the access token is wrong")]
    Signature,
    /// Its time is over.
    #[error("The access token has expired")]
    Expired,
    /// Its time has not come.
    #[error("The access token is not valid yet")]
    NotYet,
    /// It was issued for another server.
    #[error("The access token is for another resource")]
    Audience,
    /// A claim is missing, or of another type or value than it must have.
    #[error("The claims of the access token are not sufficient")]
    Claims,
    /// The issuer does not know it, or not any more.
    #[error("The access token is not active")]
    Inactive,
    /// It is bound to a key (RFC 7800) that was not shown.
    #[error("The access token is bound to a key")]
    Bound,
}

impl Refusal {
    /// The refusal's name, for metrics.
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
