//! Chunked bodies: every cut gives the same result as a simple parser of the whole body, and no
//! limit is exceeded.
//!
//! The first byte selects the limits, the second byte the cuts; the rest arrives on the connection.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcp_core::http1::{ChunkError, ChunkLimits, Chunked};
use mcp_fuzz::budget::within;
use mcp_fuzz::http1::Pieces;

fuzz_target!(|bytes: &[u8]| {
    let [choice, seed, bytes @ ..] = bytes else {
        return;
    };
    within(|| {
        let (limits, room) = limits(*choice);
        let whole = decode(bytes, 0, limits, room);
        for seed in [1, u16::from(*seed), u16::from(*seed) << 8 | 3] {
            assert_eq!(decode(bytes, seed, limits, room), whole);
        }
        assert!(whole.data.len() <= room);
        if let Ok(Some(used)) = whole.end {
            assert_eq!(plain(&bytes[..used]), Some(whole.data.clone()));
        }
        round_trip(bytes, *seed);
    });
});

fn limits(choice: u8) -> (ChunkLimits, usize) {
    if choice < 64 {
        let small = ChunkLimits {
            max_line_bytes: 3 + usize::from(choice % 8),
            max_trailer_bytes: 2 + 4 * usize::from(choice % 16),
        };
        return (small, 4 * usize::from(choice));
    }
    (ChunkLimits::default(), 1 << 20)
}

#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    data: Vec<u8>,
    /// The length of the body, once it has ended.
    end: Result<Option<usize>, ChunkError>,
}

fn decode(bytes: &[u8], seed: u16, limits: ChunkLimits, room: usize) -> Outcome {
    let mut chunks = Chunked::new(limits);
    let mut data = Vec::new();
    let mut used = 0;
    for piece in Pieces::new(bytes, seed) {
        let left = room - data.len();
        match chunks.decode(piece, &mut data, left) {
            Ok(decoded) => {
                used += decoded.used;
                if decoded.done {
                    let end = Ok(Some(used));
                    return Outcome { data, end };
                }
                assert_eq!(decoded.used, piece.len(), "a decoder takes what there is");
            }
            Err(error) => {
                assert_eq!(chunks.decode(b"0\r\n\r\n", &mut data, room), Err(error));
                let end = Err(error);
                return Outcome { data, end };
            }
        }
    }
    let end = Ok(None);
    Outcome { data, end }
}

/// Reads an accepted body without a state machine, as lines and data.
fn plain(mut bytes: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    loop {
        let line = line(&mut bytes)?;
        let digits = line.split(|byte| *byte == b';').next()?;
        assert!((1..=16).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit));
        let size = usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        if size == 0 {
            break;
        }
        data.extend_from_slice(bytes.get(..size)?);
        bytes = bytes.get(size..)?.strip_prefix(b"\r\n")?;
    }
    loop {
        let trailer = line(&mut bytes)?;
        if trailer.is_empty() {
            return bytes.is_empty().then_some(data);
        }
        let name = trailer
            .split(|byte| *byte == b':')
            .next()?
            .to_ascii_lowercase();
        assert!(name.len() < trailer.len() && !name.is_empty() && !name.contains(&b' '));
        assert!(
            !["content-length", "transfer-encoding", "host"]
                .map(str::as_bytes)
                .contains(&&name[..])
        );
    }
}

fn line<'a>(bytes: &mut &'a [u8]) -> Option<&'a [u8]> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (line, rest) = bytes.split_at(end);
    assert!(!line.iter().any(|byte| b"\r\n\0".contains(byte)));
    *bytes = &rest[2..];
    Some(line)
}

/// A chunked body is read back, and the bytes after it stay unread.
fn round_trip(bytes: &[u8], seed: u8) {
    let mut written = Vec::new();
    for piece in Pieces::new(bytes, seed.into()) {
        written.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        written.extend_from_slice(piece);
        written.extend_from_slice(b"\r\n");
    }
    written.extend_from_slice(b"0\r\n\r\n");
    let length = written.len();
    written.extend_from_slice(b"GET");
    let read = decode(
        &written,
        u16::from(seed) << 4,
        ChunkLimits::default(),
        bytes.len(),
    );
    let end = Ok(Some(length));
    let data = bytes.to_vec();
    assert_eq!(read, Outcome { data, end });
}
