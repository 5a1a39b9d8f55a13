//! The shapes of results: the bytes of them.
//!
//! | module | owns |
//! |---|---|
//! | [`dual`] | the REST endpoints of results that are kept whole and shown in part |
//! | [`presentation`] | texts of results for people: what users wrote as Markdown, and the markers in it |

pub mod dual;
pub mod presentation;
