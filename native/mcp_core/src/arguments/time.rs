//! Dates and times of the Gregorian calendar, in the years 0 to 9999.

/// A day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// 0 to 9999.
    pub year: u16,
    /// 1 to 12.
    pub month: u8,
    /// 1 to the last day of the month.
    pub day: u8,
}

/// A time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// 0 to 23.
    pub hour: u8,
    /// 0 to 59.
    pub minute: u8,
    /// 0 to 59.
    pub second: u8,
    /// The fraction of the second; digits after the sixth are cut.
    pub microsecond: u32,
    /// The number of digits in the fraction, at most six.
    pub precision: u8,
}

/// The stored digits of a fraction.
const PRECISION: usize = 6;

/// `2026-01-31`.
pub(super) fn date(text: &str) -> Option<Date> {
    if text.len() != 10 || !text.is_ascii() {
        return None;
    }
    let (year, rest) = text.split_once('-')?;
    let (month, day) = rest.split_once('-')?;
    let date = Date {
        year: number(year, 4)?,
        month: two(month)?,
        day: two(day)?,
    };
    let exists = (1..=12).contains(&date.month) && (1..=date.last_day()).contains(&date.day);
    exists.then_some(date)
}

/// `09:30`, `09:30:00`, `09:30:00.123`, optionally with a final `Z` as in the format `time`.
pub(super) fn time(text: &str) -> Option<Time> {
    clock(text.strip_suffix(['Z', 'z']).unwrap_or(text))
}

/// `2026-01-31T09:30:00`.
pub(super) fn local_date_time(text: &str) -> Option<(Date, Time)> {
    let (day, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix(['T', 't', ' '])?;
    Some((date(day)?, clock(rest)?))
}

/// `2026-01-31T09:30:00+01:00`, converted to UTC.
pub(super) fn date_time(text: &str) -> Option<(Date, Time)> {
    if let Some(local) = text.strip_suffix(['Z', 'z']) {
        return local_date_time(local);
    }
    let (local, offset) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (hours, minutes) = offset.get(1..)?.split_once(':')?;
    let (hours, minutes) = (two(hours)?, two(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let offset_minutes = minute_of_day(hours, minutes);
    let (date, time) = local_date_time(local)?;
    let minute = minute_of_day(time.hour, time.minute);
    let minute = match offset.get(..1)? {
        "+" => minute.checked_sub(offset_minutes)?,
        "-" => minute.checked_add(offset_minutes)?,
        _ => return None,
    };
    on_its_day(date, time, minute)
}

fn minute_of_day(hour: u8, minute: u8) -> i32 {
    i32::from(hour)
        .saturating_mul(60)
        .saturating_add(minute.into())
}

/// The time at that minute of a day; the minute may be in the day before or after.
fn on_its_day(date: Date, time: Time, minute: i32) -> Option<(Date, Time)> {
    const DAY: i32 = 24 * 60;
    let date = match minute {
        ..0 => date.before()?,
        DAY.. => date.after()?,
        _ => date,
    };
    let minute = minute.rem_euclid(DAY);
    let time = Time {
        hour: u8::try_from(minute.div_euclid(60)).ok()?,
        minute: u8::try_from(minute.rem_euclid(60)).ok()?,
        ..time
    };
    Some((date, time))
}

impl Date {
    fn last_day(self) -> u8 {
        match self.month {
            2 if self.is_leap() => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            _ => 31,
        }
    }

    const fn is_leap(self) -> bool {
        self.year.is_multiple_of(4)
            && (!self.year.is_multiple_of(100) || self.year.is_multiple_of(400))
    }

    fn before(self) -> Option<Self> {
        let (year, month) = match (self.month, self.day) {
            (_, 2..) => {
                let day = self.day.checked_sub(1)?;
                return Some(Self { day, ..self });
            }
            (1, _) => (self.year.checked_sub(1)?, 12),
            _ => (self.year, self.month.checked_sub(1)?),
        };
        let first = Self {
            year,
            month,
            day: 1,
        };
        Some(Self {
            day: first.last_day(),
            ..first
        })
    }

    fn after(self) -> Option<Self> {
        let (year, month, day) = if self.day < self.last_day() {
            (self.year, self.month, self.day.checked_add(1)?)
        } else if self.month < 12 {
            (self.year, self.month.checked_add(1)?, 1)
        } else {
            (self.year.checked_add(1)?, 1, 1)
        };
        (year <= 9999).then_some(Self { year, month, day })
    }
}

fn clock(text: &str) -> Option<Time> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) => (clock, Some(fraction)),
        None => (text, None),
    };
    let mut parts = clock.split(':');
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let second = match parts.next() {
        Some(second) => two(second)?,
        None if fraction.is_some() => return None,
        None => 0,
    };
    let (microsecond, precision) = fraction.map_or(Some((0, 0)), microseconds)?;
    let exists = hour < 24 && minute < 60 && second < 60 && parts.next().is_none();
    exists.then_some(Time {
        hour,
        minute,
        second,
        microsecond,
        precision,
    })
}

fn microseconds(fraction: &str) -> Option<(u32, u8)> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let kept = fraction.get(..fraction.len().min(PRECISION))?;
    let microsecond = format!("{kept:0<PRECISION$}").parse().ok()?;
    Some((microsecond, u8::try_from(kept.len()).ok()?))
}

fn two(text: &str) -> Option<u8> {
    number(text, 2).and_then(|number| u8::try_from(number).ok())
}

/// A number of exactly `digits` digits.
fn number(text: &str, digits: usize) -> Option<u16> {
    let fits = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}
