//! The shapes of results: tables, and what a value of each shape has to be.
//!
//! | module | owns |
//! |---|---|
//! | [`dual`] | the REST endpoints of results that are kept whole and shown in part |
//! | [`envelope`] | the response envelope: codes, types, warnings, and the check of a whole envelope |
//! | [`presentation`] | results for people and for programs: formats, kinds, markers, asking back, failures |

pub mod dual;
pub mod envelope;
pub mod presentation;
