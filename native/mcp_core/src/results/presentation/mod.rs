//! The texts of presentations: the same result for people, as Markdown, and for programs, as JSON.
//!
//! | module | owns |
//! |---|---|
//! | [`markers`] | the comments that say what a text holds: counted, and kept out of what users wrote |
//! | [`markdown`] | text of users as a cell, a line, a code block |

mod fence;

pub mod markdown;
pub mod markers;
