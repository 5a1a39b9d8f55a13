//! The macros that declare an MCP object: its struct, its table and its JSON.

/// Declares a struct with its [`Shape`](super::Shape):
///
/// ```text
/// Struct / STATIC = "Elixir.Name" [tag "…"] [since V…] [until V…] [fallback […]] [one_of […]] {
///     field: Type => "wireKey" [as "elixir_field"] [since V…] [until V…] [= Presence],
/// }
/// ```
///
/// The type determines kind and presence; `= Presence` overrides the presence.
macro_rules! object {
    (
        $(#[$meta:meta])*
        $name:ident / $shape:ident = $elixir:literal
        $(tag $tag:literal)? $(since $since:ident)? $(until $until:ident)?
        $(fallback [$($part:expr),*])? $(one_of [$($one:literal),*])?
        {$(
            $(#[$field_meta:meta])*
            $field:ident: $type:ty => $wire:literal $(as $alias:literal)?
            $(since $field_since:ident)? $(until $field_until:ident)? $(= $presence:expr)?
        ),* $(,)?}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {$(
            $(#[$field_meta])*
            pub $field: $type,
        )*}

        #[doc = concat!("The wire shape of [`", stringify!($name), "`].")]
        pub static $shape: $crate::model::Shape = $crate::model::Shape {
            name: $elixir,
            tag: object!(@tag $($tag)?),
            fields: &[$($crate::model::Field {
                name: object!(@name $wire $($alias)?),
                wire: $wire,
                kind: <$type as $crate::model::member::Member>::KIND,
                presence: object!(@presence $type $(, $presence)?),
                since: object!(@since $($field_since)?),
                until: object!(@until $($field_until)?),
            }),*],
            since: object!(@since $($since)?),
            until: object!(@until $($until)?),
            fallback: object!(@fallback $([$($part),*])?),
            one_of: &[$($($one),*)?],
        };

        impl $name {
            /// The wire shape of the object.
            pub const SHAPE: &'static $crate::model::Shape = &$shape;

            /// The object as JSON text, with every field that has a value, regardless of revision.
            #[must_use]
            pub fn encode(&self) -> Vec<u8> {
                $crate::model::encode(self)
            }

            /// The object as JSON text for `revision`.
            #[must_use]
            pub fn encode_at(&self, revision: $crate::revision::Revision) -> Vec<u8> {
                $crate::model::encode_at(&$shape, self, revision)
            }
        }

        impl $crate::model::member::Member for $name {
            const KIND: $crate::model::Kind = $crate::model::Kind::One(&$shape);
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                if let Some((key, text)) = $shape.tag {
                    map.serialize_entry(key, text)?;
                }
                $($crate::model::member::write(
                    &mut map, $wire, object!(@presence $type $(, $presence)?), &self.$field,
                )?;)*
                map.end()
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let mut members =
                    $crate::model::member::Members::read::<D>(deserializer, $shape.tag)?;
                members.exactly_one::<D::Error>($shape.one_of)?;
                Ok(Self {$(
                    $field: members.take($wire, object!(@presence $type $(, $presence)?))?,
                )*})
            }
        }
    };
    (@tag) => { None };
    (@tag $tag:literal) => { Some(("type", $tag)) };
    (@name $wire:literal) => { $wire };
    (@name $wire:literal $alias:literal) => { $alias };
    (@presence $type:ty) => { <$type as $crate::model::member::Member>::PRESENCE };
    (@presence $type:ty, $presence:expr) => { $presence };
    (@since) => { $crate::revision::Revision::V2024_11_05 };
    (@since $since:ident) => { $crate::revision::Revision::$since };
    (@until) => { $crate::revision::Revision::NEWEST };
    (@until $until:ident) => { $crate::revision::Revision::$until };
    (@fallback) => { None };
    (@fallback [$($part:expr),*]) => { Some(&[$($part),*]) };
}

/// Declares an enum of objects that differ in their tag.
macro_rules! one_of {
    ($(#[$meta:meta])* $name:ident {$($(#[$variant_meta:meta])* $variant:ident($type:ty)),* $(,)?}) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {$(
            $(#[$variant_meta])*
            $variant($type),
        )*}

        impl $name {
            /// The shapes of the variants.
            pub const SHAPES: &'static [&'static $crate::model::Shape] = &[$(<$type>::SHAPE),*];
        }

        impl $crate::model::member::Member for $name {
            const KIND: $crate::model::Kind = $crate::model::Kind::OneOf(Self::SHAPES);
        }

        $(impl From<$type> for $name {
            fn from(object: $type) -> Self {
                Self::$variant(object)
            }
        })*

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {$(
                    Self::$variant(object) => object.serialize(serializer),
                )*}
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let value = serde_json::Value::deserialize(deserializer)?;
                $(if $crate::model::bears_tag(&value, <$type>::SHAPE) {
                    return serde_json::from_value(value).map(Self::$variant).map_err(D::Error::custom);
                })*
                Err(D::Error::custom("type: expected the name of a content kind"))
            }
        }
    };
}

/// Declares an enum of strings.
macro_rules! names {
    ($(#[$meta:meta])* $name:ident {$($(#[$variant_meta:meta])* $variant:ident = $text:literal),* $(,)?}) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {$(
            $(#[$variant_meta])*
            $variant,
        )*}

        impl $name {
            /// Every name, in declaration order.
            pub const NAMES: &'static [&'static str] = &[$($text),*];

            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {$(
                    Self::$variant => $text,
                )*}
            }

            /// The variant with that name.
            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }

        impl $crate::model::member::Member for $name {
            const KIND: $crate::model::Kind = $crate::model::Kind::Enum(Self::NAMES);
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use serde::de::Error;
                let name = String::deserialize(deserializer)?;
                Self::parse(&name).ok_or_else(|| {
                    D::Error::custom(format_args!("expected one of {}", Self::NAMES.join(", ")))
                })
            }
        }
    };
}
