//! The bytes of results.
//!
//! | module | owns |
//! |---|---|
//! | [`dual`] | the REST endpoints for results that are stored completely and shown in part |
//! | [`presentation`] | texts of results for people: users' text as Markdown, and markers |

pub mod dual;
pub mod presentation;
