//! Views of the values in a scanned document.

use std::borrow::Cow;

use super::index::Node;
use super::string;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without fraction and exponent, of any size.
    Integer,
    /// A number with a fraction or an exponent.
    Float,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// One value of a [`Document`](super::Document).
///
/// Only shallow values are indexed: see [`Document`](super::Document). A deeper object has no
/// members here; [`View::raw`] has its text.
#[derive(Clone, Copy, Debug)]
pub struct View<'d, 'a> {
    text: &'a str,
    node: &'d Node<'a>,
    below: &'d [Node<'a>],
}

impl<'d, 'a> View<'d, 'a> {
    pub(super) const fn new(text: &'a str, node: &'d Node<'a>, below: &'d [Node<'a>]) -> Self {
        Self { text, node, below }
    }

    /// The type of the value.
    #[must_use]
    pub const fn kind(&self) -> Kind {
        self.node.kind
    }

    /// The first member with that name. Names are compared exactly, after unescaping. `None` for a
    /// [crowded](View::is_crowded) object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<View<'d, 'a>> {
        self.members()
            .find(|(key, _)| *key == name)
            .map(|(_, view)| view)
    }

    /// The members in the order of the text; none if the value is not an object, or too deep.
    #[must_use]
    pub fn members(&self) -> Members<'d, 'a> {
        Members(self.values_below(Kind::Object))
    }

    /// The elements of the document's root array; none for any other value.
    #[must_use]
    pub fn elements(&self) -> Elements<'d, 'a> {
        Elements(self.values_below(Kind::Array))
    }

    fn values_below(&self, kind: Kind) -> Values<'d, 'a> {
        let nodes = if self.node.kind == kind {
            self.below
        } else {
            &[]
        };
        Values {
            text: self.text,
            nodes,
        }
    }

    /// The text, if the value is a string.
    #[must_use]
    pub fn text(&self) -> Option<Cow<'a, str>> {
        if self.node.kind != Kind::String {
            return None;
        }
        string::read(self.text, self.node.start)
            .ok()
            .map(|(text, _)| text.into_cow())
    }

    /// An integer from −2⁶³ to 2⁶⁴−1 without fraction and exponent.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        if self.node.kind != Kind::Integer {
            return None;
        }
        let value = self.raw_text().parse::<i128>().ok()?;
        (i128::from(i64::MIN)..=i128::from(u64::MAX))
            .contains(&value)
            .then_some(value)
    }

    /// A number as a float, rounded if necessary; `None` also for an integer beyond the range of
    /// floats.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        if !matches!(self.node.kind, Kind::Integer | Kind::Float) {
            return None;
        }
        self.raw_text()
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite())
    }

    /// The boolean.
    #[must_use]
    pub fn boolean(&self) -> Option<bool> {
        (self.node.kind == Kind::Boolean).then(|| self.raw_text() == "true")
    }

    /// The value's bytes, as received.
    #[must_use]
    pub fn raw(&self) -> &'a [u8] {
        self.raw_text().as_bytes()
    }

    /// The start of the value, in bytes from the start of the text.
    #[must_use]
    pub const fn offset(&self) -> usize {
        self.node.start
    }

    /// Whether members or elements of the value are missing here because there are too many.
    /// [`member`](super::member) and [`elements`](super::elements) find them.
    #[must_use]
    pub const fn is_crowded(&self) -> bool {
        self.node.crowded
    }

    /// Whether this value is or contains an object with a duplicate key.
    #[must_use]
    pub const fn has_duplicate(&self) -> bool {
        self.node.duplicate
    }

    fn raw_text(&self) -> &'a str {
        self.text
            .get(self.node.start..self.node.end)
            .unwrap_or_default()
    }
}

/// The members of an object: [`View::members`].
#[derive(Clone, Debug)]
pub struct Members<'d, 'a>(Values<'d, 'a>);

impl<'d, 'a> Iterator for Members<'d, 'a> {
    type Item = (&'d str, View<'d, 'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|view| (&*view.node.key, view))
    }
}

/// The elements of an array: [`View::elements`].
#[derive(Clone, Debug)]
pub struct Elements<'d, 'a>(Values<'d, 'a>);

impl<'d, 'a> Iterator for Elements<'d, 'a> {
    type Item = View<'d, 'a>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next()
    }
}

/// Sibling values; each is followed by its descendants.
#[derive(Clone, Debug)]
struct Values<'d, 'a> {
    text: &'a str,
    nodes: &'d [Node<'a>],
}

impl<'d, 'a> Iterator for Values<'d, 'a> {
    type Item = View<'d, 'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let (node, rest) = self.nodes.split_first()?;
        let (below, beside) = rest.split_at_checked(node.descendants)?;
        self.nodes = beside;
        Some(View::new(self.text, node, below))
    }
}
