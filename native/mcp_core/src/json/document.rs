//! A message read once: everything checked, only the shallow members remembered.

use super::index::{Index, Node};
use super::{JsonError, JsonErrorKind, Limits, View, machine};

/// A JSON text that was checked as a whole and of which the shallow values can be looked at.
///
/// Every limit is enforced and every duplicate key found, at any depth. Remembered are the members
/// of the root object and of objects inside objects down to depth 3 (`params`,
/// `params._meta`, `params._meta.x`), and the elements of a root array, each with its members to
/// the same depth. Nothing is copied but keys written with escapes.
///
/// What is remembered is bounded: 4,096 values in all, and 1,024 inside a member of a member of the
/// root, such as `params.arguments`. What grows beyond that is forgotten as a whole, see
/// [`View::is_crowded`].
///
/// A duplicate key is no error here: JSON-RPC answers it with another code than bad JSON, and with
/// the message's id. See [`Document::duplicate`].
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
    /// All remembered values but the root, each before those inside it.
    nodes: Vec<Node<'a>>,
    duplicate: Option<usize>,
    values: usize,
}

impl<'a> Document<'a> {
    /// Checks `bytes` and remembers where the shallow values lie.
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

    /// The whole text's value.
    #[must_use]
    pub fn root(&self) -> View<'_, 'a> {
        View::new(self.text, &self.root, &self.nodes)
    }

    /// The values in the whole text, as [`Limits::max_values`] counts them.
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

    /// The offset of a key that stood in its object before, if there is one at any depth.
    ///
    /// Whether it lies inside a certain value says [`View::has_duplicate`].
    #[must_use]
    pub const fn duplicate(&self) -> Option<usize> {
        self.duplicate
    }
}

/// Checks `bytes` and builds nothing.
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
