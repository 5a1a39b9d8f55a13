//! Why a template was refused.

/// Why a template was refused, for any use or for matching.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// More bytes than [`TemplateLimits::max_bytes`](super::TemplateLimits::max_bytes).
    #[error("the template has more than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// More variables than [`TemplateLimits::max_variables`](super::TemplateLimits::max_variables).
    #[error("the template has more than {limit} variables")]
    TooManyVariables {
        /// The limit.
        limit: usize,
    },
    /// An unpaired brace.
    #[error("the brace at byte {at} has no other half")]
    Brace {
        /// Its byte offset.
        at: usize,
    },
    /// A character that a URI cannot have, or a `%` without two hexadecimal digits.
    #[error("the character at byte {at} cannot be in a URI")]
    Literal {
        /// Its byte offset.
        at: usize,
    },
    /// An expression that RFC 6570 does not define.
    #[error("the expression at byte {at} is not one of RFC 6570")]
    Expression {
        /// Its byte offset.
        at: usize,
    },
    /// `{name:3}` was expanded with a list or pairs.
    #[error("\"{name}\" is not a string and has no first characters")]
    PrefixOfComposite {
        /// The variable.
        name: String,
    },
    /// A name occurs twice in a template for matching.
    #[error("the template uses \"{name}\" twice: a URI could give it two values")]
    Duplicate {
        /// The variable.
        name: String,
    },
    /// Two variables without a literal between them.
    #[error("nothing separates \"{name}\" from the variable before it")]
    Adjacent {
        /// The second of the two.
        name: String,
    },
    /// A second variable that may span segments.
    #[error("\"{name}\" is the second variable that may span segments; there can be one")]
    SecondMultiSegment {
        /// The second one.
        name: String,
    },
    /// A form that cannot be matched: `{name*}`, `{name:3}`, `{;name}`, a query that is not last or
    /// follows a literal question mark.
    #[error("the value of \"{name}\" cannot be found again in a URI")]
    NotInvertible {
        /// The variable.
        name: String,
    },
}
