//! Checks of catalogues for developers, unused by requests.
//!
//! | module | owns |
//! |---|---|
//! | [`lint`] | declarations of a valid catalogue that cause problems |
//! | [`breaking`] | changes that break clients of an older catalogue |
//! | [`relation`] | whether a schema has values, and whether it contains another schema |

#![forbid(unsafe_code)]

pub mod breaking;
pub mod lint;
mod places;
pub mod relation;
