//! Limits on JSON text.

/// Limits on JSON text.
///
/// # Examples
/// ```
/// use mcp_core::json::{JsonErrorKind, Limits, check};
///
/// let limits = Limits { max_depth: 2, ..Limits::default() };
/// assert!(check(b"[[1]]", &limits).is_ok());
/// assert_eq!(check(b"[[[1]]]", &limits).unwrap_err().kind, JsonErrorKind::TooDeep);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text. Default: 10 MiB.
    pub max_bytes: usize,
    /// Nested arrays and objects; `[]` is one level. Default: 128.
    pub max_depth: usize,
    /// Values in the text: scalars, arrays and objects, but not object keys. Default: 200,000.
    pub max_values: usize,
    /// Digits of one number: integer part, fraction and exponent together. Default: 1,024.
    pub max_digits: usize,
}

impl Limits {
    /// The remaining limits inside `levels` arrays and objects of a text that has `values` values.
    #[must_use]
    pub(crate) const fn inside(self, levels: usize, values: usize) -> Self {
        Self {
            max_depth: self.max_depth.saturating_sub(levels),
            max_values: self.max_values.saturating_sub(values),
            ..self
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_bytes: 10 * 1024 * 1024,
            max_depth: 128,
            max_values: 200_000,
            max_digits: 1024,
        }
    }
}

/// For a part of a text that already met its limits.
pub const UNLIMITED: Limits = Limits {
    max_bytes: usize::MAX,
    max_depth: usize::MAX,
    max_values: usize::MAX,
    max_digits: usize::MAX,
};
