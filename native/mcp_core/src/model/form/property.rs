//! The forms of a property, as the official schemas name them in `PrimitiveSchemaDefinition`.

use super::node::Node;

/// The form of a property: its type, and for a string the keyword of its choices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Property {
    /// A string without choices.
    Text,
    /// One of the strings in `enum`.
    Choice,
    /// One of the strings in `oneOf`, each with a title.
    TitledChoice,
    /// A number or an integer.
    Number,
    /// A boolean.
    Boolean,
    /// An array of choices.
    Choices,
}

impl Property {
    pub(super) fn of(schema: &Node<'_>) -> Option<Self> {
        match schema.get("type")?.text()? {
            "string" if schema.get("enum").is_some() => Some(Self::Choice),
            "string" if schema.get("oneOf").is_some() => Some(Self::TitledChoice),
            "string" => Some(Self::Text),
            "number" | "integer" => Some(Self::Number),
            "boolean" => Some(Self::Boolean),
            "array" => Some(Self::Choices),
            _ => None,
        }
    }

    /// The keywords of this form at 2025-06-18, beside its type, title and description.
    pub(super) const fn older_keywords(self) -> &'static [&'static str] {
        match self {
            Self::Text => &["minLength", "maxLength", "format"],
            Self::Choice => &["enum", "enumNames"],
            Self::Number => &["minimum", "maximum"],
            Self::Boolean => &["default"],
            Self::TitledChoice | Self::Choices => &[],
        }
    }
}
