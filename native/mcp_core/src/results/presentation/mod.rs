//! The texts of presentations: one result as Markdown for people and as JSON for programs.
//!
//! | module | owns |
//! |---|---|
//! | [`markers`] | comments that name the parts of a text: counting and escaping |
//! | [`markdown`] | users' text as a cell, a line, a code block |

mod fence;

pub mod markdown;
pub mod markers;
