//! Code blocks between fences, line by line, as `CommonMark` reads them.

/// Which lines are code: fed with one line after another.
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
    /// Whether the line is code, or the fence of code.
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

    /// The line that ends what is still open.
    pub(super) fn missing_end(self) -> Option<String> {
        self.open
            .map(|fence| String::from(fence.mark).repeat(fence.length))
    }
}

impl Fence {
    fn opened_by(line: &str) -> Option<Self> {
        let (fence, info) = Self::at(line)?;
        // Two backticks and more in one line are a code span.
        (fence.length >= 3 && (fence.mark != '`' || !info.contains('`'))).then_some(fence)
    }

    fn is_closed_by(self, line: &str) -> bool {
        Self::at(line).is_some_and(|(fence, rest)| {
            fence.mark == self.mark && fence.length >= self.length && rest.trim().is_empty()
        })
    }

    /// The run of fence characters that begins the line, and what is behind it.
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

/// The line without its indentation; `None` where that makes it code.
pub(super) fn outdented(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(' ');
    (line.len().saturating_sub(text.len()) <= 3).then_some(text)
}
