//! The length limits of an envelope's texts.

/// The length limits of an envelope's texts.
///
/// # Examples
/// ```
/// use mcp_core::jsonrpc::EnvelopeLimits;
///
/// let limits = EnvelopeLimits { max_id_bytes: 64, ..EnvelopeLimits::default() };
/// assert_eq!(limits.max_method_bytes, 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EnvelopeLimits {
    /// Bytes of an id that is a string. Default: 256.
    pub max_id_bytes: usize,
    /// Bytes of a method. Default: 256.
    pub max_method_bytes: usize,
}

impl Default for EnvelopeLimits {
    fn default() -> Self {
        Self {
            max_id_bytes: 256,
            max_method_bytes: 256,
        }
    }
}
