//! Limits on compiling a schema and on checking a value.

/// Limits on a schema and on checking one value against it.
///
/// # Examples
/// ```
/// use mcp_core::schema::SchemaLimits;
/// let limits = SchemaLimits { max_depth: 16, ..SchemaLimits::default() };
/// assert_eq!(limits.max_subschemas, 2_000);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemaLimits {
    /// Bytes of JSON text of the schema and its documents together.
    pub max_bytes: usize,
    /// Subschemas nested in one another, the root included.
    pub max_depth: usize,
    /// Subschemas in total, including the root and those of the documents.
    pub max_subschemas: usize,
    /// Bytes of one compiled regular expression.
    pub max_regex_bytes: usize,
    /// References in a chain that applies to one value.
    pub max_refs_on_path: usize,
    /// Steps of one check. A step is one access to the value and takes some nanoseconds.
    pub max_steps: u64,
    /// Problems reported for one value: at least one, and at most 20.
    pub max_problems: usize,
}

impl Default for SchemaLimits {
    fn default() -> Self {
        Self {
            max_bytes: 256 * 1024,
            max_depth: 64,
            max_subschemas: 2_000,
            max_regex_bytes: 1024 * 1024,
            max_refs_on_path: 64,
            max_steps: 2_000_000,
            max_problems: 20,
        }
    }
}
