//! What a definition may cost.

use super::template::TemplateLimits;
use crate::schema::SchemaLimits;

/// What each schema and each URI template of a definition may cost.
///
/// # Examples
/// ```
/// use mcp_core::catalog::CatalogLimits;
/// assert_eq!(CatalogLimits::default().template.max_variables, 32);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CatalogLimits {
    /// Input and output schemas.
    pub schema: SchemaLimits,
    /// URI templates.
    pub template: TemplateLimits,
}
