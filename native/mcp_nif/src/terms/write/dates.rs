//! Writes `Date`, `Time`, `NaiveDateTime` and `DateTime` as ISO 8601 text, with the output of their
//! `to_iso8601`.

use rustler::{Atom, Term};

use crate::atoms;
use crate::terms::error::{EncodeError, EncodeErrorKind};

/// The calendar structs of Elixir's standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calendar {
    Date,
    Time,
    NaiveDateTime,
    DateTime,
}

impl Calendar {
    pub(super) const MODULES: [(&'static str, Self); 4] = [
        ("Elixir.Date", Self::Date),
        ("Elixir.Time", Self::Time),
        ("Elixir.NaiveDateTime", Self::NaiveDateTime),
        ("Elixir.DateTime", Self::DateTime),
    ];
}

/// Appends the text with its quotes.
pub(super) fn write(
    out: &mut Vec<u8>,
    calendar: Calendar,
    term: Term<'_>,
) -> Result<(), EncodeError> {
    text(calendar, term)
        .map(|text| out.extend_from_slice(format!("\"{text}\"").as_bytes()))
        .ok_or_else(|| {
            EncodeError::new(
                EncodeErrorKind::Unsupported,
                "a date or time that is not of the ISO calendar",
            )
        })
}

fn text(calendar: Calendar, term: Term<'_>) -> Option<String> {
    let iso = atom(term, atoms::calendar())? == atoms::calendar_iso();
    match calendar {
        _ if !iso => None,
        Calendar::Date => date(term),
        Calendar::Time => time(term),
        Calendar::NaiveDateTime => Some(format!("{}T{}", date(term)?, time(term)?)),
        Calendar::DateTime => Some(format!("{}T{}{}", date(term)?, time(term)?, offset(term)?)),
    }
}

fn date(term: Term<'_>) -> Option<String> {
    let year = number(term, atoms::year())?;
    let (month, day) = (number(term, atoms::month())?, number(term, atoms::day())?);
    let sign = if year < 0 { "-" } else { "" };
    Some(format!(
        "{sign}{:04}-{month:02}-{day:02}",
        year.unsigned_abs()
    ))
}

fn time(term: Term<'_>) -> Option<String> {
    let (hour, minute) = (number(term, atoms::hour())?, number(term, atoms::minute())?);
    let second = number(term, atoms::second())?;
    let (micros, digits): (u32, usize) = term.map_get(atoms::microsecond()).ok()?.decode().ok()?;
    let mut text = format!("{hour:02}:{minute:02}:{second:02}");
    if digits > 0 {
        let micros = format!("{micros:06}");
        text.push('.');
        text.push_str(micros.get(..digits)?);
    }
    Some(text)
}

fn offset(term: Term<'_>) -> Option<String> {
    let utc = number(term, atoms::utc_offset())?;
    let total = utc.checked_add(number(term, atoms::std_offset())?)?;
    let zone: &str = term.map_get(atoms::time_zone()).ok()?.decode().ok()?;
    if total == 0 && zone == "Etc/UTC" {
        return Some("Z".to_owned());
    }
    let sign = if total < 0 { '-' } else { '+' };
    let minutes = total.unsigned_abs() / 60;
    Some(format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
}

fn number(term: Term<'_>, field: Atom) -> Option<i32> {
    term.map_get(field).ok()?.decode().ok()
}

fn atom(term: Term<'_>, field: Atom) -> Option<Atom> {
    term.map_get(field).ok()?.decode().ok()
}
