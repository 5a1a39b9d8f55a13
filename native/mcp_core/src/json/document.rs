//! A message scanned once: all of it is checked, and its shallow members are indexed.

use super::index::{Index, Node};
use super::{JsonError, JsonErrorKind, Limits, View, machine};

/// A checked JSON text with an index of its shallow values.
///
/// Every limit is enforced and every duplicate key is found, at any depth. The index has the
/// members of the root object and of objects nested in objects down to depth 3 (`params`,
/// `params._meta`, `params._meta.x`). For a root array it has the elements, each with its members
/// to the same depth. Only keys with escapes are copied.
///
/// The index holds at most 4,096 values, and at most 1,024 inside a member of a member of the root,
/// such as `params.arguments`. A value that exceeds this loses all its indexed members, see
/// [`View::is_crowded`].
///
/// A duplicate key is no error here. JSON-RPC answers it with the message's id and with another
/// code than invalid JSON. See [`Document::duplicate`].
///
/// # Examples
/// ```
/// use mcp_core::json::{Document, Limits};
///
/// let text = br#"{"params":{"name":"add","arguments":{"a":1}}}"#;
/// let document = Document::scan(text, &Limits::default())?;
/// let params = document.root().get("params").unwrap();
/// assert_eq!(params.get("name").unwrap().text().unwrap(), "add");
/// assert_eq!(params.get("arguments").unwrap().raw(), br#"{"a":1}"#);
/// # Ok::<(), mcp_core::json::JsonError>(())
/// ```
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    root: Node<'a>,
    /// All indexed values but the root, each before its descendants.
    nodes: Vec<Node<'a>>,
    duplicate: Option<usize>,
    values: usize,
}

impl<'a> Document<'a> {
    /// Checks `bytes` and indexes the shallow values.
    ///
    /// # Errors
    /// [`JsonError`] when `bytes` is not UTF-8, not JSON or beyond one of the limits.
    pub fn scan(bytes: &'a [u8], limits: &Limits) -> Result<Self, JsonError> {
        let text = machine::checked_text(bytes, limits)?;
        let mut index = Index::new(text);
        let values = machine::walk(text, limits, &mut index)?;
        let root = index
            .root
            .ok_or(JsonError::new(JsonErrorKind::UnexpectedEnd, bytes.len()))?;
        Ok(Self {
            text,
            root,
            nodes: index.nodes,
            duplicate: index.duplicate,
            values,
        })
    }

    /// The root value.
    #[must_use]
    pub fn root(&self) -> View<'_, 'a> {
        View::new(self.text, &self.root, &self.nodes)
    }

    /// The number of values in the text, as [`Limits::max_values`] counts them.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::json::{Document, Limits};
    /// let document = Document::scan(br#"{"a": [1, 2]}"#, &Limits::default())?;
    /// assert_eq!(document.values(), 4);
    /// # Ok::<(), mcp_core::json::JsonError>(())
    /// ```
    #[must_use]
    pub const fn values(&self) -> usize {
        self.values
    }

    /// The offset of a repeated key of an object, at any depth, if there is one.
    ///
    /// [`View::has_duplicate`] tells whether a duplicate lies inside a certain value.
    #[must_use]
    pub const fn duplicate(&self) -> Option<usize> {
        self.duplicate
    }
}

/// Checks `bytes` without building a value.
///
/// # Errors
/// [`JsonError`] when `bytes` is not UTF-8, not JSON, beyond one of the limits, or has an object
/// with a duplicate key.
pub fn check(bytes: &[u8], limits: &Limits) -> Result<(), JsonError> {
    match Document::scan(bytes, limits)?.duplicate {
        Some(offset) => Err(JsonError::new(JsonErrorKind::DuplicateKey, offset)),
        None => Ok(()),
    }
}
