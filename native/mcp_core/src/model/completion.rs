//! Completion: suggestions for a prompt's argument or a template's variable.

object! {
    /// Suggestions. The protocol allows at most [`Completion::MAX_VALUES`].
    #[derive(Default)]
    Completion / COMPLETION = "Completion" {
        /// The suggestions, best first.
        values: Vec<String> => "values",
        /// The total number of suggestions.
        total: Option<u64> => "total",
        /// Whether there are more suggestions.
        has_more: Option<bool> => "hasMore",
    }
}

impl Completion {
    /// The largest number of suggestions in a response.
    pub const MAX_VALUES: usize = 100;
}
