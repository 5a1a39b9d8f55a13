//! The wire shape of an MCP object, as data: which field becomes which key, of what kind, in which
//! revisions. The serde structs of [`super`] and the term writer of the native extension both follow
//! it, so one object cannot look different on two ways out.

use crate::revision::Revision;

/// How one object is written: its keys in this order.
#[derive(Debug)]
pub struct Shape {
    /// The Elixir module below `McpServer`, for example `Tool.Annotations`; unique in [`super::SHAPES`].
    /// Shapes that are only parts of a struct (a declared CSP) have a name too, but no such module.
    pub name: &'static str,
    /// A key that is always written first with this text, and that tells content kinds apart:
    /// `("type", "text")`. It is no field of the Elixir struct.
    pub tag: Option<(&'static str, &'static str)>,
    /// The fields in wire order.
    pub fields: &'static [Field],
    /// The first revision that knows the object.
    pub since: Revision,
    /// The last revision that knows the object.
    pub until: Revision,
    /// The text a revision that does not know the object gets in its place, as
    /// `{"type":"text","text":…}` (followed by the object's own `annotations`, when it has some).
    pub fallback: Option<&'static [Part]>,
    /// Exactly one of these wire keys is written: two are an error, and none is an error too, unless
    /// the [`Presence`] of one of them fills the gap. Empty: no such rule.
    pub one_of: &'static [&'static str],
}

/// One key of an object.
#[derive(Debug)]
pub struct Field {
    /// The Elixir struct's field.
    pub name: &'static str,
    /// The JSON key.
    pub wire: &'static str,
    /// What its value may be.
    pub kind: Kind,
    /// What happens when there is no value.
    pub presence: Presence,
    /// The first revision that knows the field; earlier ones are not sent it.
    pub since: Revision,
    /// The last revision that knows the field; later ones are not sent it.
    pub until: Revision,
}

/// What happens to a field that is `nil` (in JSON: absent or `null`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// An error: the object cannot be without it.
    Required,
    /// The key is left out. `false`, `0`, `""`, `[]` and `{}` are values, not `nil`.
    Optional,
    /// The key is left out when `nil`, and also when its object would be written as `{}`.
    Filled,
    /// This JSON text is written.
    Always(&'static str),
    /// `null` before that revision; left out from it on.
    NullBefore(Revision),
    /// Left out when the other field (by wire key) has a value; else this JSON text is written.
    Unless(&'static str, &'static str),
}

/// What a field's value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A string (in Elixir an atom too).
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
    /// `_meta`: an object, verbatim (in Elixir `%App.Meta{}` too); the core may add entries to it.
    Meta,
    /// Bytes: raw in Elixir and Rust, base64 (standard alphabet, padded) on the wire.
    Base64,
    /// A permission: `true` or any object is written as `{}`; `false` counts as `nil`.
    Grant,
    /// One of these strings (in Elixir an atom too).
    Enum(&'static [&'static str]),
    /// A JSON Schema: an object, verbatim (in Elixir `%Schema{}` too).
    Schema,
    /// A tool's output schema: like [`Kind::Schema`], but before 2026-07-28 it is left out unless its
    /// `type` is `"object"`, the only form those revisions know.
    OutputSchema,
    /// `structuredContent`: any JSON value at 2026-07-28; before that an object, and anything else is
    /// left out.
    Structured,
    /// An array whose elements are all of this kind.
    List(&'static Kind),
    /// An object of this shape: the Elixir struct, or a map with the keys in either spelling.
    One(&'static Shape),
    /// An object of the one shape whose tag it bears. In Elixir a plain map and `%Prompt.MessageContent{}`
    /// bear theirs under `type`, the other structs by being that struct.
    OneOf(&'static [&'static Shape]),
    /// Like [`Kind::OneOf`], or an array of such objects. Before 2025-11-25 there are no arrays here:
    /// the object around it is written once for each element instead.
    OneOrMany(&'static [&'static Shape]),
    /// An object of one of these untagged shapes: by its struct in Elixir, else the first shape that
    /// has one of its keys (an object that fits none is of the last).
    AnyOf(&'static [&'static Shape]),
}

/// A piece of a [`Shape::fallback`] text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This text.
    Literal(&'static str),
    /// The text of the field with this wire key, nothing when it is absent.
    Member(&'static str),
}

impl Shape {
    /// Whether a peer of that revision knows the object.
    #[must_use]
    pub fn known_at(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }

    /// The field with that JSON key.
    #[must_use]
    pub fn field(&self, wire: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.wire == wire)
    }

    /// Whether an object with this key can be of this shape.
    pub(crate) fn has_key(&self, key: &str) -> bool {
        self.field(key).is_some() || self.tag.is_some_and(|(name, _)| name == key)
    }
}

impl Field {
    /// Whether a peer of that revision knows the field.
    #[must_use]
    pub fn known_at(&self, revision: Revision) -> bool {
        self.since <= revision && revision <= self.until
    }
}
