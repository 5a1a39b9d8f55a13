//! The rules for the tokens of one issuer.

use super::algorithm::Algorithm;
use super::audience::canonical;

/// The rules of a resource server for the tokens of one issuer.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyOptions {
    /// The expected `iss`, compared byte for byte.
    pub issuer: String,
    /// The accepted audiences: the token must have one of them.
    pub audience: Vec<String>,
    /// The name of the audience claim.
    pub audience_claim: String,
    /// The names of the allowed algorithms.
    pub algorithms: Vec<String>,
    /// The allowed difference of clocks, in seconds.
    pub leeway: u64,
    /// Whether a token without `exp` is refused.
    pub expires: bool,
    /// Whether `typ` must be `at+jwt`.
    pub strict_type: bool,
    /// Whether a token without `sub` is refused.
    pub subject: bool,
    /// The places of scopes: paths of claims; the first one that is present counts.
    pub scope_claims: Vec<Vec<String>>,
    /// Claims that must have these values.
    pub claims: Vec<(String, String)>,
    /// The longest token in bytes.
    pub max_token_bytes: usize,
    /// Whether the issuer's introspection response has the claims (RFC 7662). Then `iss` may be
    /// absent, `client_id` may replace `sub`, and an empty audience accepts every active token.
    pub introspected: bool,
    /// Whether a token may be bound to the thumbprint of a key (RFC 9449). Then `cnf` in its claims
    /// names the thumbprint, and the caller requires a proof.
    pub bound: bool,
}

impl Default for PolicyOptions {
    fn default() -> Self {
        let asymmetric = [
            "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512",
            "EdDSA", "Ed25519",
        ];
        Self {
            issuer: String::new(),
            audience: Vec::new(),
            audience_claim: "aud".to_owned(),
            algorithms: asymmetric.map(str::to_owned).to_vec(),
            leeway: 30,
            expires: true,
            strict_type: false,
            subject: true,
            scope_claims: vec![vec!["scope".to_owned()], vec!["scp".to_owned()]],
            claims: Vec::new(),
            max_token_bytes: 8 * 1024,
            introspected: false,
            bound: false,
        }
    }
}

/// Valid options.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) options: PolicyOptions,
    pub(super) algorithms: Vec<Algorithm>,
}

impl Policy {
    /// Validates the options.
    ///
    /// # Errors
    /// The error in the options.
    pub fn new(mut options: PolicyOptions) -> Result<Self, String> {
        if options.issuer.is_empty() || (options.audience.is_empty() && !options.introspected) {
            return Err("a policy needs an issuer and an audience".to_owned());
        }
        let algorithms = options
            .algorithms
            .iter()
            .map(|name| {
                Algorithm::parse(name).ok_or_else(|| format!("there is no algorithm {name:?}"))
            })
            .collect::<Result<Vec<_>, _>>()?;
        for audience in &mut options.audience {
            *audience = canonical(audience);
        }
        Ok(Self {
            options,
            algorithms,
        })
    }

    pub(super) fn allows(&self, algorithm: Algorithm) -> bool {
        self.algorithms.iter().any(|allowed| allowed.is(algorithm))
    }
}
