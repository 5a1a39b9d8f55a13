//! Completion: suggestions for a prompt's argument or a template's variable.

object! {
    /// Suggestions. The protocol allows at most [`Completion::MAX_VALUES`].
    #[derive(Default)]
    Completion / COMPLETION = "Completion" {
        /// The suggestions, best first.
        values: Vec<String> => "values",
        /// How many there are in all.
        total: Option<u64> => "total",
        /// Whether there are more than these.
        has_more: Option<bool> => "hasMore",
    }
}

impl Completion {
    /// The most suggestions one answer may hold.
    pub const MAX_VALUES: usize = 100;
}
