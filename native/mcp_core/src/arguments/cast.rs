//! Casts strings to types that JSON does not have.

use serde::Deserialize;

use super::decimal::Decimal;
use super::time::{Date, Time, date, date_time, local_date_time, time};
use super::uri::UriParts;
use crate::schema::Problem;

/// The type to cast a string to.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case", expecting = "the name of a type")]
pub enum Cast {
    /// A date.
    Date,
    /// A time of day, without an offset.
    Time,
    /// A date and time with an offset, in UTC.
    #[serde(rename = "datetime")]
    DateTime,
    /// A date and time without an offset.
    #[serde(rename = "naive_datetime")]
    NaiveDateTime,
    /// A decimal number.
    Decimal,
    /// A UUID, in lower case.
    Uuid,
    /// An absolute URI.
    Uri,
    /// Text as databases store it, without NUL characters.
    Text,
}

/// The result of a cast.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CastValue<'a> {
    /// A date.
    Date(Date),
    /// A time of day.
    Time(Time),
    /// A date and time in UTC.
    DateTime(Date, Time),
    /// A date and time without an offset.
    NaiveDateTime(Date, Time),
    /// A decimal number.
    Decimal(Decimal<'a>),
    /// A UUID.
    Uuid(String),
    /// A URI in parts.
    Uri(UriParts<'a>),
    /// The same text.
    Text(&'a str),
}

impl Cast {
    /// The name of the type.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Date => "date",
            Self::Time => "time",
            Self::DateTime => "datetime",
            Self::NaiveDateTime => "naive_datetime",
            Self::Decimal => "decimal",
            Self::Uuid => "uuid",
            Self::Uri => "uri",
            Self::Text => "text",
        }
    }

    /// Casts a string.
    ///
    /// # Errors
    /// The problem of an invalid string, at `pointer`.
    ///
    /// # Examples
    /// ```
    /// use mcp_core::arguments::Cast;
    ///
    /// assert!(Cast::Date.read("2026-01-31", &|| "/on".to_owned()).is_ok());
    /// let problem = Cast::Date.read("2026-02-30", &|| "/on".to_owned()).unwrap_err();
    /// assert_eq!(problem.to_string(), "/on: must be a date such as 2026-01-31 (format)");
    /// ```
    pub fn read<'a>(
        self,
        text: &'a str,
        pointer: &dyn Fn() -> String,
    ) -> Result<CastValue<'a>, Problem> {
        let value = match self {
            Self::Date => date(text).map(CastValue::Date),
            Self::Time => time(text).map(CastValue::Time),
            Self::DateTime => date_time(text).map(|(date, time)| CastValue::DateTime(date, time)),
            Self::NaiveDateTime => {
                local_date_time(text).map(|(date, time)| CastValue::NaiveDateTime(date, time))
            }
            Self::Decimal => Decimal::read(text).map(CastValue::Decimal),
            Self::Uuid => uuid(text).map(CastValue::Uuid),
            Self::Uri => UriParts::read(text).map(CastValue::Uri),
            Self::Text => (!text.contains('\0')).then_some(CastValue::Text(text)),
        };
        value.ok_or_else(|| Problem::of_format(&pointer(), self.words()))
    }

    /// The description of a valid string; it follows "must be".
    const fn words(self) -> &'static str {
        match self {
            Self::Date => "a date such as 2026-01-31",
            Self::Time => "a time of day without an offset such as 09:30:00",
            Self::DateTime => "a date and time with an offset such as 2026-01-31T09:30:00Z",
            Self::NaiveDateTime => "a date and time without an offset such as 2026-01-31T09:30:00",
            Self::Decimal => "a decimal number of at most 1000 digits such as 12.50",
            Self::Uuid => "a UUID such as 123e4567-e89b-12d3-a456-426614174000",
            Self::Uri => "an absolute URI such as https://example.com/path",
            Self::Text => "text without NUL characters",
        }
    }
}

fn uuid(text: &str) -> Option<String> {
    let is_dash = |place: usize| matches!(place, 8 | 13 | 18 | 23);
    let fits = |(place, byte): (usize, u8)| {
        if is_dash(place) {
            byte == b'-'
        } else {
            byte.is_ascii_hexdigit()
        }
    };
    (text.len() == 36 && text.bytes().enumerate().all(fits)).then(|| text.to_ascii_lowercase())
}
