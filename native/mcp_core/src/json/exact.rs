//! Finds integers that `serde_json::Value` would turn into floats.

use std::borrow::Cow;

use super::{Duplicate, Sink, Text, UNLIMITED, pointer, read};

/// The JSON Pointer to the first integer of more than 64 bits; `None` if there is none or the text
/// is not JSON.
///
/// # Examples
/// ```
/// use mcp_core::json::big_integer;
///
/// let text = br#"{"a/b":[18446744073709551615,18446744073709551616]}"#;
/// assert_eq!(big_integer(text).as_deref(), Some("/a~1b/1"));
/// assert_eq!(big_integer(b"[-9223372036854775808,1e300]"), None);
/// ```
#[must_use]
pub fn big_integer(text: &[u8]) -> Option<String> {
    read(text, &UNLIMITED, &mut BigIntegers).ok().flatten()
}

/// Turns each value into the pointer to its first big integer.
struct BigIntegers;

type Place = Option<String>;

impl<'a> Sink<'a> for BigIntegers {
    type Value = Place;
    type Key = Cow<'a, str>;

    fn null(&mut self) -> Place {
        None
    }

    fn boolean(&mut self, _: bool) -> Place {
        None
    }

    fn integer(&mut self, _: i64) -> Place {
        None
    }

    fn unsigned(&mut self, _: u64) -> Place {
        None
    }

    fn big_integer(&mut self, _: &'a str) -> Place {
        Some(String::new())
    }

    fn float(&mut self, _: f64) -> Place {
        None
    }

    fn string(&mut self, _: Text<'a>) -> Place {
        None
    }

    fn key(&mut self, text: Text<'a>) -> Cow<'a, str> {
        text.into_cow()
    }

    fn array(&mut self, items: &[Place]) -> Place {
        let mut places = items.iter().enumerate();
        places.find_map(|(index, place)| Some(format!("/{index}{}", place.as_ref()?)))
    }

    fn object(&mut self, keys: &[Cow<'a, str>], values: &[Place]) -> Result<Place, Duplicate> {
        let mut places = keys.iter().zip(values);
        Ok(places.find_map(|(key, place)| {
            let place = place.as_ref()?;
            Some(format!("/{}{place}", pointer::segment(key)))
        }))
    }
}
