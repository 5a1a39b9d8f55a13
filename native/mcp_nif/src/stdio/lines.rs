//! Lines out of a byte stream: what was read and not yet handed on.

use std::ops::Range;

/// Bytes one batch may hold, unless a single line is longer.
pub(super) const BATCH_BYTES: usize = 64 * 1024;
/// Lines one batch may hold.
const BATCH_LINES: usize = 256;
/// What is read at once.
const READ_BYTES: usize = 64 * 1024;

/// What the bytes at hand amount to.
pub(super) enum Next {
    /// Whole lines, as ranges of [`LineBuffer::bytes`], in order.
    Lines(Vec<Range<usize>>),
    /// A line over the limit begins here. It is thrown away as it comes.
    TooLong,
    /// No whole line: read on.
    Incomplete,
}

/// The bytes between the descriptor and the process that owns the descriptors.
#[derive(Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// Where the first byte not yet handed on is.
    start: usize,
    /// Up to where no line end was found.
    searched: usize,
    /// Whether the line at `start` is being thrown away.
    discarding: bool,
}

impl LineBuffer {
    /// Bytes somebody else had read before us.
    pub(super) fn prepend(&mut self, bytes: &[u8]) {
        let rest = self.bytes.get(self.start..).unwrap_or_default();
        self.bytes = [bytes, rest].concat();
        self.start = 0;
        self.searched = 0;
    }

    /// The bytes that the ranges of [`Next::Lines`] are of.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes have not been handed on.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// Where to read into: at least [`READ_BYTES`] of room, behind an unfinished line.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        // One long line must not pin its size for ever.
        if self.bytes.len() < READ_BYTES {
            self.bytes.shrink_to(READ_BYTES.saturating_mul(2));
        }
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }

    /// Takes the next batch. Its ranges hold until [`LineBuffer::room`] is called.
    pub(super) fn next(&mut self, max_line: usize) -> Next {
        let mut lines = Vec::new();
        let first = self.start;
        while lines.len() < BATCH_LINES && self.start.saturating_sub(first) < BATCH_BYTES {
            let Some(end) = self.line_end() else { break };
            let line = self.start..end;
            if self.discarding {
                self.discarding = false;
            } else if self.length(&line) > max_line {
                if !lines.is_empty() {
                    break;
                }
                self.skip_past(end);
                return Next::TooLong;
            } else {
                lines.extend(self.without_line_end(line));
            }
            self.skip_past(end);
        }
        if lines.is_empty() {
            self.incomplete(max_line)
        } else {
            Next::Lines(lines)
        }
    }

    fn skip_past(&mut self, end: usize) {
        self.start = end.saturating_add(1);
        self.searched = self.start;
    }

    /// The place of the next LF.
    fn line_end(&mut self) -> Option<usize> {
        let unsearched = self.bytes.get(self.searched..)?;
        let end =
            memchr::memchr(b'\n', unsearched).map(|offset| self.searched.saturating_add(offset));
        if end.is_none() {
            self.searched = self.bytes.len();
        }
        end
    }

    /// The line without the CR before its LF; nothing for an empty line.
    fn without_line_end(&self, line: Range<usize>) -> Option<Range<usize>> {
        let length = self.length(&line);
        (length > 0).then(|| line.start..line.start.saturating_add(length))
    }

    /// The bytes of a line, a CR at its end not counted.
    fn length(&self, line: &Range<usize>) -> usize {
        let text = self.bytes.get(line.clone()).unwrap_or_default();
        text.strip_suffix(b"\r").unwrap_or(text).len()
    }

    fn incomplete(&mut self, max_line: usize) -> Next {
        let over = self.length(&(self.start..self.bytes.len())) > max_line;
        if self.discarding || over {
            self.start = self.bytes.len();
        }
        if over && !self.discarding {
            self.discarding = true;
            return Next::TooLong;
        }
        Next::Incomplete
    }
}
