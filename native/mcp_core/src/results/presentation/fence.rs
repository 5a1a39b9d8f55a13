//! Fenced code blocks, line by line, as in `CommonMark`.

/// Recognises the lines that are code; it takes the lines of a text in order.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fences {
    open: Option<Fence>,
}

#[derive(Clone, Copy, Debug)]
struct Fence {
    mark: char,
    length: usize,
}

impl Fences {
    /// Whether the line is code or a fence.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        if let Some(fence) = self.open {
            if fence.is_closed_by(line) {
                self.open = None;
            }
            return true;
        }
        self.open = Fence::opened_by(line);
        self.open.is_some()
    }

    /// The closing fence of an open code block.
    pub(super) fn missing_end(self) -> Option<String> {
        self.open
            .map(|fence| String::from(fence.mark).repeat(fence.length))
    }
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (fence, info) = Self::at(line)?;
        // Backticks with further backticks in the same line are a code span.
        (fence.length >= 3 && (fence.mark != '`' || !info.contains('`'))).then_some(fence)
    }

    fn is_closed_by(self, line: &str) -> bool {
        Self::at(line).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.length >= self.length && rest.trim().is_empty()
        })
    }

    /// The fence at the start of the line, and the text after it.
    fn at(line: &str) -> Option<(Self, &str)> {
        let text = outdented(line)?;
        let mark = text
            .chars()
            .next()
            .filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = text.trim_start_matches(mark);
        let length = text.len().saturating_sub(rest.len());
        Some((Self { mark, length }, rest))
    }
}

/// The line without its indentation; `None` if the indentation makes the line code.
pub(super) fn outdented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len().saturating_sub(text.len()) <= 3).then_some(text)
}
