//! `Accept`: whether the client accepts JSON and event streams.

use super::head::{Head, printable};

/// The types a client accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    /// `application/json`
    pub(super) json: bool,
    /// `text/event-stream`
    pub(super) events: bool,
}

impl Accepts {
    /// Reads every `Accept` header.
    pub(super) fn read(head: &Head<'_>) -> Self {
        let [json, events] = weigh(head, [("application", "json"), ("text", "event-stream")]);
        Self {
            json: json.is_acceptable(),
            events: events.is_acceptable(),
        }
    }
}

/// A client's preference for a type: ordered by its weight, then by the specificity of the matching
/// range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Weight {
    /// In thousandths.
    weight: u16,
    specificity: u8,
}

impl Weight {
    /// Whether the client accepts the type.
    pub(crate) const fn is_acceptable(self) -> bool {
        self.weight > 0
    }

    /// The most specific range that covers a type decides.
    fn consider(&mut self, range: Range<'_>, (main, sub): (&str, &str)) {
        let specificity = match (range.main, range.sub) {
            ("*", "*") => 1,
            (found, "*") if found.eq_ignore_ascii_case(main) => 2,
            (found, rest) if found.eq_ignore_ascii_case(main) && rest.eq_ignore_ascii_case(sub) => {
                3
            }
            _ => return,
        };
        let weight = range.weight;
        if specificity > self.specificity {
            *self = Self {
                weight,
                specificity,
            };
        } else if specificity == self.specificity {
            self.weight = self.weight.max(weight);
        }
    }
}

/// The client's weight for each of these types. Without an `Accept` header, or with an empty one,
/// all weights are equal.
pub(crate) fn weigh<const N: usize>(head: &Head<'_>, types: [(&str, &str); N]) -> [Weight; N] {
    let mut named = false;
    let mut weights = [Weight::default(); N];
    for value in head.all("accept") {
        named |= !value.is_empty();
        for range in ranges(printable(value).unwrap_or_default()) {
            for (weight, media_type) in weights.iter_mut().zip(types) {
                weight.consider(range, media_type);
            }
        }
    }
    if named {
        return weights;
    }
    [Weight {
        weight: WHOLE,
        specificity: 0,
    }; N]
}

#[derive(Clone, Copy, Debug)]
struct Range<'h> {
    main: &'h str,
    sub: &'h str,
    /// In thousandths.
    weight: u16,
}

const WHOLE: u16 = 1000;

/// The media ranges of a value; invalid ones are skipped.
fn ranges(value: &str) -> impl Iterator<Item = Range<'_>> {
    outside_quotes(value, b',').filter_map(|range| {
        let mut parts = outside_quotes(range, b';').map(str::trim);
        let (main, sub) = parts.next()?.split_once('/')?;
        let mut weight = WHOLE;
        for parameter in parts {
            if let Some((name, value)) = parameter.split_once('=')
                && name.trim().eq_ignore_ascii_case("q")
            {
                weight = thousandths(value.trim())?;
            }
        }
        Some(Range { main, sub, weight })
    })
}

/// A weight from `0` to `1` with up to three decimals; `None` for an invalid weight.
fn thousandths(weight: &str) -> Option<u16> {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    if fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: u16 = format!("{fraction:0<3}").parse().ok()?;
    match whole {
        "0" => Some(fraction),
        "1" if fraction == 0 => Some(WHOLE),
        _ => None,
    }
}

/// Splits at each separator, an ASCII character, outside quoted strings.
pub(super) fn outside_quotes(text: &str, separator: u8) -> impl Iterator<Item = &str> {
    let mut rest = Some(text);
    std::iter::from_fn(move || {
        let text = rest?;
        let end = unquoted(text, separator);
        rest = text.get(end.saturating_add(1)..);
        text.get(..end)
    })
}

/// The place of the first separator outside quoted strings, or the length of the text.
fn unquoted(text: &str, separator: u8) -> usize {
    let mut quoted = false;
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ if byte == separator && !quoted => return place,
            _ => {}
        }
    }
    text.len()
}
