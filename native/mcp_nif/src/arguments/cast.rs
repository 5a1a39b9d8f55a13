//! Converts strings to Elixir's date, decimal and URI structs, numbers to decimals, and floats to integers.

use mcp_core::arguments::{CastValue, Date, Decimal, Time, UriParts};
use rustler::{Atom, BigInt, Encoder, Env, Term};

use crate::atoms;

type Fields<'a> = Vec<(Atom, Term<'a>)>;

/// The term of a value that was parsed from the string `source`.
pub(super) fn cast_term<'a>(
    env: Env<'a>,
    value: &CastValue<'_>,
    source: Term<'a>,
) -> Option<Term<'a>> {
    let fields = match value {
        CastValue::Uuid(text) if source.decode().ok() == Some(text.as_str()) => {
            return Some(source);
        }
        CastValue::Text(_) => return Some(source),
        CastValue::Uuid(text) => return Some(text.encode(env)),
        CastValue::Date(date) => [head(env, atoms::date()), date_fields(env, *date)].concat(),
        CastValue::Time(time) => [head(env, atoms::time()), time_fields(env, *time)].concat(),
        CastValue::NaiveDateTime(date, time) => [
            head(env, atoms::naive_date_time()),
            date_fields(env, *date),
            time_fields(env, *time),
        ]
        .concat(),
        CastValue::DateTime(date, time) => [
            head(env, atoms::date_time()),
            date_fields(env, *date),
            time_fields(env, *time),
            zone_fields(env),
        ]
        .concat(),
        CastValue::Decimal(decimal) => decimal_fields(env, decimal)?,
        CastValue::Uri(uri) => uri_fields(env, uri),
    };
    Term::map_from_pairs(env, &fields).ok()
}

/// Converts a float without a fraction to an integer.
pub(super) fn integer_term<'a>(env: Env<'a>, float: Term<'a>) -> Option<Term<'a>> {
    let number: f64 = float.decode().ok()?;
    let digits: BigInt = format!("{number:.0}").parse().ok()?;
    Some(digits.encode(env))
}

/// The digits of a number: of a float as few as tell it from others.
pub(super) fn number_text(number: Term<'_>) -> Option<String> {
    if number.is_float() {
        return number.decode::<f64>().ok().map(|float| float.to_string());
    }
    number
        .decode::<BigInt>()
        .ok()
        .map(|digits| digits.to_string())
}

/// The fields that all structs of the ISO calendar share.
fn head(env: Env<'_>, module: Atom) -> Fields<'_> {
    vec![
        (atoms::struct_(), module.encode(env)),
        (atoms::calendar(), atoms::calendar_iso().encode(env)),
    ]
}

fn date_fields(env: Env<'_>, date: Date) -> Fields<'_> {
    vec![
        (atoms::year(), date.year.encode(env)),
        (atoms::month(), date.month.encode(env)),
        (atoms::day(), date.day.encode(env)),
    ]
}

fn time_fields(env: Env<'_>, time: Time) -> Fields<'_> {
    vec![
        (atoms::hour(), time.hour.encode(env)),
        (atoms::minute(), time.minute.encode(env)),
        (atoms::second(), time.second.encode(env)),
        (
            atoms::microsecond(),
            (time.microsecond, time.precision).encode(env),
        ),
    ]
}

fn zone_fields(env: Env<'_>) -> Fields<'_> {
    vec![
        (atoms::time_zone(), "Etc/UTC".encode(env)),
        (atoms::zone_abbr(), "UTC".encode(env)),
        (atoms::utc_offset(), 0.encode(env)),
        (atoms::std_offset(), 0.encode(env)),
    ]
}

fn decimal_fields<'a>(env: Env<'a>, decimal: &Decimal<'_>) -> Option<Fields<'a>> {
    let coefficient: BigInt = decimal.digits().parse().ok()?;
    let sign = if decimal.is_negative { -1 } else { 1 };
    Some(vec![
        (atoms::struct_(), atoms::decimal().encode(env)),
        (atoms::sign(), sign.encode(env)),
        (atoms::coef(), coefficient.encode(env)),
        (atoms::exp(), decimal.exponent.encode(env)),
    ])
}

fn uri_fields<'a>(env: Env<'a>, uri: &UriParts<'_>) -> Fields<'a> {
    vec![
        (atoms::struct_(), atoms::uri_struct().encode(env)),
        (atoms::scheme(), uri.scheme.encode(env)),
        // Deprecated in Elixir; `URI.new/1` sets it to `nil` too.
        (atoms::authority(), atoms::nil().encode(env)),
        (atoms::userinfo(), uri.user_info.encode(env)),
        (atoms::host(), uri.host.encode(env)),
        (atoms::port(), uri.port.encode(env)),
        (atoms::path(), uri.path.encode(env)),
        (atoms::query(), uri.query.encode(env)),
        (atoms::fragment(), uri.fragment.encode(env)),
    ]
}
