//! What developers ask of a catalogue, and no request does.
//!
//! | module | owns |
//! |---|---|
//! | [`lint`] | what is wrong with a catalogue although it can be served |
//! | [`breaking`] | what clients of an older catalogue can no longer count on |
//! | [`relation`] | what two schemas say of each other |

#![forbid(unsafe_code)]

pub mod breaking;
pub mod lint;
mod places;
pub mod relation;
