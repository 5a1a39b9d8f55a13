//! A batch of lines for their owner.

use std::ops::Range;

use rustler::{Encoder, Env, OwnedBinary, Term};

/// One binary for all lines; each line becomes a view of it.
pub(super) struct Batch {
    chunk: OwnedBinary,
    /// The position of the chunk in the buffer that the lines are ranges of.
    start: usize,
    lines: Vec<Range<usize>>,
}

impl Batch {
    /// Copies the lines out of `bytes`.
    pub(super) fn copy(bytes: &[u8], lines: Vec<Range<usize>>) -> Self {
        let start = lines.first().map_or(0, |line| line.start);
        let end = lines.last().map_or(0, |line| line.end);
        Self {
            chunk: OwnedBinary::from_slice(bytes.get(start..end).unwrap_or_default()),
            start,
            lines,
        }
    }

    /// A list of binaries.
    pub(super) fn into_term(self, env: Env<'_>) -> Term<'_> {
        let chunk = self.chunk.release(env);
        let lines: Vec<Term<'_>> = self
            .lines
            .iter()
            .filter_map(|line| {
                let offset = line.start.checked_sub(self.start)?;
                chunk.make_subbinary(offset, line.len()).ok()
            })
            .map(|line| line.to_term(env))
            .collect();
        lines.encode(env)
    }
}
