//! The response envelope, sent as structured content.

use serde_json::{Map, Value};

use super::shape::Presence::Always;

object! {
    /// A response in the form `response-v2`. The keys of `data` and `meta` are unchanged.
    Envelope / ENVELOPE = "Envelope" {
        /// Whether the call succeeded.
        success: bool => "success",
        /// The result; for a failed call, details of the error.
        data: Map<String, Value> => "data",
        /// The error text.
        error: Option<String> => "error" = Always("null"),
        /// Data about the response.
        meta: Map<String, Value> => "meta",
    }
}
