//! The wire form of each Rust type. A shape's table is derived from the field types of its struct,
//! so table and struct cannot disagree.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::{Error as _, SerializeMap};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Number, Value};

use super::shape::{Kind, Presence};

/// A type of a field.
pub(crate) trait Member: Sized {
    const KIND: Kind;
    const PRESENCE: Presence = Presence::Required;

    /// Whether the value is absent.
    fn is_absent(&self) -> bool {
        false
    }

    /// The absent value, if the type has one.
    fn absent() -> Option<Self> {
        None
    }
}

impl<T: Member> Member for Option<T> {
    const KIND: Kind = T::KIND;
    const PRESENCE: Presence = Presence::Optional;

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Member> Member for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);
}

impl<T: Member> Member for Box<T> {
    const KIND: Kind = T::KIND;
    const PRESENCE: Presence = T::PRESENCE;
}

macro_rules! members {
    ($($type:ty => $kind:expr),* $(,)?) => {
        $(impl Member for $type {
            const KIND: Kind = $kind;
        })*
    };
}

members! {
    String => Kind::Text,
    bool => Kind::Boolean,
    i64 => Kind::Integer,
    u64 => Kind::Integer,
    Number => Kind::Number,
    Value => Kind::Any,
    Map<String, Value> => Kind::Object,
    Base64 => Kind::Base64,
}

/// Bytes, sent as base64 (standard alphabet, padded).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Base64(
    /// The decoded bytes.
    pub Vec<u8>,
);

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD
            .decode(text)
            .map(Self)
            .map_err(|_| D::Error::custom("expected base64"))
    }
}

/// Writes one member of an object, or omits it.
pub(crate) fn write<M, T>(
    map: &mut M,
    wire: &'static str,
    presence: Presence,
    value: &T,
) -> Result<(), M::Error>
where
    M: SerializeMap,
    T: Member + Serialize,
{
    match presence {
        Presence::Always(text) if value.is_absent() => {
            let value: Value = serde_json::from_str(text).map_err(M::Error::custom)?;
            map.serialize_entry(wire, &value)
        }
        Presence::Filled if is_empty(value) => Ok(()),
        _ if value.is_absent() => Ok(()),
        _ => map.serialize_entry(wire, value),
    }
}

fn is_empty<T: Serialize>(value: &T) -> bool {
    matches!(serde_json::to_value(value), Ok(Value::Object(map)) if map.is_empty())
}

/// The members of an object to be read. The map refuses JSON arrays, which a derived struct would
/// accept.
pub(crate) struct Members(Map<String, Value>);

impl Members {
    /// Reads an object and checks its tag.
    pub(crate) fn read<'de, D: Deserializer<'de>>(
        deserializer: D,
        tag: Option<(&'static str, &'static str)>,
    ) -> Result<Self, D::Error> {
        let members = Map::deserialize(deserializer)?;
        match tag {
            Some((key, text)) if members.get(key).and_then(Value::as_str) != Some(text) => {
                Err(D::Error::custom(format_args!("{key}: expected {text:?}")))
            }
            _ => Ok(Self(members)),
        }
    }

    /// Removes a member; absent and `null` are the same.
    pub(crate) fn take<T, E>(&mut self, wire: &'static str, presence: Presence) -> Result<T, E>
    where
        T: Member + DeserializeOwned,
        E: serde::de::Error,
    {
        let named = |error: serde_json::Error| E::custom(format_args!("{wire}: {error}"));
        match (self.0.remove(wire), presence) {
            (None | Some(Value::Null), Presence::Always(text)) => {
                serde_json::from_str(text).map_err(named)
            }
            (None | Some(Value::Null), _) => {
                T::absent().ok_or_else(|| E::custom(format_args!("{wire}: is missing")))
            }
            (Some(value), _) => T::deserialize(value).map_err(named),
        }
    }

    /// Checks that exactly one of these members is present.
    pub(crate) fn exactly_one<E: serde::de::Error>(&self, keys: &[&str]) -> Result<(), E> {
        let given = |key: &&&str| self.0.get(**key).is_some_and(|value| !value.is_null());
        if keys.is_empty() || keys.iter().filter(given).count() == 1 {
            return Ok(());
        }
        Err(E::custom(format_args!(
            "expected exactly one of {}",
            keys.join(", ")
        )))
    }
}
