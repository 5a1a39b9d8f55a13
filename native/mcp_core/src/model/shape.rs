//! The wire shape of an MCP object, as data: the key, kind and revisions of each field. The serde
//! structs of [`super`] and the term writer of the native extension both follow it, so both write
//! an object in the same form.

use crate::revision::Revision;

/// The form of one object: its keys in this order.
#[derive(Debug)]
pub struct Shape {
    /// The Elixir module below `McpServer`, for example `Tool.Annotations`; unique in
    /// [`super::SHAPES`]. A shape for a part of a struct (a declared CSP) has a name but no such
    /// module.
    pub name: &'static str,
    /// A key with a fixed text that is always written first and identifies the content kind:
    /// `("type", "text")`. The Elixir struct has no such field.
    pub tag: Option<(&'static str, &'static str)>,
    /// The fields in wire order.
    pub fields: &'static [Field],
    /// The first revision that knows the object.
    pub since: Revision,
    /// The last revision that knows the object.
    pub until: Revision,
    /// The text for a revision that does not know the object. It is written as
    /// `{"type":"text","text":…}`, followed by the object's `annotations`, if any.
    pub fallback: Option<&'static [Part]>,
    /// Exactly one of these wire keys is written. Two are an error. None is an error too, unless
    /// the [`Presence`] of a key supplies a value. An empty list means no such rule.
    pub one_of: &'static [&'static str],
}

/// One key of an object.
#[derive(Debug)]
pub struct Field {
    /// The Elixir struct's field.
    pub name: &'static str,
    /// The JSON key.
    pub wire: &'static str,
    /// The kind of its value.
    pub kind: Kind,
    /// How an absent value is written.
    pub presence: Presence,
    /// The first revision that knows the field; it is not sent to earlier ones.
    pub since: Revision,
    /// The last revision that knows the field; it is not sent to later ones.
    pub until: Revision,
}

/// How a field with `nil` is written (in JSON: absent or `null`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// An error: the field is required.
    Required,
    /// The key is omitted. `false`, `0`, `""`, `[]` and `{}` are values, not `nil`.
    Optional,
    /// The key is omitted when `nil`, and also when its object would be written as `{}`.
    Filled,
    /// This JSON text is written.
    Always(&'static str),
    /// `null` before that revision; omitted since that revision.
    NullBefore(Revision),
    /// Omitted if the other field (by wire key) has a value; otherwise this JSON text is written.
    Unless(&'static str, &'static str),
}

/// The kind of a field's value.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string (in Elixir also an atom).
    Text,
    /// `true` or `false`.
    Boolean,
    /// An integer of any size.
    Integer,
    /// An integer or a finite float.
    Number,
    /// A request id or a progress token: an integer or a string.
    Id,
    /// Any JSON value, verbatim.
    Any,
    /// A JSON object, verbatim.
    Object,
    /// `_meta`: an object, verbatim (in Elixir also `%App.Meta{}`); the core may add entries to it.
    Meta,
    /// Bytes: raw in Elixir and Rust, base64 (standard alphabet, padded) on the wire.
    Base64,
    /// A permission: `true` or any object is written as `{}`; `false` counts as `nil`.
    Grant,
    /// One of these strings (in Elixir also an atom).
    Enum(&'static [&'static str]),
    /// A JSON Schema: an object, verbatim (in Elixir also `%Schema{}`).
    Schema,
    /// The form of an elicitation, like [`Kind::Schema`], under the rules of
    /// [`fit_form`](super::fit_form).
    Form,
    /// A tool's output schema, like [`Kind::Schema`]. Revisions before 2026-07-28 know only
    /// `"type": "object"`; other schemas are omitted there.
    OutputSchema,
    /// `structuredContent`: any JSON value at 2026-07-28. Before, only an object is written.
    Structured,
    /// An array; all its elements have this kind.
    List(&'static Kind),
    /// An object of this shape: the Elixir struct, or a map with Elixir or JSON keys.
    One(&'static Shape),
    /// An object with the tag of one of these shapes. In Elixir a plain map and
    /// `%Prompt.MessageContent{}` have the tag under `type`; for other structs the struct
    /// determines it.
    OneOf(&'static [&'static Shape]),
    /// Like [`Kind::OneOf`], or an array of such objects. Before 2025-11-25 arrays are not allowed
    /// here: the enclosing object is written once for each element instead.
    OneOrMany(&'static [&'static Shape]),
    /// An object of one of these untagged shapes. In Elixir the struct determines the shape. For a
    /// map it is the first shape with one of the map's keys, or else the last shape.
    AnyOf(&'static [&'static Shape]),
}

/// A piece of a [`Shape::fallback`] text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This text.
    Literal(&'static str),
    /// The text of the field with this wire key; empty if the field is absent.
    Member(&'static str),
}

impl Shape {
    /// Whether a client of that revision knows the object.
    #[must_use]
    pub fn known_at(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }

    /// The field with that JSON key.
    #[must_use]
    pub fn field(&self, wire: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.wire == wire)
    }

    /// Whether an object with this key may have this shape.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.field(key).is_some() || self.tag.is_some_and(|(name, _)| name == key)
    }
}

impl Field {
    /// Whether a client of that revision knows the field.
    #[must_use]
    pub fn known_at(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }
}
