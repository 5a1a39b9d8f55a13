//! What the tokens of one issuer must say.

use super::algorithm::Algorithm;
use super::audience::canonical;

/// What a resource server demands of the tokens of one issuer.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of its own"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyOptions {
    /// `iss`, byte for byte.
    pub issuer: String,
    /// Whom a token may be for: one of these.
    pub audience: Vec<String>,
    /// The claim that says whom a token is for.
    pub audience_claim: String,
    /// The names of the algorithms that are allowed.
    pub algorithms: Vec<String>,
    /// Seconds that clocks may differ.
    pub leeway: u64,
    /// Whether a token without `exp` is refused.
    pub expires: bool,
    /// Whether `typ` must be `at+jwt`.
    pub strict_type: bool,
    /// Whether a token without `sub` is refused.
    pub subject: bool,
    /// Where scopes stand: paths of claims, of which the first that is there counts.
    pub scope_claims: Vec<Vec<String>>,
    /// Claims that must have these texts.
    pub claims: Vec<(String, String)>,
    /// Bytes of a token.
    pub max_token_bytes: usize,
    /// Whether the issuer itself says what a token grants (RFC 7662): then `iss` may be absent, `client_id` may stand for
    /// `sub`, and an empty audience means that whatever the issuer knows is for this server.
    pub introspected: bool,
    /// Whether a token may be bound to the thumbprint of a key (RFC 9449). Then `cnf` of its claims says so, and whoever
    /// takes the token asks for a proof.
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

/// Checked options.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) options: PolicyOptions,
    pub(super) algorithms: Vec<Algorithm>,
}

impl Policy {
    /// Checks the options.
    ///
    /// # Errors
    /// What is wrong with them.
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
