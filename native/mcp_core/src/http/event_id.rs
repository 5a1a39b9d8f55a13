//! Event ids: a stream and the index of an event in it.

use std::fmt;

/// `<stream>-<index>`, both decimal.
///
/// # Examples
/// ```
/// use mcp_core::http::EventId;
/// let id = EventId { stream: 3, index: 0 };
/// assert_eq!(id.to_string(), "3-0");
/// assert_eq!(EventId::parse("3-0"), Some(id));
/// assert_eq!(EventId::parse("03-0"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// The stream, by its number within a session.
    pub stream: u64,
    /// The event, by its index on the stream.
    pub index: u64,
}

impl EventId {
    /// Reads an id exactly as [`fmt::Display`] writes it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (stream, index) = text.split_once('-')?;
        Some(Self {
            stream: number(stream)?,
            index: number(index)?,
        })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.stream, self.index)
    }
}

/// `Last-Event-ID`: the position from which a client resumes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastEventId {
    /// After this event.
    Event(EventId),
    /// A value that this library never writes.
    Malformed,
}

fn number(digits: &str) -> Option<u64> {
    let only_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = digits == "0" || !digits.starts_with('0');
    (only_digits && canonical)
        .then(|| digits.parse().ok())
        .flatten()
}
