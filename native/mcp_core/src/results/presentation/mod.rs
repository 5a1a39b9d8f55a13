//! Presentations: the same result for people, as Markdown, and for programs, as JSON of a declared kind.
//!
//! | module | owns |
//! |---|---|
//! | [`mod@format`] | which of the two a caller wants |
//! | [`kind`] | the discriminators, and what is not one of those declared |
//! | [`markers`] | the comments that say what a text holds: written, counted, kept out of what users wrote |
//! | [`markdown`] | text of users as a cell, a line, a code block |
//! | [`search`] | when a search has to ask back, and what of its matches is shown |
//! | [`needs_input`] | asking back, as data |
//! | [`tool_error`] | failures: their codes, and whether to try again |
//! | [`provenance`] | where a result is from, without saying where on this machine |
//! | [`summary`] | a long text made short |
//! | [`extraction`] | finding the data in a result, where a client kept only texts |

mod fence;

pub mod extraction;
pub mod format;
pub mod kind;
pub mod markdown;
pub mod markers;
pub mod needs_input;
pub mod provenance;
pub mod search;
pub mod summary;
pub mod tool_error;

/// The most bytes of text a result may have, unless the server says otherwise.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
