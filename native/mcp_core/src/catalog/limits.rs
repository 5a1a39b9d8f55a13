//! The limits of a definition.

use super::template::TemplateLimits;
use crate::schema::SchemaLimits;

/// The limits of each schema and each URI template of a definition.
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
