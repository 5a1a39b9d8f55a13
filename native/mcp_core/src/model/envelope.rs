//! The response envelope, which travels as structured content.

use serde_json::{Map, Value};

use super::shape::Presence::Always;

object! {
    /// An answer in the form `response-v2`. Of the keys of `data` and `meta` none is changed.
    Envelope / ENVELOPE = "Envelope" {
        /// Whether the call did what it was asked for.
        success: bool => "success",
        /// What came of it; of a failed call, more about the error.
        data: Map<String, Value> => "data",
        /// What went wrong, in words.
        error: Option<String> => "error" = Always("null"),
        /// About the answer itself.
        meta: Map<String, Value> => "meta",
    }
}
