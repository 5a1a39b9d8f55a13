//! Bytes to be written, in as many pieces as they come in: none is copied to join it to another.

use std::collections::VecDeque;
use std::io::IoSlice;

use bytes::{Buf, Bytes};

/// The body of an answer, or what is written of a stream at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    first: Bytes,
    second: Bytes,
    rest: VecDeque<Bytes>,
    remaining: usize,
}

impl Payload {
    /// Two pieces, such as the head of a list and a tail that is kept.
    #[must_use]
    pub fn pair(first: Bytes, second: Bytes) -> Self {
        let remaining = first.len().saturating_add(second.len());
        Self {
            first,
            second,
            rest: VecDeque::new(),
            remaining,
        }
    }

    /// Any number of pieces, which together have `bytes` bytes.
    pub(crate) fn many(mut pieces: VecDeque<Bytes>, bytes: usize) -> Self {
        let first = pieces.pop_front().unwrap_or_default();
        let second = pieces.pop_front().unwrap_or_default();
        Self {
            first,
            second,
            rest: pieces,
            remaining: bytes,
        }
    }

    /// The pieces, and how many bytes they are together.
    pub(crate) fn into_pieces(self) -> (VecDeque<Bytes>, usize) {
        let mut pieces = self.rest;
        for piece in [self.second, self.first] {
            if !piece.is_empty() {
                pieces.push_front(piece);
            }
        }
        (pieces, self.remaining)
    }

    /// Whether there is nothing to write.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        [&self.first, &self.second]
            .into_iter()
            .chain(&self.rest)
            .filter(|piece| !piece.is_empty())
    }
}

impl From<Bytes> for Payload {
    fn from(bytes: Bytes) -> Self {
        Self::pair(bytes, Bytes::new())
    }
}

impl From<Vec<u8>> for Payload {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(Bytes::from(bytes))
    }
}

impl From<&'static str> for Payload {
    fn from(text: &'static str) -> Self {
        Self::from(Bytes::from_static(text.as_bytes()))
    }
}

impl Buf for Payload {
    fn remaining(&self) -> usize {
        self.remaining
    }

    fn chunk(&self) -> &[u8] {
        self.pieces().next().map_or(&[], |piece| piece)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0_usize;
        for (slice, piece) in slices.iter_mut().zip(self.pieces()) {
            *slice = IoSlice::new(piece);
            filled = filled.saturating_add(1);
        }
        filled
    }

    fn advance(&mut self, count: usize) {
        let mut left = count.min(self.remaining);
        self.remaining = self.remaining.saturating_sub(left);
        while left > 0 || self.first.is_empty() {
            let step = left.min(self.first.len());
            self.first.advance(step);
            left = left.saturating_sub(step);
            if !self.first.is_empty() {
                continue;
            }
            let next = self.rest.pop_front().unwrap_or_default();
            self.first = std::mem::replace(&mut self.second, next);
            if self.first.is_empty() && self.second.is_empty() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn many(pieces: &[&'static str]) -> Payload {
        let pieces: VecDeque<Bytes> = pieces.iter().map(|piece| Bytes::from(*piece)).collect();
        let bytes = pieces.iter().map(Bytes::len).sum();
        Payload::many(pieces, bytes)
    }

    fn drain(mut payload: Payload, step: usize) -> Vec<u8> {
        let mut read = Vec::new();
        while payload.has_remaining() {
            let taken = step.min(payload.chunk().len());
            assert!(taken > 0, "a payload with bytes left shows some");
            read.extend(payload.chunk().iter().take(taken));
            payload.advance(taken);
        }
        read
    }

    #[test]
    fn every_byte_comes_out_once_in_order_whatever_is_taken_at_once() {
        for pieces in [
            vec![],
            vec!["a"],
            vec!["", "bc"],
            vec!["abc", "", "def", "", "", "g", "hij"],
        ] {
            let whole = pieces.concat().into_bytes();
            for step in 1..12 {
                assert_eq!(drain(many(&pieces), step), whole, "{pieces:?} by {step}");
            }
        }
    }

    #[test]
    fn advancing_over_several_pieces_lands_inside_one() {
        let mut payload = many(&["ab", "", "cd", "", "ef", "gh"]);
        payload.advance(5);
        assert_eq!((payload.remaining(), payload.chunk()), (3, &b"f"[..]));
        payload.advance(3);
        assert!(payload.is_empty());
        assert_eq!(payload.chunk(), b"");
    }

    #[test]
    fn pieces_are_written_together_without_the_empty_ones() {
        let payload = many(&["ab", "", "cd", "", "ef"]);
        let mut slices = [IoSlice::new(&[]); 8];
        assert_eq!(payload.chunks_vectored(&mut slices), 3);
        let written: Vec<&[u8]> = slices.iter().map(|slice| &**slice).take(3).collect();
        assert_eq!(written, [b"ab", b"cd", b"ef"]);
        let mut two = [IoSlice::new(&[]); 2];
        assert_eq!(payload.chunks_vectored(&mut two), 2);
    }
}
