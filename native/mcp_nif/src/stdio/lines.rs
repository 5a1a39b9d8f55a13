//! Splits a byte stream into lines, and buffers the bytes that were not sent yet.

use std::ops::Range;

/// The most bytes in a batch, unless a single line is longer.
pub(super) const BATCH_BYTES: usize = 64 * 1024;
/// The most lines in a batch.
const BATCH_LINES: usize = 256;
/// The most bytes per read.
const READ_BYTES: usize = 64 * 1024;
/// The byte order mark of UTF-8, which some clients on Windows write before their first message.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The result of a search for lines.
pub(super) enum Next {
    /// Complete lines, as ranges of [`LineBuffer::bytes`], in order.
    Lines(Vec<Range<usize>>),
    /// The next line is over the limit. Its bytes are discarded as they arrive.
    TooLong,
    /// No complete line: read more.
    Incomplete,
}

/// The bytes between the descriptor and the process that owns the descriptors.
#[derive(Default)]
pub(super) struct LineBuffer {
    bytes: Vec<u8>,
    /// The position of the first byte that was not sent yet.
    start: usize,
    /// No line end lies before this position.
    searched: usize,
    /// Whether the line at `start` is being discarded.
    discarding: bool,
    /// Whether the stream's first bytes were seen.
    begun: bool,
}

impl LineBuffer {
    /// Inserts bytes that other code read from stdin before.
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

    /// The number of bytes that were not sent yet.
    pub(super) fn pending(&self) -> usize {
        self.bytes.len().saturating_sub(self.start)
    }

    /// The buffer to read into: at least [`READ_BYTES`] of room after an incomplete line.
    pub(super) fn room(&mut self) -> &mut Vec<u8> {
        self.bytes.drain(..self.start);
        self.searched = self.searched.saturating_sub(self.start);
        self.start = 0;
        // Frees the memory of a long line.
        if self.bytes.len() < READ_BYTES {
            self.bytes.shrink_to(READ_BYTES.saturating_mul(2));
        }
        self.bytes.reserve(READ_BYTES);
        &mut self.bytes
    }

    /// Takes the next batch. Its ranges are valid until [`LineBuffer::room`] is called.
    pub(super) fn next(&mut self, max_line: usize) -> Next {
        self.begin();
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
                lines.extend(self.message(line));
            }
            self.skip_past(end);
        }
        if lines.is_empty() {
            self.incomplete(max_line)
        } else {
            Next::Lines(lines)
        }
    }

    /// Ends the last line of the stream, if it has no line end. Returns whether there is one.
    pub(super) fn end_last_line(&mut self) -> bool {
        let cut = self.pending() > 0;
        if cut {
            self.bytes.push(b'\n');
        }
        cut
    }

    /// Skips a byte order mark at the beginning of the stream.
    fn begin(&mut self) {
        let sent = self.bytes.get(self.start..).unwrap_or_default();
        if self.begun || (BYTE_ORDER_MARK.starts_with(sent) && sent != BYTE_ORDER_MARK) {
            return;
        }
        self.begun = true;
        if sent.starts_with(BYTE_ORDER_MARK) {
            self.start = self.start.saturating_add(BYTE_ORDER_MARK.len());
            self.searched = self.start;
        }
    }

    fn skip_past(&mut self, end: usize) {
        self.start = end.saturating_add(1);
        self.searched = self.start;
    }

    /// The position of the next LF.
    fn line_end(&mut self) -> Option<usize> {
        let unsearched = self.bytes.get(self.searched..)?;
        let end =
            memchr::memchr(b'\n', unsearched).map(|offset| self.searched.saturating_add(offset));
        if end.is_none() {
            self.searched = self.bytes.len();
        }
        end
    }

    /// The line without the CR before its LF; nothing for a line of white space.
    fn message(&self, line: Range<usize>) -> Option<Range<usize>> {
        let text = self.bytes.get(line.clone()).unwrap_or_default();
        let is_blank = text.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        (!is_blank).then(|| line.start..line.start.saturating_add(self.length(&line)))
    }

    /// The length of a line without a CR at its end.
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
