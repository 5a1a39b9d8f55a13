//! Request ids.

use std::fmt;

use crate::json::{Kind, View, write_string};

/// A request's id. The response repeats it exactly.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Id {
    /// An integer from −2⁶³ to 2⁶⁴−1.
    Number(i128),
    /// A string.
    Text(String),
}

impl Id {
    /// Parses an id: an integer of at most 64 bits without fraction or exponent, or a string of at
    /// most `max_bytes`.
    #[must_use]
    pub fn parse(value: View<'_, '_>, max_bytes: usize) -> Option<Self> {
        match value.kind() {
            Kind::Integer => value.integer().map(Self::Number),
            Kind::String => {
                let text = value.text()?;
                (text.len() <= max_bytes).then(|| Self::Text(text.into_owned()))
            }
            _ => None,
        }
    }

    /// Appends the id as JSON.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Self::Text(text) => write_string(out, text),
        }
    }
}

impl fmt::Display for Id {
    /// The id as JSON.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut json = Vec::new();
        self.write(&mut json);
        formatter.write_str(&String::from_utf8_lossy(&json))
    }
}
