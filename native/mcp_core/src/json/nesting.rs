//! The open containers: one bit per level, so that the usual 128 levels need no heap memory.

/// An array or an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    Array,
    Object,
}

/// The open containers, innermost last.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    /// The innermost levels, the last one in the lowest bit; a set bit is an object.
    bits: u128,
    /// Full words of outer levels.
    outer: Vec<u128>,
    depth: usize,
}

impl Nesting {
    /// The number of open containers.
    pub(super) const fn depth(&self) -> usize {
        self.depth
    }

    /// The innermost open container.
    #[inline]
    pub(super) const fn innermost(&self) -> Option<Container> {
        if self.depth == 0 {
            None
        } else if self.bits & 1 == 1 {
            Some(Container::Object)
        } else {
            Some(Container::Array)
        }
    }

    /// Opens a container.
    #[inline]
    pub(super) fn push(&mut self, container: Container) {
        if self.depth.is_multiple_of(128) && self.depth > 0 {
            self.outer.push(self.bits);
        }
        self.bits = (self.bits << 1) | u128::from(container == Container::Object);
        self.depth = self.depth.saturating_add(1);
    }

    /// Closes the innermost container.
    #[inline]
    pub(super) fn pop(&mut self) {
        self.bits >>= 1;
        self.depth = self.depth.saturating_sub(1);
        if self.depth.is_multiple_of(128) && self.depth > 0 {
            self.bits = self.outer.pop().unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Container, Nesting};

    #[test]
    fn levels_come_back_in_reverse_beyond_one_word() {
        let kind = |level: usize| {
            if level.is_multiple_of(3) {
                Container::Object
            } else {
                Container::Array
            }
        };
        let mut nesting = Nesting::default();
        for level in 0..1000 {
            assert_eq!(nesting.depth(), level);
            nesting.push(kind(level));
        }
        for level in (0..1000).rev() {
            assert_eq!(nesting.innermost(), Some(kind(level)), "level {level}");
            nesting.pop();
        }
        assert_eq!(nesting.innermost(), None);
    }
}
