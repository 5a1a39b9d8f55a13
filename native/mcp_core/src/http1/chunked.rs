//! Decodes a chunked body as it arrives.

use super::error::ChunkError;
use super::grammar::{is_token, is_token_byte, is_value_byte};

/// 16 hexadecimal digits fill 64 bits.
const MAX_DIGITS: u8 = 16;

/// Extensions are ignored. More bytes of them in a body only cost time.
const MAX_EXTENSION_BYTES: usize = 16 * 1024;

/// Limits on the bytes around the data of a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkLimits {
    /// Bytes of a line with a chunk's size and extensions, including its CRLF.
    pub max_line_bytes: usize,
    /// Bytes of all trailers, including line ends and the last empty line.
    pub max_trailer_bytes: usize,
}

impl Default for ChunkLimits {
    /// 256 bytes a line, and 4 KiB of trailers.
    fn default() -> Self {
        Self {
            max_line_bytes: 256,
            max_trailer_bytes: 4 * 1024,
        }
    }
}

/// The result of [`Chunked::decode`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// How many bytes of the input belong to the body. The next request follows them.
    pub used: usize,
    /// Whether the body has ended, including its trailers.
    pub done: bool,
}

/// A decoder for one chunked body. The input may be split at any byte.
#[derive(Clone, Debug)]
pub struct Chunked {
    limits: ChunkLimits,
    state: State,
    line_bytes: usize,
    extension_bytes: usize,
    trailer_bytes: usize,
    /// The current, unfinished trailer. The limit for all trailers bounds it.
    trailer: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size { digits: u8, size: u64 },
    ExtensionStart { size: u64 },
    Extension { size: u64 },
    SizeLineFeed { size: u64 },
    Data { left: u64 },
    DataReturn,
    DataLineFeed,
    Trailer,
    TrailerLineFeed,
    Done,
    Failed(ChunkError),
}

const FIRST: State = State::Size { digits: 0, size: 0 };

const BAD_SIZE: ChunkError = ChunkError::Malformed("A chunk's size must be hexadecimal digits");
const BAD_EXTENSION: ChunkError = ChunkError::Malformed("A chunk's extension is malformed");
const BAD_LINE_END: ChunkError =
    ChunkError::Malformed("A line of a chunked body must end with CRLF");
const LONG_LINE: ChunkError = ChunkError::Malformed("A chunk's size line is too long");
const LONG_EXTENSIONS: ChunkError = ChunkError::Malformed("The chunks' extensions are too long");
const BAD_DATA_END: ChunkError = ChunkError::Malformed("A chunk is longer than its size");
const BAD_TRAILER: ChunkError = ChunkError::Malformed("A trailer is malformed");
const FORBIDDEN_TRAILER: ChunkError = ChunkError::Malformed("A trailer must not frame or route");
const LONG_TRAILERS: ChunkError = ChunkError::Malformed("The trailers are too long");

impl Chunked {
    /// A decoder for a new body.
    #[must_use]
    pub fn new(limits: ChunkLimits) -> Self {
        Self {
            limits,
            state: FIRST,
            line_bytes: 0,
            extension_bytes: 0,
            trailer_bytes: 0,
            trailer: Vec::new(),
        }
    }

    /// Decodes the part of `input` that belongs to the body and appends the data to `out`.
    ///
    /// `room` is the number of data bytes that the rest of the body may have. A larger chunk is
    /// refused as soon as its size is known. After the end of the body no more input is used.
    ///
    /// # Errors
    /// [`ChunkError::TooLarge`] when the data exceed `room`, [`ChunkError::Malformed`] when the
    /// input is not a chunked body. Every later call returns the same error. `out` may already hold
    /// data.
    pub fn decode(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        room: usize,
    ) -> Result<Decoded, ChunkError> {
        let decoded = self.advance(input, out, room);
        if let Err(error) = decoded {
            self.state = State::Failed(error);
        }
        decoded
    }

    fn advance(
        &mut self,
        input: &[u8],
        out: &mut Vec<u8>,
        mut room: usize,
    ) -> Result<Decoded, ChunkError> {
        let mut rest = input;
        loop {
            match self.state {
                State::Done => break,
                State::Failed(error) => return Err(error),
                State::Data { left } => {
                    let (data, behind) = split_data(rest, left, room)?;
                    if data.is_empty() {
                        break;
                    }
                    out.extend_from_slice(data);
                    room = room.saturating_sub(data.len());
                    rest = behind;
                    self.state = after_data(left, data.len());
                }
                _ => {
                    let Some((byte, behind)) = rest.split_first() else {
                        break;
                    };
                    rest = behind;
                    self.state = self.step(*byte, room)?;
                }
            }
        }
        Ok(Decoded {
            used: input.len().saturating_sub(rest.len()),
            done: self.state == State::Done,
        })
    }

    /// The next state after a byte outside the data.
    fn step(&mut self, byte: u8, room: usize) -> Result<State, ChunkError> {
        match self.state {
            State::Size { digits, size } => {
                self.count_line_byte()?;
                next_of_size(byte, digits, size)
            }
            State::ExtensionStart { size } => {
                self.count_extension_byte()?;
                match byte {
                    // After the semicolon parsers treat white space, or a missing name,
                    // differently.
                    byte if is_token_byte(byte) => Ok(State::Extension { size }),
                    _ => Err(BAD_EXTENSION),
                }
            }
            State::Extension { size } => {
                self.count_extension_byte()?;
                match byte {
                    b'\r' => Ok(State::SizeLineFeed { size }),
                    byte if is_value_byte(byte) && byte.is_ascii() => Ok(State::Extension { size }),
                    b'\n' => Err(BAD_LINE_END),
                    _ => Err(BAD_EXTENSION),
                }
            }
            State::SizeLineFeed { size } => {
                self.count_line_byte()?;
                self.line_bytes = 0;
                expect(byte, b'\n', BAD_LINE_END)?;
                begin_chunk(size, room)
            }
            State::DataReturn => expect(byte, b'\r', BAD_DATA_END).map(|()| State::DataLineFeed),
            State::DataLineFeed => expect(byte, b'\n', BAD_DATA_END).map(|()| FIRST),
            State::Trailer => self.trailer_byte(byte),
            State::TrailerLineFeed => {
                self.count_trailer_byte()?;
                expect(byte, b'\n', BAD_LINE_END)?;
                self.end_trailer()
            }
            state @ (State::Data { .. } | State::Done | State::Failed(_)) => Ok(state),
        }
    }

    fn count_line_byte(&mut self) -> Result<(), ChunkError> {
        count(&mut self.line_bytes, self.limits.max_line_bytes, LONG_LINE)
    }

    fn count_extension_byte(&mut self) -> Result<(), ChunkError> {
        self.count_line_byte()?;
        count(
            &mut self.extension_bytes,
            MAX_EXTENSION_BYTES,
            LONG_EXTENSIONS,
        )
    }

    fn count_trailer_byte(&mut self) -> Result<(), ChunkError> {
        let max = self.limits.max_trailer_bytes;
        count(&mut self.trailer_bytes, max, LONG_TRAILERS)
    }

    fn trailer_byte(&mut self, byte: u8) -> Result<State, ChunkError> {
        self.count_trailer_byte()?;
        match byte {
            b'\r' => Ok(State::TrailerLineFeed),
            b'\n' => Err(BAD_LINE_END),
            byte => {
                self.trailer.push(byte);
                Ok(State::Trailer)
            }
        }
    }

    fn end_trailer(&mut self) -> Result<State, ChunkError> {
        if self.trailer.is_empty() {
            return Ok(State::Done);
        }
        check_trailer(&self.trailer)?;
        self.trailer.clear();
        Ok(State::Trailer)
    }
}

fn count(bytes: &mut usize, max: usize, refusal: ChunkError) -> Result<(), ChunkError> {
    *bytes = bytes.saturating_add(1);
    if *bytes > max { Err(refusal) } else { Ok(()) }
}

fn expect(byte: u8, expected: u8, refusal: ChunkError) -> Result<(), ChunkError> {
    if byte == expected {
        Ok(())
    } else {
        Err(refusal)
    }
}

fn next_of_size(byte: u8, digits: u8, size: u64) -> Result<State, ChunkError> {
    if let Some(digit) = char::from(byte).to_digit(16) {
        if digits == MAX_DIGITS {
            return Err(BAD_SIZE);
        }
        return Ok(State::Size {
            digits: digits.saturating_add(1),
            // With at most 16 digits the shift loses no bits.
            size: (size << 4) | u64::from(digit),
        });
    }
    match byte {
        _ if digits == 0 => Err(BAD_SIZE),
        b'\r' => Ok(State::SizeLineFeed { size }),
        b';' => Ok(State::ExtensionStart { size }),
        b'\n' => Err(BAD_LINE_END),
        _ => Err(BAD_SIZE),
    }
}

fn begin_chunk(size: u64, room: usize) -> Result<State, ChunkError> {
    if size == 0 {
        return Ok(State::Trailer);
    }
    fits(size, room).map(|_| State::Data { left: size })
}

/// The size as `usize`, if `room` is large enough.
fn fits(size: u64, room: usize) -> Result<usize, ChunkError> {
    usize::try_from(size)
        .ok()
        .filter(|size| *size <= room)
        .ok_or(ChunkError::TooLarge)
}

/// The chunk's data in `rest`, and the bytes after them.
fn split_data(rest: &[u8], left: u64, room: usize) -> Result<(&[u8], &[u8]), ChunkError> {
    let length = fits(left, room)?.min(rest.len());
    Ok(rest.split_at_checked(length).unwrap_or_default())
}

fn after_data(left: u64, length: usize) -> State {
    match left.saturating_sub(length as u64) {
        0 => State::DataReturn,
        left => State::Data { left },
    }
}

/// Checks a trailer like a field of a head. This library ignores trailers but a proxy may not, so
/// framing and connection fields are refused.
fn check_trailer(line: &[u8]) -> Result<(), ChunkError> {
    const FORBIDDEN: [&[u8]; 8] = [
        b"connection",
        b"content-length",
        b"expect",
        b"host",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
    ];
    let mut parts = line.splitn(2, |byte| *byte == b':');
    let (Some(name), Some(value)) = (parts.next(), parts.next()) else {
        return Err(BAD_TRAILER);
    };
    if !is_token(name) || !value.iter().copied().all(is_value_byte) {
        return Err(BAD_TRAILER);
    }
    if FORBIDDEN
        .iter()
        .any(|forbidden| name.eq_ignore_ascii_case(forbidden))
    {
        return Err(FORBIDDEN_TRAILER);
    }
    Ok(())
}
