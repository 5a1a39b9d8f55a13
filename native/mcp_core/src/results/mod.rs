//! The shapes that results are given.
//!
//! | module | owns |
//! |---|---|
//! | [`dual`] | the REST endpoints of results that are kept whole and shown in part |

pub mod dual;
