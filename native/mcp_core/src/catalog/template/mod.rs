//! URI templates: all of RFC 6570 for expansion, and matching in linear time.
//!
//! RFC 6570 defines expansion but not matching. [`Template::matcher`] supports templates with an
//! unambiguous match. It refuses other templates when they are registered, not at the first
//! request.
//!
//! ```
//! use mcp_core::catalog::template::{Template, TemplateLimits, VarValue};
//!
//! let template = Template::parse("docs://{section}/{+path}{?page}", &TemplateLimits::default())?;
//! let uri = template.expand(&|name| match name {
//!     "section" => Some(VarValue::Text("how to".to_owned())),
//!     "path" => Some(VarValue::Text("a/b.md".to_owned())),
//!     _ => None,
//! })?;
//! assert_eq!(uri, "docs://how%20to/a/b.md");
//!
//! let captures = template.matcher()?.captures(&uri);
//! let expected = vec![
//!     ("section".to_owned(), "how to".to_owned()),
//!     ("path".to_owned(), "a/b.md".to_owned()),
//! ];
//! assert_eq!(captures, Some(expected));
//! # Ok::<(), mcp_core::catalog::template::TemplateError>(())
//! ```

mod error;
mod expand;
mod matcher;
mod parse;
mod percent;
mod plan;

pub use error::TemplateError;
pub use expand::VarValue;
pub use matcher::Matcher;
pub use percent::normal_form;

use parse::Part;

/// Limits on a template and on the URIs that are matched against it.
///
/// # Examples
/// ```
/// use mcp_core::catalog::template::{Template, TemplateError, TemplateLimits};
/// let limits = TemplateLimits { max_variables: 1, ..TemplateLimits::default() };
/// let error = Template::parse("test://{a}/{b}", &limits).unwrap_err();
/// assert_eq!(error, TemplateError::TooManyVariables { limit: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TemplateLimits {
    /// Bytes of the template, and of the normal form of a URI that is matched against it. Default:
    /// 8 KiB.
    pub max_bytes: usize,
    /// Variables in the template. Default: 32.
    pub max_variables: usize,
}

impl Default for TemplateLimits {
    fn default() -> Self {
        Self {
            max_bytes: 8 * 1024,
            max_variables: 32,
        }
    }
}

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template {
    parts: Vec<Part>,
    variables: Vec<String>,
    limits: TemplateLimits,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// [`TemplateError`] when it is longer or has more variables than the limits allow, or is not a
    /// template of RFC 6570.
    pub fn parse(text: &str, limits: &TemplateLimits) -> Result<Self, TemplateError> {
        if text.len() > limits.max_bytes {
            return Err(TemplateError::TooLong {
                limit: limits.max_bytes,
            });
        }
        let parts = parse::parts(text)?;
        let named = parts.iter().flat_map(Part::variables);
        if named.clone().count() > limits.max_variables {
            return Err(TemplateError::TooManyVariables {
                limit: limits.max_variables,
            });
        }
        let mut variables: Vec<String> = Vec::new();
        for variable in named {
            if !variables.contains(&variable.name) {
                variables.push(variable.name.clone());
            }
        }
        Ok(Self {
            parts,
            variables,
            limits: *limits,
        })
    }

    /// The distinct names of the variables, in order of first appearance.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The URI for the given values. Variables without a value are omitted, as RFC 6570 defines.
    ///
    /// # Errors
    /// [`TemplateError::PrefixOfComposite`] when `{name:3}` gets a list or pairs.
    pub fn expand(
        &self,
        value: &impl Fn(&str) -> Option<VarValue>,
    ) -> Result<String, TemplateError> {
        expand::expand(&self.parts, value)
    }

    /// The matcher of this template.
    ///
    /// # Errors
    /// [`TemplateError`] when one URI could come from several values: adjacent variables, more than
    /// one `{+name}` or `{#name}`, a repeated name, `{name*}`, `{name:3}`, `{;name}`, or a
    /// `{?name}` that is not at the end or follows a literal question mark.
    pub fn matcher(&self) -> Result<Matcher, TemplateError> {
        let plan = plan::plan(&self.parts)?;
        Ok(Matcher::new(plan, self.limits.max_bytes))
    }
}

/// Whether `text` is a URI with a scheme (RFC 3986).
///
/// # Examples
/// ```
/// use mcp_core::catalog::template::is_valid_uri;
/// assert!(is_valid_uri("test://static/1?x=%20#top"));
/// assert!(is_valid_uri("urn:isbn:0451450523"));
/// assert!(!is_valid_uri("/static/1"));
/// assert!(!is_valid_uri("test://a b"));
/// ```
#[must_use]
pub fn is_valid_uri(text: &str) -> bool {
    jsonschema::Uri::parse(text).is_ok()
}
