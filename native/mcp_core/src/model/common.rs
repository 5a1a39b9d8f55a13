//! What several objects share: roles, annotations, icons, ids, `_meta` and schemas kept verbatim.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::member::Member;
use super::{AppMeta, Kind, Schema};

names! {
    /// Who says a prompt's message. No revision of the protocol has `system`: whoever sends a prompt
    /// maps it to one of the others.
    Role {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The application.
        System = "system",
    }
}

names! {
    /// Whom a piece of content is meant for.
    Audience {
        /// The person.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

object! {
    /// Hints about a resource or a piece of content.
    #[derive(Default)]
    Annotations / ANNOTATIONS = "Annotations" {
        /// Whom it is meant for.
        audience: Option<Vec<Audience>> => "audience",
        /// From 0 (may be left out) to 1 (needed).
        priority: Option<Number> => "priority",
        /// When it last changed, ISO 8601.
        last_modified: Option<String> => "lastModified" since V2025_06_18,
    }
}

names! {
    /// The background an icon is drawn for.
    Theme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

object! {
    /// A picture for a user interface.
    Icon / ICON = "Icon" since V2025_11_25 {
        /// Where it is: an `https:` or a `data:` URI.
        src: String => "src",
        /// Its media type.
        mime_type: Option<String> => "mimeType",
        /// Sizes such as `48x48`, or `any`.
        sizes: Option<Vec<String>> => "sizes",
        /// The background it is drawn for.
        theme: Option<Theme> => "theme",
    }
}

object! {
    /// Who speaks: a server's or a client's name and version.
    Implementation / IMPLEMENTATION = "Implementation" {
        /// Its identifier.
        name: String => "name",
        /// Its name for people.
        title: Option<String> => "title" since V2025_06_18,
        /// Its version.
        version: String => "version",
        /// What it is for.
        description: Option<String> => "description" since V2025_11_25,
        /// Its web site.
        website_url: Option<String> => "websiteUrl" since V2025_11_25,
        /// Its pictures.
        icons: Option<Vec<Icon>> => "icons" since V2025_11_25,
    }
}

/// A request's id or a progress token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    untagged,
    expecting = "expected an integer of up to 64 bits or a string"
)]
pub enum Id {
    /// A signed integer.
    Integer(i64),
    /// An integer beyond the signed range.
    Unsigned(u64),
    /// A text.
    Text(String),
}

/// Declares a newtype whose JSON is that of what it wraps.
macro_rules! verbatim {
    ($($(#[$meta:meta])* $name:ident($inner:ty) => $kind:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// What is written.
            pub $inner,
        );

        impl Member for $name {
            const KIND: Kind = $kind;
        }
    )*};
}

verbatim! {
    /// `_meta`: entries by key, written as they are.
    Meta(Map<String, Value>) => Kind::Meta;
    /// A JSON Schema, written as it is.
    JsonSchema(Map<String, Value>) => Kind::Schema;
    /// A tool's output schema. Before 2026-07-28 only `"type": "object"` can be said.
    OutputSchema(Map<String, Value>) => Kind::OutputSchema;
    /// Structured content: any value at 2026-07-28, an object before.
    Structured(Value) => Kind::Structured;
}

impl Member for Id {
    const KIND: Kind = Kind::Id;
}

impl From<&AppMeta> for Meta {
    fn from(app: &AppMeta) -> Self {
        Self(members(app))
    }
}

impl From<&Schema> for JsonSchema {
    fn from(schema: &Schema) -> Self {
        Self(members(schema))
    }
}

fn members<T: Serialize>(object: &T) -> Map<String, Value> {
    match serde_json::to_value(object) {
        Ok(Value::Object(members)) => members,
        _ => Map::new(),
    }
}
