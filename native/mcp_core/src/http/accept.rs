//! `Accept`: which of our two types the client can take.

use super::head::{Head, printable};

/// What a client can take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepts {
    /// `application/json`
    pub(super) json: bool,
    /// `text/event-stream`
    pub(super) events: bool,
}

impl Accepts {
    /// Reads every `Accept` header. Without one, or with an empty one, anything is acceptable.
    pub(super) fn read(head: &Head<'_>) -> Self {
        let mut named = false;
        let mut json = Best::default();
        let mut events = Best::default();
        for value in head.all("accept") {
            named |= !value.is_empty();
            for range in ranges(printable(value).unwrap_or_default()) {
                json.consider(range, "application", "json");
                events.consider(range, "text", "event-stream");
            }
        }
        Self {
            json: !named || json.acceptable,
            events: !named || events.acceptable,
        }
    }
}

/// The most specific range that covers a type decides.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    specificity: u8,
    acceptable: bool,
}

impl Best {
    fn consider(&mut self, range: Range<'_>, main: &str, sub: &str) {
        let specificity = match (range.main, range.sub) {
            ("*", "*") => 1,
            (found, "*") if found.eq_ignore_ascii_case(main) => 2,
            (found, rest) if found.eq_ignore_ascii_case(main) && rest.eq_ignore_ascii_case(sub) => {
                3
            }
            _ => return,
        };
        if specificity > self.specificity {
            *self = Self {
                specificity,
                acceptable: range.acceptable,
            };
        } else if specificity == self.specificity {
            self.acceptable |= range.acceptable;
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Range<'h> {
    main: &'h str,
    sub: &'h str,
    /// Whether its weight is more than nothing.
    acceptable: bool,
}

/// The media ranges of a value; what is none is left out.
fn ranges(value: &str) -> impl Iterator<Item = Range<'_>> {
    outside_quotes(value, ',').filter_map(|range| {
        let mut parts = outside_quotes(range, ';').map(str::trim);
        let (main, sub) = parts.next()?.split_once('/')?;
        let mut acceptable = true;
        for parameter in parts {
            if let Some((name, weight)) = parameter.split_once('=')
                && name.trim().eq_ignore_ascii_case("q")
            {
                acceptable = is_positive(weight.trim())?;
            }
        }
        Some(Range {
            main,
            sub,
            acceptable,
        })
    })
}

/// Whether a weight is above zero; `None` for what is no weight.
fn is_positive(weight: &str) -> Option<bool> {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    let digits = fraction.len() <= 3 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let zero = fraction.bytes().all(|byte| byte == b'0');
    match whole {
        "0" if digits => Some(!zero),
        "1" if zero && digits => Some(true),
        _ => None,
    }
}

/// The parts between separators that do not stand inside a quoted string.
fn outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let mut quoted = false;
    let mut escaped = false;
    text.split(move |letter| {
        if escaped {
            escaped = false;
        } else if quoted && letter == '\\' {
            escaped = true;
        } else if letter == '"' {
            quoted = !quoted;
        }
        letter == separator && !quoted
    })
}
