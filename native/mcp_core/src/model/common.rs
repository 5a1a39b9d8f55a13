//! Objects shared by several others: roles, annotations, icons, ids, `_meta` and verbatim schemas.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::member::Member;
use super::{AppMeta, Kind, Schema};

names! {
    /// The speaker of a prompt's message. No revision of the protocol has `system`: the sender of a
    /// prompt maps it to another role.
    Role {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The application.
        System = "system",
    }
}

names! {
    /// The intended reader of a piece of content.
    Audience {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
    }
}

object! {
    /// Hints about a resource or a piece of content.
    #[derive(Default)]
    Annotations / ANNOTATIONS = "Annotations" {
        /// The intended readers.
        audience: Option<Vec<Audience>> => "audience",
        /// From 0 (optional) to 1 (required).
        priority: Option<Number> => "priority",
        /// The time of the last change, ISO 8601.
        last_modified: Option<String> => "lastModified" since V2025_06_18,
    }
}

names! {
    /// The background for which an icon is designed.
    Theme {
        /// A light background.
        Light = "light",
        /// A dark background.
        Dark = "dark",
    }
}

object! {
    /// An icon for a user interface.
    Icon / ICON = "Icon" since V2025_11_25 {
        /// An `https:` or a `data:` URI.
        src: String => "src",
        /// The media type.
        mime_type: Option<String> => "mimeType",
        /// Sizes such as `48x48`, or `any`.
        sizes: Option<Vec<String>> => "sizes",
        /// The background for which it is designed.
        theme: Option<Theme> => "theme",
    }
}

object! {
    /// The name and version of a server or a client.
    Implementation / IMPLEMENTATION = "Implementation" {
        /// The identifier.
        name: String => "name",
        /// The display name.
        title: Option<String> => "title" since V2025_06_18,
        /// The version.
        version: String => "version",
        /// The purpose.
        description: Option<String> => "description" since V2025_11_25,
        /// The web site.
        website_url: Option<String> => "websiteUrl" since V2025_11_25,
        /// The icons.
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
    /// A string.
    Text(String),
}

/// Declares a newtype with the same JSON as its inner type.
macro_rules! verbatim {
    ($($(#[$meta:meta])* $name:ident($inner:ty) => $kind:expr;)*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(
            /// The JSON value.
            pub $inner,
        );

        impl Member for $name {
            const KIND: Kind = $kind;
        }
    )*};
}

verbatim! {
    /// `_meta`: entries by key, written unchanged.
    Meta(Map<String, Value>) => Kind::Meta;
    /// A JSON Schema, written unchanged.
    JsonSchema(Map<String, Value>) => Kind::Schema;
    /// The form of an elicitation: an object schema with plain properties.
    Form(Map<String, Value>) => Kind::Form;
    /// A tool's output schema. Before 2026-07-28 only `"type": "object"` is allowed.
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

impl From<&Schema> for Form {
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
