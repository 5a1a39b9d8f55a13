//! The index that [`Document::scan`](super::Document::scan) builds during the walk.

use std::borrow::Cow;

use super::keys::{self, Key};
use super::machine::{Events, Literal};
use super::nesting::Container;
use super::number::Number;
use super::{JsonError, JsonErrorKind, Kind, string};

/// The largest depth of an object with indexed members; the root has depth 0.
const INDEXED_DEPTH: u8 = 3;

/// Indexed values in total: a node is larger than the shortest values.
const MAX_NODES: usize = 4_096;
/// Indexed values inside one member of `params`. Large arguments of a call therefore leave room for
/// the members beside them.
const MAX_NODES_INSIDE: usize = 1_024;
/// Indexed levels below the members of such a member.
const LEVELS_INSIDE: u8 = 1;
/// An object with this many keys is checked for duplicates before its buffer grows.
const MANY_KEYS: usize = 4_096;

/// An indexed value.
#[derive(Debug)]
pub(super) struct Node<'a> {
    /// The member's name; empty for the root and for elements.
    pub(super) key: Cow<'a, str>,
    pub(super) kind: Kind,
    /// Whether a duplicate key lies inside.
    pub(super) duplicate: bool,
    /// Whether the value has too many descendants for the index.
    pub(super) crowded: bool,
    pub(super) start: usize,
    pub(super) end: usize,
    /// The number of following nodes that lie inside this one.
    pub(super) descendants: usize,
}

impl<'a> Node<'a> {
    pub(super) const fn new(key: Cow<'a, str>, kind: Kind, start: usize, end: usize) -> Self {
        Self {
            key,
            kind,
            duplicate: false,
            crowded: false,
            start,
            end,
            descendants: 0,
        }
    }
}

/// The nodes of the shallow values, and the keys of all open objects.
#[derive(Debug)]
pub(super) struct Index<'a> {
    text: &'a str,
    pub(super) root: Option<Node<'a>>,
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) duplicate: Option<usize>,
    keys: Vec<Key>,
    frames: Vec<Frame>,
    /// The number of nodes at which a container becomes crowded.
    bound: usize,
    /// The key of the next member, if members are indexed.
    name: Cow<'a, str>,
}

/// An open container.
#[derive(Clone, Copy, Debug)]
struct Frame {
    /// The start of its keys on the stack of keys.
    keys: usize,
    /// The slot of its node, or of the nearest container around it with a node.
    slot: Slot,
    own_slot: bool,
    /// The indexed levels below its direct values; `None` if its direct values are not indexed.
    levels: Option<u8>,
}

/// The place of a node.
#[derive(Clone, Copy, Debug)]
enum Slot {
    Root,
    At(usize),
}

impl<'a> Index<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            text,
            root: None,
            // Enough for a call with a few arguments; a ping needs at most four.
            nodes: Vec::with_capacity(if text.len() < 128 { 4 } else { 16 }),
            duplicate: None,
            keys: Vec::with_capacity(16),
            frames: Vec::with_capacity(4),
            bound: MAX_NODES,
            name: Cow::Borrowed(""),
        }
    }

    /// Indexes a value if it is shallow enough, and returns its slot.
    #[inline]
    fn remember(&mut self, kind: Kind, start: usize, end: usize) -> Option<Slot> {
        let Some(frame) = self.frames.last() else {
            self.root = Some(Node::new(Cow::Borrowed(""), kind, start, end));
            return Some(Slot::Root);
        };
        frame.levels?;
        if self.nodes.len() >= self.bound {
            return self.crowd();
        }
        let key = std::mem::take(&mut self.name);
        let slot = Slot::At(self.nodes.len());
        self.nodes.push(Node::new(key, kind, start, end));
        Some(slot)
    }

    /// Drops the descendants of a container with too many of them: of the call argument that is or
    /// contains it, or else of the innermost container.
    #[cold]
    fn crowd(&mut self) -> Option<Slot> {
        let inside = |frame: &Frame| frame.levels == Some(LEVELS_INSIDE);
        let outermost = self.frames.iter().position(inside);
        let crowded = outermost.unwrap_or(self.frames.len().saturating_sub(1));
        let (_, frames) = self.frames.split_at_mut_checked(crowded)?;
        let slot = frames.first()?.slot;
        for (place, frame) in frames.iter_mut().enumerate() {
            frame.levels = None;
            frame.slot = slot;
            frame.own_slot &= place == 0;
        }
        self.bound = MAX_NODES;
        self.name = Cow::Borrowed("");
        let kept = match slot {
            Slot::Root => 0,
            Slot::At(index) => index.saturating_add(1),
        };
        // All of them lie inside the container that is still open.
        let mut forgotten = self.nodes.drain(kept..);
        let has_duplicate = forgotten.any(|node| node.duplicate);
        drop(forgotten);
        let node = self.node(slot)?;
        node.crowded = true;
        node.duplicate |= has_duplicate;
        None
    }

    /// Makes room for more keys. An object with a repeated key is refused anyway, so its other keys
    /// are dropped.
    #[cold]
    fn make_room(&mut self) {
        let Some(frame) = self.frames.last().copied() else {
            return;
        };
        let keys = self.keys.get_mut(frame.keys..).unwrap_or_default();
        if keys.len() >= MANY_KEYS
            && let Some(offset) = keys::repeated(keys, self.text)
        {
            self.mark_duplicate(frame.slot, offset);
            self.keys.truncate(frame.keys);
        } else {
            self.keys.reserve(1);
        }
    }

    #[inline]
    fn add_key(&mut self, key: &[u8], start: usize) {
        if self.keys.len() == self.keys.capacity() {
            self.make_room();
        }
        self.keys.push(Key::new(key, start));
    }

    fn node(&mut self, slot: Slot) -> Option<&mut Node<'a>> {
        match slot {
            Slot::Root => self.root.as_mut(),
            Slot::At(index) => self.nodes.get_mut(index),
        }
    }

    /// The levels to index below a container that was just indexed.
    fn levels_inside(&self, container: Container) -> Option<u8> {
        match (self.frames.last(), container) {
            (None, Container::Object) => Some(INDEXED_DEPTH),
            (None, Container::Array) => Some(INDEXED_DEPTH.saturating_add(1)),
            (Some(outer), Container::Object) => outer.levels?.checked_sub(1),
            (Some(_), Container::Array) => None,
        }
    }

    fn remembers_members(&self) -> bool {
        self.frames
            .last()
            .is_some_and(|frame| frame.levels.is_some())
    }

    fn escaped_key(&mut self, start: usize) -> Result<usize, JsonError> {
        let (key, end) = string::read(self.text, start)?;
        self.add_key(key.as_str().as_bytes(), start);
        if self.remembers_members() {
            self.name = key.into_cow();
        }
        Ok(end)
    }

    fn mark_duplicate(&mut self, slot: Slot, offset: usize) {
        self.duplicate.get_or_insert(offset);
        if let Some(node) = self.node(slot) {
            node.duplicate = true;
        }
    }

    /// Completes the node of a closed container and reports duplicates to the container around it.
    fn finish(&mut self, slot: Slot, end: usize) {
        let count = self.nodes.len();
        let Some(node) = self.node(slot) else { return };
        node.end = end;
        node.descendants = match slot {
            Slot::Root => count,
            Slot::At(index) => count.saturating_sub(index).saturating_sub(1),
        };
        let duplicate = node.duplicate;
        if let (true, Some(outer)) = (duplicate, self.frames.last().copied())
            && let Some(node) = self.node(outer.slot)
        {
            node.duplicate = true;
        }
    }
}

impl<'a> Events<'a> for Index<'a> {
    #[inline]
    fn literal(&mut self, literal: Literal, start: usize, end: usize) {
        let kind = if literal == Literal::Null {
            Kind::Null
        } else {
            Kind::Boolean
        };
        self.remember(kind, start, end);
    }

    #[inline]
    fn number(
        &mut self,
        number: Number<'a>,
        start: usize,
        end: usize,
    ) -> Result<(), JsonErrorKind> {
        let kind = match number {
            Number::Float(float) => {
                float.check_range()?;
                Kind::Float
            }
            _ => Kind::Integer,
        };
        self.remember(kind, start, end);
        Ok(())
    }

    #[inline]
    fn string(&mut self, start: usize) -> Result<usize, JsonError> {
        let end = string::skip(self.text, start)?;
        self.remember(Kind::String, start, end);
        Ok(end)
    }

    #[inline]
    fn key(&mut self, start: usize) -> Result<usize, JsonError> {
        let Some((key, end)) = string::plain(self.text.as_bytes(), start) else {
            return self.escaped_key(start);
        };
        self.add_key(key, start);
        if self.remembers_members() {
            self.name = Cow::Borrowed(string::between_quotes(self.text, start, end));
        }
        Ok(end)
    }

    #[inline]
    fn open(&mut self, container: Container, start: usize) {
        let levels = self.levels_inside(container);
        let kind = match container {
            Container::Array => Kind::Array,
            Container::Object => Kind::Object,
        };
        let own = self.remember(kind, start, start);
        let around = self.frames.last().map_or(Slot::Root, |outer| outer.slot);
        let levels = levels.filter(|_| own.is_some());
        if levels == Some(LEVELS_INSIDE) {
            self.bound = self
                .nodes
                .len()
                .saturating_add(MAX_NODES_INSIDE)
                .min(MAX_NODES);
        }
        self.frames.push(Frame {
            keys: self.keys.len(),
            slot: own.unwrap_or(around),
            own_slot: own.is_some(),
            levels,
        });
    }

    #[inline]
    fn close(&mut self, container: Container, end: usize) -> Result<(), JsonError> {
        let Some(frame) = self.frames.pop() else {
            return Err(JsonError::new(JsonErrorKind::Syntax, end));
        };
        if container == Container::Object {
            let keys = self.keys.get_mut(frame.keys..).unwrap_or_default();
            if let Some(offset) = keys::repeated(keys, self.text) {
                self.mark_duplicate(frame.slot, offset);
            }
            self.keys.truncate(frame.keys);
        }
        if frame.levels == Some(LEVELS_INSIDE) {
            self.bound = MAX_NODES;
        }
        if frame.own_slot {
            self.finish(frame.slot, end);
        }
        Ok(())
    }
}
