//! The position of a page among all rows.

/// A page of rows.
///
/// # Examples
/// ```
/// use mcp_core::results::dual::Page;
/// let last = Page { offset: 800, returned: 47, total: 847 };
/// assert_eq!((last.has_next(), last.next_offset()), (false, None));
/// let first = Page { offset: 0, returned: 100, total: 847 };
/// assert_eq!(first.next_offset(), Some(100));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The number of rows before it.
    pub offset: u64,
    /// The number of rows in it.
    pub returned: u64,
    /// The number of all rows, counted when the result was stored.
    pub total: u64,
}

impl Page {
    /// Whether rows follow it.
    #[must_use]
    pub const fn has_next(self) -> bool {
        self.offset.saturating_add(self.returned) < self.total
    }

    /// The offset of the next page, if there is one.
    #[must_use]
    pub const fn next_offset(self) -> Option<u64> {
        if self.has_next() {
            Some(self.offset.saturating_add(self.returned))
        } else {
            None
        }
    }

    /// The text before the rows.
    pub const OPEN: &'static str = r#"{"data":"#;

    /// Appends the text after the rows.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::results::dual::Page;
    /// let mut text = Vec::new();
    /// Page { offset: 800, returned: 47, total: 847 }.write_tail(&mut text);
    /// assert_eq!(
    ///     text,
    ///     br#","total_count":847,"returned_count":47,"offset":800,"has_next":false,"next_offset":null}"#
    /// );
    /// ```
    pub fn write_tail(self, out: &mut Vec<u8>) {
        let Self {
            offset,
            returned,
            total,
        } = self;
        let has_next = self.has_next();
        let next = self
            .next_offset()
            .map_or_else(|| "null".to_owned(), |next| next.to_string());
        let tail = format!(
            r#","total_count":{total},"returned_count":{returned},"offset":{offset},"has_next":{has_next},"next_offset":{next}}}"#
        );
        out.extend_from_slice(tail.as_bytes());
    }
}
