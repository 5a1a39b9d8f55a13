//! Body length and connection reuse, from the fields that concern only the connection.

use super::error::HeadError;
use super::grammar::elements;
use super::target::Form;

/// The protocol version of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1.
    Http11,
}

/// The body after a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// No body: no length is declared, or it is 0.
    Empty,
    /// This many bytes, at least one.
    Length(u64),
    /// Chunks.
    Chunked,
}

/// The connection data of a head.
pub(super) struct Message {
    pub(super) framing: Framing,
    pub(super) keep_alive: bool,
    pub(super) expects_continue: bool,
}

/// The fields of a head that concern the connection, as sent.
#[derive(Default)]
struct Fields<'b> {
    length: Option<&'b [u8]>,
    coding: Option<&'b [u8]>,
    host: bool,
    close: bool,
    keep_alive: bool,
    expectation: Expectation,
}

/// The combined demand of all `Expect` fields.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Expectation {
    #[default]
    Nothing,
    Continue,
    Unknown,
}

/// Interprets the fields of a head.
pub(super) fn interpret(
    fields: &[(&str, &[u8])],
    version: Version,
    form: Form,
) -> Result<Message, HeadError> {
    let fields = Fields::collect(fields)?;
    // HTTP/1.1 requires `Host` for every form. For a path, the host policy checks it.
    if form == Form::Absolute && version == Version::Http11 && !fields.host {
        return Err(HeadError::Malformed("Host is missing"));
    }
    let framing = fields.framing(version)?;
    // HTTP/1.0 has no expectations. A 1.0 client that forwards one does not understand it.
    let expectation = match version {
        Version::Http10 => Expectation::Nothing,
        Version::Http11 => fields.expectation,
    };
    if expectation == Expectation::Unknown {
        return Err(HeadError::ExpectationFailed);
    }
    Ok(Message {
        framing,
        keep_alive: !fields.close && (version == Version::Http11 || fields.keep_alive),
        expects_continue: expectation == Expectation::Continue && framing != Framing::Empty,
    })
}

impl<'b> Fields<'b> {
    fn collect(fields: &[(&str, &'b [u8])]) -> Result<Self, HeadError> {
        let mut found = Self::default();
        for (name, value) in fields {
            // Comparing lengths first skips nearly all other names cheaply.
            match name.len() {
                4 => found.host |= name.eq_ignore_ascii_case("host"),
                6 if name.eq_ignore_ascii_case("expect") => found.expect(value),
                10 if name.eq_ignore_ascii_case("connection") => found.connection(value),
                14 if name.eq_ignore_ascii_case("content-length") => {
                    once(&mut found.length, value, "Content-Length must stand once")?;
                }
                17 if name.eq_ignore_ascii_case("transfer-encoding") => {
                    once(
                        &mut found.coding,
                        value,
                        "Transfer-Encoding must stand once",
                    )?;
                }
                _ => {}
            }
        }
        Ok(found)
    }

    fn expect(&mut self, value: &[u8]) {
        let is_known = value.eq_ignore_ascii_case(b"100-continue");
        self.expectation = match self.expectation {
            Expectation::Nothing | Expectation::Continue if is_known => Expectation::Continue,
            _ => Expectation::Unknown,
        };
    }

    fn connection(&mut self, value: &[u8]) {
        for option in elements(value) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.keep_alive |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    fn framing(&self, version: Version) -> Result<Framing, HeadError> {
        match (self.length, self.coding) {
            (None, None) => Ok(Framing::Empty),
            (Some(digits), None) => length(digits),
            (None, Some(coding)) => coded(coding, version),
            // A proxy may have used the other header.
            (Some(_), Some(_)) => Err(HeadError::Malformed(
                "Content-Length must not stand beside Transfer-Encoding",
            )),
        }
    }
}

fn once<'b>(
    place: &mut Option<&'b [u8]>,
    value: &'b [u8],
    refusal: &'static str,
) -> Result<(), HeadError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(HeadError::Malformed(refusal)),
    }
}

fn length(digits: &[u8]) -> Result<Framing, HeadError> {
    const INVALID: HeadError = HeadError::Malformed("Content-Length must be one number");
    if digits.is_empty() {
        return Err(INVALID);
    }
    let mut length = 0_u64;
    for digit in digits {
        let value = digit.wrapping_sub(b'0');
        if value > 9 {
            return Err(INVALID);
        }
        length = length
            .checked_mul(10)
            .and_then(|length| length.checked_add(u64::from(value)))
            .ok_or(INVALID)?;
    }
    Ok(match length {
        0 => Framing::Empty,
        length => Framing::Length(length),
    })
}

fn coded(coding: &[u8], version: Version) -> Result<Framing, HeadError> {
    // A 1.0 proxy may ignore the field and see a body of another length.
    if version == Version::Http10 {
        return Err(HeadError::Malformed(
            "Transfer-Encoding does not belong to HTTP/1.0",
        ));
    }
    if coding.eq_ignore_ascii_case(b"chunked") {
        Ok(Framing::Chunked)
    } else {
        Err(HeadError::UnsupportedCoding)
    }
}
