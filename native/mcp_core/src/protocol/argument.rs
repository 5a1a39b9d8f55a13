//! Tool arguments that a header repeats.

use std::borrow::Cow;

use crate::json::{Document, Kind, UNLIMITED, View, member};

/// An argument in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument<'a> {
    /// A string.
    Text(Cow<'a, str>),
    /// A boolean.
    Boolean(bool),
    /// A number as sent.
    Number(&'a str),
    /// An object or array, which no header can repeat.
    Structure,
}

impl<'a> Argument<'a> {
    /// The argument at `path`; `None` if it is absent or null.
    pub(super) fn find(arguments: View<'_, 'a>, path: &[String]) -> Option<Self> {
        let Some((name, rest)) = path.split_first() else {
            return Self::of(arguments);
        };
        if let Some(member) = arguments.get(name) {
            return Self::find(member, rest);
        }
        if arguments.kind() != Kind::Object || arguments.members().next().is_some() {
            return None;
        }
        // The document keeps no members of deep or large objects, so this one is scanned again.
        let deep = Document::scan(member(arguments.raw(), name)?, &UNLIMITED).ok()?;
        Self::find(deep.root(), rest)
    }

    fn of(view: View<'_, 'a>) -> Option<Self> {
        Some(match view.kind() {
            Kind::Null => return None,
            Kind::String => Self::Text(view.text()?),
            Kind::Boolean => Self::Boolean(view.boolean()?),
            Kind::Integer | Kind::Float => Self::Number(std::str::from_utf8(view.raw()).ok()?),
            Kind::Object | Kind::Array => Self::Structure,
        })
    }

    /// Whether the header value `text` repeats this argument. Numbers are compared by value: `42.0`
    /// equals `42`.
    pub(super) fn is_repeated_by(&self, text: &str) -> bool {
        match self {
            Self::Text(own) => own == text,
            Self::Boolean(own) => text == if *own { "true" } else { "false" },
            Self::Number(own) => {
                let own = Decimal::read(own);
                own.is_some() && own == Decimal::read(text)
            }
            Self::Structure => false,
        }
    }
}

/// An exact number: `±digits × 10^exponent`, without zeros at either end of the digits.
#[derive(Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: String,
    exponent: i64,
}

impl Decimal {
    /// Parses a JSON number.
    fn read(text: &str) -> Option<Self> {
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, read_exponent(exponent)?),
            None => (text, 0),
        };
        let (negative, magnitude) = match mantissa.strip_prefix('-') {
            Some(magnitude) => (true, magnitude),
            None => (false, mantissa),
        };
        let (whole, fraction) = match magnitude.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (magnitude, None),
        };
        let is_whole = is_digits(whole) && (whole == "0" || !whole.starts_with('0'));
        if !is_whole || !fraction.is_none_or(is_digits) {
            return None;
        }
        let fraction = fraction.unwrap_or_default();
        let all = format!("{whole}{fraction}");
        let digits = all.trim_end_matches('0');
        let dropped = i64::try_from(all.len().checked_sub(digits.len())?).ok()?;
        let exponent = exponent
            .checked_sub(i64::try_from(fraction.len()).ok()?)?
            .checked_add(dropped)?;
        let digits = digits.trim_start_matches('0').to_owned();
        let is_zero = digits.is_empty();
        Some(Self {
            negative: negative && !is_zero,
            digits,
            exponent: if is_zero { 0 } else { exponent },
        })
    }
}

fn read_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    is_digits(digits).then(|| text.parse().ok()).flatten()
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
