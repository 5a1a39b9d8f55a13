//! What a schema may cost, to compile and to check against.

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
    /// Bytes of JSON text, of the schema and the documents it may refer to together.
    pub max_bytes: usize,
    /// Subschemas nested in one another, the root included.
    pub max_depth: usize,
    /// Subschemas in all, the root included and those of the documents.
    pub max_subschemas: usize,
    /// Bytes one compiled regular expression may take.
    pub max_regex_bytes: usize,
    /// References that one value may be handed through before it is looked at.
    pub max_refs_on_path: usize,
    /// Steps one check may take; a step is one look at the value, some nanoseconds each.
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
            max_steps: 10_000_000,
            max_problems: 20,
        }
    }
}
